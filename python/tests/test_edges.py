"""Matches as a flat frame: a row for each edge."""

from __future__ import annotations

import datetime
import decimal
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from conftest import KINDS, rows_of

import deltamatch

PAYMENTS: dict[str, list[Any]] = {
    "payment": [7, 8, 9, 10],
    "source": ["ann", "bob", "ann", "cyd"],
    "target": ["bob", "ann", "cyd", "ann"],
    "time": [datetime.datetime(2026, 1, 5, hour, tzinfo=datetime.timezone.utc) for hour in range(10, 14)],
    "amount": [decimal.Decimal("9.00"), None, decimal.Decimal("8.50"), decimal.Decimal("8.00")],
    "hops": [1, None, 2, 3],
    "app": [True, None, False, True],
    "note": ["a", "b", "c", "d"],
}
TYPES = {"amount": "decimal(2)", "hops": "int", "app": "bool", "step": "symbol=note"}
PAIR = {"pair": "MATCH (a)-[t]->(b)-[u]->(a) WITHIN 24h"}
COLUMNS = ["query", "sign", "batch", "id", "edge", "step", "source", "label", "target", "key", "time", "amount", "hops", "app", "attributes.step"]


def pairs(frame: Any, pattern: dict[str, str] = PAIR) -> Any:
    return deltamatch.replay(frame, pattern, edges="keyed", key="payment", label="", attributes=TYPES)


def names_of(frame: Any) -> list[str]:
    return list(frame.column_names if isinstance(frame, pa.Table) else frame.columns)


@pytest.mark.parametrize("kind", ["pandas", "pandas-arrow", "polars", "arrow", "dict"])
def test_each_edge_of_each_match_has_a_row(kind: str) -> None:
    matches = pairs(KINDS[kind](PAYMENTS))
    flat = deltamatch.edge_rows(matches)
    assert isinstance(flat, pa.Table if kind in ("arrow", "dict") else type(matches))
    assert names_of(flat) == COLUMNS
    matched = rows_of(matches)
    expected = [(row["query"], row["id"], edge["edge"], edge["source"], edge["target"], edge["key"]) for row in matched for edge in row["edges"]]
    assert len(expected) == 4
    rows = rows_of(flat)
    assert [(row["query"], row["id"], row["edge"], row["source"], row["target"], row["key"]) for row in rows] == expected
    places = [PAYMENTS["payment"].index(row["key"]) for row in rows]
    assert [row["attributes.step"] for row in rows] == [PAYMENTS["note"][place] for place in places]
    assert [None if row["amount"] is None else str(row["amount"]) for row in rows] == [
        None if (amount := PAYMENTS["amount"][place]) is None else str(amount) for place in places
    ]


@pytest.mark.parametrize("kind", ["pandas", "polars", "arrow", "dict"])
@pytest.mark.parametrize("edges", ["simple", "keyed", "events"])
def test_without_matches_there_are_the_same_columns_of_the_same_types(kind: str, edges: Any) -> None:
    options: dict[str, Any] = {"edges": edges, "label": "", "key": "payment" if edges == "keyed" else ""}
    if edges != "simple":
        options["attributes"] = TYPES
    some, none = (
        deltamatch.edge_rows(deltamatch.replay(KINDS[kind](PAYMENTS), pattern, **options)) for pattern in ("(a)-->(b)", "(a)-->(b)-->(c)-->(d)-->(e)")
    )
    assert (len(some), len(none)) == (4, 0)
    assert names_of(some) == names_of(none)
    if kind == "pandas":
        assert list(some.dtypes) == list(none.dtypes)
        assert len(none.groupby("id")[["source", "target"]].agg(list)) == 0
    else:
        assert some.schema == none.schema


def test_values_of_pandas_keep_their_types() -> None:
    flat = deltamatch.edge_rows(pairs(pd.DataFrame(PAYMENTS)))
    assert {name: str(flat[name].dtype) for name in ("step", "key", "time", "hops", "app")} == {
        "step": "Int32", "key": "int64", "time": "datetime64[us, UTC]", "hops": "Int64", "app": "boolean",
    }  # fmt: skip
    assert set(flat["amount"].dropna()) == {decimal.Decimal("9.00"), decimal.Decimal("8.50"), decimal.Decimal("8.00")}


def test_rows_of_matches_that_were_chosen_joined_or_kept_aside() -> None:
    matches = pairs(pd.DataFrame(PAYMENTS))
    assert names_of(deltamatch.edge_rows(matches[matches["sign"] == "-"])) == COLUMNS
    last = deltamatch.edge_rows(matches.tail(1))
    assert list(last["id"]) == [matches["id"].iloc[1]] * 2
    assert len(deltamatch.edge_rows(pd.concat([matches, matches]))) == 8
    plain = matches.copy()
    plain.attrs = {}
    flat = deltamatch.edge_rows(plain)
    assert names_of(flat) == COLUMNS and list(flat["key"]) == list(deltamatch.edge_rows(matches)["key"])
    assert names_of(deltamatch.edge_rows(plain.head(0))) == COLUMNS[:9]


@pytest.mark.parametrize("kind", ["pandas", "polars", "arrow"])
def test_a_path_has_a_row_for_each_step_and_a_vertex_none(kind: str) -> None:
    frame = KINDS[kind]({"source": [1, 2, 3], "target": [2, 3, 1]})
    flat = rows_of(deltamatch.edge_rows(deltamatch.replay(frame, "(a)-[t]->{3}(a)")))
    assert [(row["edge"], row["step"], row["source"], row["target"]) for row in flat] == [("t", 0, 1, 2), ("t", 1, 2, 3), ("t", 2, 3, 1)]
    alone = deltamatch.replay(frame, "MATCH (a) WHERE COUNT { (a)-->(x) } >= 1")
    assert len(alone) == 3 and len(deltamatch.edge_rows(alone)) == 0


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ([1], "matches: is no frame, but a list"),
        (pd.DataFrame({"id": ["x"]}), "matches: has no column `query`"),
        (pl.DataFrame({"query": ["x"], "sign": ["+"], "batch": [1], "id": ["x"]}), "matches: has no column `edges`"),
    ],
)
def test_what_is_no_frame_of_matches_is_refused(given: Any, text: str) -> None:
    with pytest.raises(deltamatch.ConfigurationError, match=text):
        deltamatch.edge_rows(given)
