"""Values come in and go out as what they are: integers without floats between, missing ones as missing, exact numbers exactly."""

from __future__ import annotations

import datetime
import decimal
import pickle
import uuid
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from conftest import rows_of

import deltamatch

EDGE = "(a)-->(b)"
BIG = 9_007_199_254_740_993  # no double is this number


def edge_of(columns: dict[str, Any], **options: Any) -> dict[str, Any]:
    """The first edge that is found of a frame's first row."""
    matches = deltamatch.match({"source": [1], "target": [2], **columns}, EDGE, **{"edges": "events", **options})
    edge: dict[str, Any] = matches.to_pylist()[0]["edges"][0]
    return edge


def refusal(columns: dict[str, Any], **options: Any) -> str:
    with pytest.raises(deltamatch.RecordError) as caught:
        deltamatch.match({"source": [1], "target": [2], **columns}, EDGE, **{"edges": "events", **options})
    assert caught.value.row == 0
    return caught.value.what


# What goes out.


def test_ids_in_frames_of_pandas_are_exact_although_others_are_missing() -> None:
    frame = pd.DataFrame({"source": [BIG, BIG + 2], "target": [BIG + 2, BIG + 4]})
    matches = deltamatch.replay(frame, ["x=(a)-->(b)", "y=(p)-->(q)"])
    bindings = [row for row in matches["bindings"] if row["a"] is not None]
    assert sorted((row["a"], row["b"]) for row in bindings) == [(BIG, BIG + 2), (BIG + 2, BIG + 4)]
    assert all(isinstance(row["a"], int) and row["p"] is None for row in bindings)


@pytest.mark.parametrize("kind", ["pandas", "table"])
def test_attributes_and_times_stay_integers_beside_missing_ones(kind: str) -> None:
    columns = {"source": [1, 2], "target": [2, 3], "time": [BIG, None], "amount": [BIG, None]}
    frame = columns if kind == "table" else pd.DataFrame({name: pd.array(values, dtype="Int64") for name, values in columns.items()})
    matches = deltamatch.match(frame, EDGE, edges="events", attributes={"amount": "int"}, time_unit="us")
    if kind == "table":
        matches = matches.to_pandas()
    assert str(matches["time"].dtype) == "Int64" and str(matches["batch"].dtype) == "int64"
    edges = {edges[0]["source"]: edges[0] for edges in matches["edges"]}
    assert edges[1]["attributes"] == {"amount": BIG} and edges[1]["time"] == BIG
    assert edges[2]["attributes"] == {"amount": None} and edges[2]["time"] is None
    assert set(matches["time"].dropna()) == {BIG} and matches["time"].isna().sum() == 1


def test_frames_of_pandas_have_types_of_their_own() -> None:
    times = pd.to_datetime(["2024-01-01", None])
    matches = deltamatch.match(pd.DataFrame({"source": [1, 2], "target": [2, 3], "time": times}), EDGE, edges="events")
    assert str(matches["time"].dtype) == "datetime64[us, UTC]"
    assert {str(matches[name].dtype) for name in ("bindings", "edges", "cause")} == {"object"}
    empty = deltamatch.match(pd.DataFrame({"source": [1], "target": [2]}), "(a)-->(b)-->(c)")
    assert len(empty) == 0 and list(empty.columns) == list(matches.columns)
    counts = deltamatch.motifs(pd.DataFrame({"source": [1], "target": [2]}), 2)
    assert [str(dtype) for dtype in counts.dtypes[2:]] == ["int32", "int32", "int64"]


def test_a_time_beyond_the_calendar_of_python_is_told() -> None:
    far = {"source": [1], "target": [2], "time": np.array(["30000-01-01"], dtype="datetime64[s]")}
    table = deltamatch.match(far, EDGE, edges="events")
    with pytest.raises(deltamatch.ConfigurationError, match="column time of the result: .* beyond the year 9999"):
        table.to_pylist()
    assert table.to_arrow().column("time").cast(pa.int64()).to_pylist() == [884_541_340_800_000_000]


def test_edges_without_a_name_share_none() -> None:
    frame = {"source": [1, 2, 3], "target": [2, 3, 4], "time": [1, 2, 3]}
    matches = deltamatch.match(frame, "(a)-->(b)-[e1]->(c)-->(d) WHERE e1.time > datetime('1970-01-01T00:00:00Z')", edges="events")
    assert [edge["edge"] for edge in matches.to_pylist()[0]["edges"]] == ["e1_2", "e1", "e3"]


def test_tables_and_errors_can_be_pickled() -> None:
    table = deltamatch.match({"source": ["x", "y"], "target": ["y", "z"]}, EDGE)
    again = pickle.loads(pickle.dumps(table))
    assert again.to_pylist() == table.to_pylist() and again.to_arrow().equals(table.to_arrow())
    with pytest.raises(deltamatch.RecordError) as caught:
        deltamatch.replay({"source": [1.0, 1.5], "target": [2, 3]}, EDGE)
    error = pickle.loads(pickle.dumps(caught.value))
    assert (error.row, error.reason, error.matches.to_pylist()) == (1, "bad_id", caught.value.matches.to_pylist())


# Times.


@pytest.mark.parametrize("unit", ["ns", "us", "ms", "s", "D"])
def test_nat_is_no_time(unit: str) -> None:
    times = np.array(["NaT"], dtype=f"datetime64[{unit}]")
    assert edge_of({"time": times})["time"] is None
    assert edge_of({"time": list(times)})["time"] is None
    frame = pd.DataFrame({"source": [1, 2], "target": [2, 3], "time": pd.to_datetime([None, "2024-01-01"])})
    matches = deltamatch.replay(frame, EDGE, edges="events")
    assert [edges[0]["time"] for edges in matches["edges"]] == [None, datetime.datetime(2024, 1, 1, tzinfo=datetime.timezone.utc)]


@pytest.mark.parametrize("dtype", ["M8[10s]", "M8[25ms]", ">M8[us]", ">M8[10s]", "M8[D]", "M8[h]", "M8[ps]", "M8[ns]", "M8[3D]"])
def test_times_of_numpy_are_read_in_their_unit(dtype: str) -> None:
    times = np.array(["1970-01-07"], dtype=dtype)
    assert edge_of({"time": times})["time"] == datetime.datetime(1970, 1, 7, tzinfo=datetime.timezone.utc)
    assert edge_of({"time": list(times)})["time"] == datetime.datetime(1970, 1, 7, tzinfo=datetime.timezone.utc)


def test_objects_that_are_times_are_times() -> None:
    zone = datetime.timezone(datetime.timedelta(hours=2))
    values = [datetime.datetime(2024, 1, 1, tzinfo=zone), pd.Timestamp("2023-12-31 22:00", tz="UTC"), np.datetime64("2023-12-31T22:00", "ns")]
    for value in values:
        assert edge_of({"time": [value]}, time_format="%d.%m.%Y")["time"] == values[0], value
    assert edge_of({"x": [datetime.date(2024, 1, 1)]}, attributes=["x"])["attributes"]["x"] == datetime.datetime(2024, 1, 1, tzinfo=datetime.timezone.utc)
    assert "is a time, but a source is an integer or a text" in refusal({"source": [datetime.date(2024, 1, 1)]})
    with pytest.raises(deltamatch.ConfigurationError, match="values of several types; declare what `x` is"):
        edge_of({"source": [1, 2], "target": [2, 3], "x": [datetime.date(2024, 1, 1), 5]}, attributes=["x"])


def test_periods_and_spans_are_no_times() -> None:
    periods = pd.period_range("2024-01", periods=1, freq="M")
    frame = pd.DataFrame({"source": [1], "target": [2], "time": periods})
    for each in (frame, pa.Table.from_pandas(frame)):
        with pytest.raises(deltamatch.RecordError, match="is not a time"):
            deltamatch.replay(each, EDGE, edges="events")
    for unit in ("s", "ns"):
        assert "is not a time" in refusal({"time": np.array([5], dtype=f"m8[{unit}]")})


# Numbers.


def test_floats_are_digits_without_an_exponent() -> None:
    assert edge_of({"time": np.array([1.7e9])})["time"] == 1_700_000_000_000_000
    assert edge_of({"time": np.array([0.00001])})["time"] == 10
    assert edge_of({"label": np.array([100000.0])})["label"] == "100000"
    assert edge_of({"label": [1e-5]})["label"] == "0.00001"
    assert edge_of({"x": np.array([100000.0])}, attributes={"x": "symbol"})["attributes"] == {"x": "100000"}
    assert edge_of({"x": np.array([1e300])}, attributes={"x": "float"})["attributes"] == {"x": 1e300}
    assert edge_of({"source": np.array([1e15])}, ids="string")["source"] == "1000000000000000"


def test_integers_of_any_size_are_exact_or_refused() -> None:
    for far in (2**63, 2**70, -(2**70), 2**200, 10**1000):
        assert edge_of({"label": [far]})["label"] == str(far)
        assert edge_of({"x": [far]}, attributes={"x": "symbol"})["attributes"] == {"x": str(far)}
        assert f"source `{str(far)[:20]}" in refusal({"source": [far]})
        assert "does not fit in 64 bits" in refusal({"x": [far]}, attributes={"x": "int"})
        assert "exceeds 64 bits" in refusal({"key": [far]}, edges="keyed", key="key")
    assert edge_of({"x": [2**70]}, attributes={"x": "float"})["attributes"] == {"x": 2.0**70}


def test_decimals_are_what_they_count() -> None:
    thousand = decimal.Decimal("1000").normalize()
    assert edge_of({"source": [thousand]})["source"] == 1000
    assert edge_of({"label": [thousand]})["label"] == "1000"
    assert edge_of({"x": [thousand]}, attributes={"x": "decimal(2)"})["attributes"] == {"x": decimal.Decimal("1000.00")}
    assert "does not fit in 64 bits" in refusal({"source": [decimal.Decimal("1E+40")]})
    assert "is no whole number" in refusal({"source": [decimal.Decimal("1E-50")]})
    assert "is no whole number" in refusal({"source": [decimal.Decimal("Infinity")]})
    frame = {"source": [1, 2], "target": [2, 3], "x": [decimal.Decimal("1"), decimal.Decimal("12.34")]}
    assert edge_of(frame, attributes=["x"])["attributes"] == {"x": decimal.Decimal("1.00")}


def test_masked_values_are_missing() -> None:
    frame = {"source": np.ma.array([1, 2], mask=[False, True]), "target": np.array([5, 6])}
    with pytest.raises(deltamatch.RecordError, match="`source` is null") as caught:
        deltamatch.replay(frame, EDGE)
    assert caught.value.row == 1
    with pytest.raises(deltamatch.RecordError, match="`source` is null"):
        deltamatch.replay(np.ma.array([[1, 2], [3, 4]], mask=[[False, False], [True, False]]), EDGE)
    for dtype in ("M8[s]", "f8"):
        assert edge_of({"time": np.ma.array(np.array([5], dtype=dtype), mask=[True])})["time"] is None


def test_rows_of_arrow_that_are_null_are_refused() -> None:
    rows = pa.StructArray.from_arrays([pa.array([1, 2]), pa.array([3, 4])], names=["source", "target"], mask=pa.array([False, True]))
    with pytest.raises(deltamatch.Error, match="a whole row is null"):
        deltamatch.replay(rows, EDGE)


def test_columns_of_pandas_extensions_are_read() -> None:
    frame = pd.DataFrame({"source": pd.arrays.SparseArray([1, 0]), "target": [2, 3]})
    assert sorted(row["bindings"]["a"] for row in rows_of(deltamatch.replay(frame, EDGE))) == [0, 1]
    with pytest.raises(deltamatch.RecordError, match="is a Interval, but a source"):
        deltamatch.replay(pd.DataFrame({"source": pd.interval_range(0, 1), "target": [2]}), EDGE)


# Objects that cannot be read.


class Broken:
    """An object that fails when it is asked for its number."""

    def __index__(self) -> int:
        raise RuntimeError("no number")


class Odd:
    """An object whose date is none."""

    def isoformat(self) -> int:
        return 5


def test_what_cannot_be_read_is_a_refused_row() -> None:
    assert "surrogates not allowed" in refusal({"source": ["\ud800"]})
    assert "RuntimeError('no number')" in refusal({"source": [Broken()]})
    assert "Odd that cannot be read" in refusal({"source": [Odd()]})
    assert "is a UUID, but a source" in refusal({"source": [uuid.UUID(int=5)]})
    assert edge_of({"unread": ["\ud800"]})["source"] == 1
    for wrong in ({"source": "\ud800"}, {"attributes": {"\ud800": "int"}}):
        with pytest.raises(deltamatch.ConfigurationError, match="lone surrogate"):
            edge_of({}, **wrong)
    for patterns in ("(a:\ud800)-->(b)", {"\ud800": EDGE}):
        with pytest.raises(deltamatch.ConfigurationError, match="lone surrogate"):
            deltamatch.replay({"source": [1], "target": [2]}, patterns)
    with pytest.raises(deltamatch.ConfigurationError, match="lone surrogate"):
        deltamatch.replay({"source": [1], "target": [2], "\ud800": [3]}, EDGE)


def test_ids_that_are_texts_hold_any_character() -> None:
    for frame in ({"source": ["a\0b\n"], "target": ["a"]}, pl.DataFrame({"source": ["a\0b\n"], "target": ["a"]})):
        assert rows_of(deltamatch.match(frame, EDGE))[0]["bindings"]["a"] == "a\0b\n"
