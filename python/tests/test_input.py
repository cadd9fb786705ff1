"""What is read, what is refused, and how it is told."""

from __future__ import annotations

import datetime
import decimal
import inspect
import pathlib
import warnings
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from conftest import rows_of

import deltamatch

EDGE = "(a)-->(b)"
NAMED = "(a)-[t]->(b)"


def refused(frame: Any, **options: Any) -> deltamatch.RecordError:
    with pytest.raises(deltamatch.RecordError) as caught:
        deltamatch.replay(frame, EDGE, **options)
    return caught.value


def wrong(frame: Any, patterns: Any = EDGE, **options: Any) -> deltamatch.ConfigurationError:
    with pytest.raises(deltamatch.ConfigurationError) as caught:
        deltamatch.replay(frame, patterns, **options)
    return caught.value


def test_floats_that_are_whole_numbers_are_integers() -> None:
    matches = deltamatch.replay(pd.DataFrame({"source": [12.0, 3.0], "target": [1.0, 2.0]}), EDGE)
    assert {tuple(row.values()) for row in matches["bindings"]} == {(12, 1), (3, 2)}
    assert all(isinstance(vertex, int) for row in matches["bindings"] for vertex in row.values())


def test_an_array_of_floats_is_read_like_columns_of_floats() -> None:
    pairs = np.array([[12, 1], [3, 2]], dtype=float)  # as numpy.loadtxt gives it
    assert {tuple(row["bindings"].values()) for row in deltamatch.replay(pairs, EDGE).to_pylist()} == {(12, 1), (3, 2)}
    assert refused(pairs + 0.5).row == 0
    assert "an array of two columns of numbers" in wrong(pairs.astype(str)).remedy


@pytest.mark.parametrize("bad", [12.5, float("nan"), float("inf"), 2.0**60])
def test_other_floats_are_refused_with_row_and_column(bad: float) -> None:
    error = refused(pd.DataFrame({"payer": [1.0, bad], "target": [5, 2]}), source="payer")
    assert error.row == 1 and error.reason == "bad_id" and error.where == "frame, row 1"
    assert "payer" in error.what
    assert "on_error='skip'" in error.remedy
    assert len(error.matches) == 1


def test_amounts_that_are_floats_must_be_declared() -> None:
    frame = pd.DataFrame({"source": [1, 2], "target": [2, 3], "amount": [0.1, 12.34]})
    error = wrong(frame, NAMED + " WHERE t.amount > 1", edges="events")
    assert "attributes={'amount': 'decimal(2)'}" in error.remedy
    matches = deltamatch.replay(frame, NAMED + " WHERE t.amount > 1", edges="events", attributes={"amount": "decimal(2)"})
    assert matches["edges"][0][0]["attributes"] == {"amount": decimal.Decimal("12.34")}
    error = refused(frame.assign(amount=[0.1, 12.345]), edges="events", attributes="amount:decimal(2)")
    assert "more than 2 digits after the point" in error.what


@pytest.mark.parametrize(
    ("values", "type_"),
    [
        (pa.array([1, None], pa.int32()), "int"),
        (pa.array([decimal.Decimal("1.50"), None], pa.decimal128(10, 2)), "decimal(2)"),
        (pa.array([True, None]), "bool"),
        (pa.array(["card", None]), "symbol"),
        (pa.array(["card", None]).dictionary_encode(), "symbol"),
        (pa.array(["card of a length beyond twelve", None], pa.string_view()), "symbol"),
        (pa.array(["card", None], pa.large_string()), "symbol"),
        (pa.array([datetime.datetime(2024, 1, 1), None], pa.timestamp("ns", "Asia/Tokyo")), "time"),
        (pa.array([datetime.date(2024, 1, 1), None]), "time"),
    ],
)
def test_types_of_attributes_follow_from_columns(values: pa.Array, type_: str, tmp_path: pathlib.Path) -> None:
    frame = pa.table({"source": [1, 2], "target": [2, 3], "it": values})
    engine = deltamatch.Engine(edges="events", attributes=["it"])
    engine.register(EDGE)
    engine.process(frame)
    assert engine._engine().options["attributes"] == [("it", type_)]
    rows = rows_of(engine.match(EDGE))
    got = {row["edges"][0]["source"]: row["edges"][0]["attributes"]["it"] for row in rows}
    expected = values.to_pylist()[0]
    if type_ == "time":
        expected = pd.Timestamp(expected).tz_localize("UTC") if pd.Timestamp(expected).tz is None else pd.Timestamp(expected).tz_convert("UTC")
    assert got[1] == expected and got[2] is None


def test_objects_of_python_are_read() -> None:
    frame = pd.DataFrame(
        {
            "source": pd.Series([1, "x", np.int64(3), 4.0], dtype=object),
            "target": [9, 9, 9, 9],
            "at": pd.Series([datetime.datetime(2024, 1, 1, tzinfo=datetime.timezone.utc), pd.NaT, None, "2024-01-02"], dtype=object),
            "amount": pd.Series([decimal.Decimal("1.5"), decimal.Decimal("-0.25"), None, 7], dtype=object),
        }
    )
    matches = deltamatch.replay(frame, EDGE, time="at", edges="events", attributes={"amount": "decimal(2)"})
    edges = {row["edges"][0]["source"]: row["edges"][0] for row in matches.to_dict("records")}
    assert set(edges) == {"1", "x", "3", "4"}
    assert [edges[key]["attributes"]["amount"] for key in "1x34"] == [decimal.Decimal("1.50"), decimal.Decimal("-0.25"), None, decimal.Decimal("7.00")]
    assert edges["1"]["time"] == 1_704_067_200_000_000 and edges["x"]["time"] is None and edges["4"]["time"] == 1_704_153_600_000_000


COLUMNS_OF_OBJECTS = {
    "list": list,
    "array": lambda values: np.array(values, dtype=object),
    "front": lambda values: np.array([*values, 7], dtype=object)[:-1],
    "gaps": lambda values: np.array([item for value in values for item in (value, 7)], dtype=object)[::2],
}


@pytest.mark.parametrize("make", COLUMNS_OF_OBJECTS.values(), ids=COLUMNS_OF_OBJECTS)
def test_objects_that_are_texts_are_read_as_texts(make: Any) -> None:
    far = "é" * 40
    frame = {"source": make(["a", "b", "ß→", "😀", far]), "target": make(["z"] * 5), "label": make(["x", None, float("nan"), "y", "x"])}
    rows = deltamatch.replay(frame, EDGE, edges="events").to_pylist()
    assert {row["bindings"]["a"]: row["edges"][0]["label"] for row in rows} == {"a": "x", "b": "", "ß→": "", "😀": "y", far: "x"}


def test_a_text_that_is_no_unicode_is_refused_by_itself() -> None:
    frame = {"source": ["a", "\ud800", "c"], "target": ["b", "b", "b"]}
    with pytest.raises(deltamatch.RecordError, match="row 1: .*str that cannot be read .*surrogates not allowed"):
        deltamatch.replay(frame, EDGE)
    with pytest.warns(deltamatch.InputWarning):
        edges = deltamatch.replay(frame, EDGE, on_error="skip")
    assert {row["bindings"]["a"] for row in edges.to_pylist()} == {"a", "c"}


def test_columns_of_objects_may_be_empty_or_all_missing() -> None:
    frame = pd.DataFrame({"source": [1], "target": [2], "x": pd.Series([None], dtype=object)})
    with pytest.raises(deltamatch.ConfigurationError, match="the column `x` is empty, or holds values of several types"):
        deltamatch.replay(frame, EDGE, edges="events", attributes=["x"])
    assert len(deltamatch.replay(frame[:0].astype(object), EDGE)) == 0


def test_columns_that_lie_apart_are_read_as_they_are() -> None:
    grid = np.arange(20).reshape(5, 4)
    frame = pd.DataFrame(grid, columns=["source", "x", "target", "y"])
    assert {(row["a"], row["b"]) for row in deltamatch.replay(frame[::2], EDGE)["bindings"]} == {(0, 2), (8, 10), (16, 18)}
    big = {"source": np.array([1, 2], dtype=">i4"), "target": np.array([3, 4], dtype="u8")}
    assert len(deltamatch.replay(big, EDGE)) == 2


def test_slices_of_arrow_tables_are_read_from_their_offset() -> None:
    table = pa.table({"source": ["a", None, "c", "d"], "target": [1, 2, 3, 4], "op": ["+", "+", "-", "+"]})
    matches = deltamatch.replay(table.slice(2), EDGE)
    assert [row["bindings"] for row in matches.to_pylist()] == [{"a": "d", "b": "4"}]


@pytest.mark.parametrize(
    ("frame", "options", "text"),
    [
        ({"payer": [1], "payee": [2]}, {}, "no column says the sources of edges; the columns are `payer`, `payee`; name it: source='NAME'"),
        ({"source": [1], "src": [1], "target": [2]}, {}, "the columns `source` and `src` may both be the source"),
        ({"source": [1], "target": [2]}, {"source": "payr"}, "there is no column `payr`; the columns are `source`, `target`"),
        ({"source": [1], "target": [2]}, {"window": "soon"}, "window: 'soon' is not a duration"),
        ({"source": [1], "target": [2]}, {"mode": "fuzzy"}, "mode: 'fuzzy' is not a choice; choose one of 'isomorphism'"),
        ({"source": [1], "target": [2]}, {"edges": "simple", "attributes": "amount:int"}, "edges of the model simple have no attributes"),
        ({"source": [1], "target": [2]}, {"edges": "keyed"}, "no column says the keys of edges"),
        ({"source": [1], "target": [2]}, {"order": "time"}, "order by time needs a window"),
        ({"source": [1], "target": [2]}, {"allowed_lateness": "1h"}, "no pattern heeds how late records may come"),
        ({"source": [1], "target": [2]}, {"batch": 0}, "batch: 0 is not possible; give a whole number from 1 to"),
        ({"source": [1, 2], "target": [2]}, {}, "the column target has 1 rows, and the one before it 2"),
        ({"source": [1], "target": [2]}, {"threads": -1}, "threads: -1 is not possible"),
        ({"source": [1], "target": [2]}, {"source": 0}, "source: 0 is no text"),
        ({"source": [1], "target": [2]}, {"self_loops": True}, "self_loops: True is not a choice; choose one of 'leave-out', 'keep'"),
        ({"source": [1], "target": [2]}, {"directed": "no"}, "directed: 'no' is no bool"),
        ({"source": [1], "target": [2]}, {"max_matches": 0}, "max_matches: 0 is not possible"),
        ([(1, 2)], {}, "frame: is no table, but a list"),
        (pl.LazyFrame({"source": [1]}), {}, "give frame.collect()"),
        (pa.table({"source": [1], "target": [2], "key": [1]}), {"key": "key"}, "the edges of this graph have no keys"),
    ],
)
def test_wrong_arguments_say_what_to_give(frame: Any, options: dict[str, Any], text: str) -> None:
    assert text in str(wrong(frame, **options))


def test_an_unknown_argument_is_a_type_error() -> None:
    with pytest.raises(TypeError, match="unexpected keyword argument 'windows'"):
        deltamatch.replay({"source": [1], "target": [2]}, EDGE, windows="1h")  # type: ignore[call-arg]


def test_an_unknown_argument_is_told_by_the_function_that_was_called() -> None:
    frame = {"source": [1], "target": [2]}
    engine = deltamatch.Engine()
    calls = {
        r"replay\(\) .* 'windows'. Did you mean 'window'\?": lambda: deltamatch.replay(frame, EDGE, windows="1h"),  # type: ignore[call-arg]
        r"stream\(\) .* 'patern'": lambda: deltamatch.stream(frame, EDGE, patern="1h"),  # type: ignore[call-arg]
        r"count\(\) .* 'moed'. Did you mean 'mode'\?": lambda: engine.count(EDGE, moed="x"),  # type: ignore[call-arg]
        r"register\(\) .* 'source'": lambda: engine.register(EDGE, source="x"),  # type: ignore[call-arg]
        r"Engine\(\) .* 'edge'. Did you mean 'edges'\?": lambda: deltamatch.Engine(edge="keyed"),  # type: ignore[call-arg]
    }
    for text, call in calls.items():
        with pytest.raises(TypeError, match=text):
            call()


def test_signatures_and_help_list_all_options() -> None:
    for function in (deltamatch.replay, deltamatch.stream, deltamatch.match, deltamatch.count, deltamatch.motifs, deltamatch.cliques, deltamatch.Engine):
        parameters = inspect.signature(function).parameters
        assert parameters["edges"].default == "simple" and parameters["window"].kind is inspect.Parameter.KEYWORD_ONLY
        assert "options" not in parameters
    assert "    window: how long edges live, such as '24h'." in str(inspect.getdoc(deltamatch.replay))
    assert list(inspect.signature(deltamatch.Engine.count).parameters) == ["self", "patterns", "timeout", "mode", "count", "induced"]
    assert "threads" in inspect.signature(deltamatch.Engine.restore).parameters


def test_remedies_are_arguments() -> None:
    frame = {"source": [1], "target": [2], "amount": [3]}
    error = wrong(frame, NAMED + " WHERE t.amount > 1")
    assert error.remedy.endswith("choose edges='keyed' or edges='events'")
    error = wrong(frame, "(a)-->(a)")
    assert error.remedy == "keep them: self_loops='keep'"


def test_missing_ends_are_told_before_missing_types() -> None:
    for options in ({}, {"attributes": ["amount"]}, {"attributes": ["sum"]}):
        error = wrong({"payer": [1], "payee": [2], "amount": [0.5]}, NAMED + " WHERE t.amount > 1", edges="events", **options)
        assert "no column says the sources of edges" in error.what
    error = wrong({"source": [1], "target": [2]}, edges="events", attributes=["sum"])
    assert error.what == "there is no column `sum`; the columns are `source`, `target`"
    assert error.remedy == "name the column of the attribute: attributes={'sum': 'decimal(2)=COLUMN'}, or leave the attribute out"
    error = wrong({"source": [1], "target": [2], "it": pa.array([[1]])}, edges="events", attributes=["it"])
    assert error.what == "the column `it` is a list of int64, which no attribute can be"
    assert "frame: has no columns" in str(wrong({})) and "frame: has no columns" in str(wrong(pd.DataFrame()))


def test_attributes_that_are_none_are_refused() -> None:
    for nothing in ([None], 5, {3: "int"}, {"a": 3}, [""]):
        assert "declares no attribute" in str(wrong({"source": [1], "target": [2]}, edges="events", attributes=nothing))


def test_a_pattern_that_cannot_be_read_points_at_its_place() -> None:
    with pytest.raises(deltamatch.QueryError) as caught:
        deltamatch.replay({"source": [1], "target": [2]}, {"ring": "(a)-[:X]->(b"})
    error = caught.value
    assert (error.query, error.line, error.column) == ("ring", 1, 13)
    assert str(error).startswith("pattern ring:1:13: expected ')', but the text ends; ")
    assert error.what == "expected ')', but the text ends"
    assert str(error).splitlines()[2].strip() == "^"


def test_a_pattern_that_does_not_fit_the_graph_is_refused() -> None:
    with pytest.raises(deltamatch.QueryError) as caught:
        deltamatch.replay({"source": [1], "target": [2]}, {"ring": "(a)-->(b)"}, directed=False)
    assert caught.value.query == "ring"
    with pytest.raises(deltamatch.QueryError, match="amount"):
        deltamatch.replay({"source": [1], "target": [2]}, NAMED + " WHERE t.amount > 1", edges="events")


def test_patterns_come_from_texts_files_and_folders(tmp_path: pathlib.Path) -> None:
    (tmp_path / "one.pattern").write_text("// a comment\n(a)-->(b)\n")
    (tmp_path / "two.q").write_text("t 2 1\nv 0 *\nv 1 *\ne 0 1\n")
    (tmp_path / "notes.txt").write_text("nothing")
    frame = {"source": [1], "target": [2]}
    assert deltamatch.count(frame, tmp_path) == {"one": 1, "two": 1}
    assert deltamatch.count(frame, str(tmp_path / "one.pattern")) == {"one": 1}
    assert deltamatch.count(frame, ["(a)-->(b)", "x=(a)-->(b)", "(a)-->(b)-->(c)"]) == {"pattern": 1, "x": 1, "pattern2": 0}
    (tmp_path / "forgotten.txt").write_text("(a)-->(b)\n")
    assert "looks like a query" in str(wrong(frame, tmp_path))
    assert "no such file" in str(wrong(frame, "nothing.pattern"))
    for nothing in (None, 3, {"a": 3}, [3], [], "", {3: "(a)-->(b)"}):
        assert isinstance(wrong(frame, nothing), deltamatch.ConfigurationError)
    assert "belongs to two patterns" in str(wrong(frame, ["a=(x)-->(y)", "a=(x)-->(y)"]))


def test_doubtful_tables_are_warned_of() -> None:
    frame = pd.DataFrame({"source": [1, 2, 3], "target": [2, 3, 4], "is_deleted": [False, True, False]})
    with pytest.warns(deltamatch.InputWarning, match="is_deleted"):
        deltamatch.replay(frame, EDGE)
    with pytest.warns(deltamatch.InputWarning, match="no edge has a time"):
        deltamatch.replay({"source": [1, 2, 3], "target": [2, 3, 4]}, NAMED + " WHERE t.time > datetime('2020-01-01')", edges="events")
    error = refused({"source": [1], "target": [2]}, edges="events", within="1h")
    assert error.reason == "missing_time" and "name it in time" in error.remedy


PAIR = "(a)-[t]->(b)-[u]->(c) WHERE t.time < u.time WITHIN 24h"
SHUFFLED = {"source": [2, 1, 3], "target": [3, 2, 4], "time": ["2024-01-01T05:00:00Z", "2024-01-01T02:00:00Z", "2024-01-01T20:00:00Z"]}


def warned(call: Any) -> list[str]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call()
    return [str(warning.message) for warning in caught]


@pytest.mark.parametrize("run", [deltamatch.replay, lambda *given, **more: list(deltamatch.stream(*given, **more))], ids=["replay", "stream"])
def test_rows_that_are_not_in_order_of_time_are_warned_of(run: Any) -> None:
    (text,) = warned(lambda: run(SHUFFLED, PAIR, edges="events"))
    assert text.startswith("frame, row 1: the record is older than one before it") and "of the query pattern may be missing" in text
    assert "frame.sort_values('time')" in text and text.endswith("allowed_lateness='3h' is enough")
    assert warned(lambda: run(SHUFFLED, PAIR, edges="events", allowed_lateness="3h")) == []
    assert warned(lambda: run(SHUFFLED, EDGE, edges="events")) == []
    in_order = pd.DataFrame(SHUFFLED).sort_values("time")
    assert warned(lambda: run(in_order, PAIR, edges="events")) == []


def test_rows_that_are_not_in_order_of_time_are_warned_of_under_a_window() -> None:
    (text,) = warned(lambda: deltamatch.replay(SHUFFLED, "(a)-->(b)-->(c)", edges="events", window="24h"))
    assert "frame.sort_values('time')" in text and "allowed_lateness" not in text
    reverse = {name: values[::-1] for name, values in SHUFFLED.items()}
    (order, late) = warned(lambda: deltamatch.replay(reverse, "(a)-->(b)-->(c)", edges="events", window="1h"))
    assert "sort_values" in order and "sort the rows by time first, check times and their unit, or use a longer window" in late
    (only,) = warned(lambda: deltamatch.replay(reverse, PAIR, edges="events", within=None))
    assert "sort_values" in only and "window" not in only


def test_rows_of_a_batch_that_are_older_than_the_batch_before_are_warned_of() -> None:
    frame = pd.DataFrame(SHUFFLED)
    with deltamatch.Engine(edges="events") as engine:
        engine.register(PAIR)
        assert warned(lambda: engine.process(frame[:1])) == []
        (text,) = warned(lambda: engine.process(frame[1:2]))
        assert text.startswith("frame, row 0: the record is older") and engine.report.warnings == [text]
        assert engine.report.out_of_order == 1


def test_labels_that_no_row_has_are_warned_of() -> None:
    plain = {"source": [1, 2], "target": [2, 3]}
    none = "pattern pattern: no edge has the label 'TRANSFER', nor any other; leave `:TRANSFER` out of the pattern, or name the column that holds labels: label='NAME'"
    other = "pattern pattern: no edge has the label 'TRANSFER'; did you mean 'Transfer'?"
    pattern = "(a)-[:TRANSFER]->(b)"
    for run in (deltamatch.replay, deltamatch.match, deltamatch.count):
        assert warned(lambda: run(plain, pattern)) == [none]
        assert warned(lambda: run({**plain, "label": ["Transfer"] * 2}, pattern)) == [other]
        assert warned(lambda: run({**plain, "label": ["TRANSFER", "x"]}, pattern)) == []
        (text,) = warned(lambda: run(plain, "(a:Account)-->(b)"))
        assert text.endswith("name the column that holds labels: source_label='NAME', target_label='NAME'")


def test_a_batch_may_lack_a_label_if_it_has_others() -> None:
    plain = {"source": [1, 2], "target": [2, 3]}
    with deltamatch.Engine() as engine:
        engine.register("(a)-[:TRANSFER]->(b)")
        assert len(warned(lambda: engine.process(plain))) == 1
        assert warned(lambda: engine.process({**plain, "label": ["x", "y"]})) == []


def test_labels_of_edges_that_are_gone_count() -> None:
    frame = {"source": [1, 2], "target": [2, 3], "label": ["A", "B"], "time": [0, 10**6]}
    assert warned(lambda: deltamatch.replay(frame, "(a)-[:A]->(b)", window="1h", batch=1, max_ahead=None)) == []


def test_amounts_that_are_texts_have_no_order_until_they_are_declared() -> None:
    frame = pd.DataFrame({"source": [1, 2], "target": [2, 3], "amount": ["900.00", "85.50"]})
    error = wrong(frame, NAMED + " WHERE t.amount > 100", edges="events")
    assert error.what.endswith("compares a number with a text") and error.remedy.endswith("declare numbers as decimal(2) or int")
    error = wrong(frame, NAMED + "-[u]->(c) WHERE u.amount < t.amount", edges="events")
    assert error.what.endswith("orders texts") and error.remedy.endswith("declare numbers as decimal(2) or int")
    assert len(deltamatch.replay(frame, NAMED + " WHERE t.amount > 100", edges="events", attributes={"amount": "decimal(2)"})) == 1


def test_numbers_that_are_missing_are_counted() -> None:
    frame = pd.DataFrame({"source": [1, 2, 3], "target": [2, 3, 4], "amount": [900.0, np.nan, np.nan]})
    options: Any = {"edges": "events", "attributes": {"amount": "decimal(2)"}}
    (text,) = warned(lambda: deltamatch.replay(frame, NAMED + " WHERE t.amount > 1", **options))
    assert text.startswith("2 edges have no amount, so no comparison with it is true") and "IS NULL" in text
    assert warned(lambda: deltamatch.replay(frame, EDGE, **options)) == []
    assert warned(lambda: deltamatch.replay(frame, NAMED + " WHERE t.amount > 1 OR t.amount IS NULL", **options)) == []
    with deltamatch.Engine(**options) as engine:
        engine.register(NAMED + " WHERE t.amount > 1")
        for take in (engine.process, engine.load):
            assert warned(lambda: take(frame)) == [text]
            assert engine.report.missing == {"amount": 2}


def test_an_empty_frame_has_no_matches_and_all_columns() -> None:
    for frame in (pd.DataFrame({"source": [], "target": []}), pl.DataFrame({"source": [], "target": []})):
        matches = deltamatch.replay(frame, EDGE)
        assert list(matches.columns) == ["sign", "batch", "time", "query", "id", "bindings", "edges", "cause"]
        assert len(matches) == 0


def test_results_can_be_taken_more_than_once() -> None:
    table = deltamatch.replay({"source": [1], "target": [2]}, EDGE)
    assert pa.table(table).to_pylist() == table.to_pylist() == pl.DataFrame(table).to_dicts()
    assert table.to_arrow() == pa.table(table)
    assert repr(table).startswith("<deltamatch.Table of 1 rows: sign, batch")
