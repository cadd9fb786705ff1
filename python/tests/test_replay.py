"""Replaying frames: every kind of frame, and the same matches as the program's."""

from __future__ import annotations

import decimal
import itertools
import pathlib
import random
import signal
import subprocess
import sys
import threading
import time
import warnings
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from conftest import alerts_of, random_payments, replay_by_program, rows_of

import deltamatch

EDGES = {"source": [1, 2, 3, 1], "target": [2, 3, 1, 2], "op": ["+", "+", "+", "-"]}
TRIANGLE = {"triangle": "(a)-->(b)-->(c)-->(a)"}
PAYMENTS = {
    "pair": "(a)-[t:PAY]->(b)-[u:PAY]->(a) WHERE t.time < u.time AND u.amount >= 0.8 * t.amount WITHIN 20m",
    "chain": "MATCH (a)-[t WHERE t.time > prev(t).time]->{2,3}(b) WHERE first(t).amount > 100 WITHIN 5m",
    "refund": "(shop)-[back:REFUND]->(customer) WHERE NOT EXISTS { (customer)-[pay:PAY]->(shop) WHERE pay.amount >= back.amount } WITHIN 30m",
}


def test_every_kind_of_frame_gives_the_same_and_comes_back_as_its_kind(frame_of: Any) -> None:
    frame = frame_of(EDGES)
    matches = deltamatch.replay(frame, TRIANGLE, batch=1)
    assert [(row["sign"], row["batch"]) for row in rows_of(matches)] == [("+", 3), ("-", 4)]
    assert rows_of(matches)[0]["bindings"] == {"a": 1, "b": 2, "c": 3}
    expected = {pd.DataFrame: pd.DataFrame, pl.DataFrame: pl.DataFrame, pa.Table: pa.Table, pa.RecordBatchReader: pa.Table}
    kind = next((kind for kind in expected if isinstance(frame, kind)), None)
    assert isinstance(matches, expected[kind] if kind else deltamatch.Table)


def test_an_array_of_pairs_is_a_list_of_edges() -> None:
    assert deltamatch.count(np.array([[1, 2], [2, 3], [3, 1]]), TRIANGLE) == {"triangle": 1}
    with pytest.raises(deltamatch.ConfigurationError, match=r"array of shape \(3, 3\)"):
        deltamatch.count(np.ones((3, 3)), TRIANGLE)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("options", [{}, {"window": "10m"}, {"order": "time"}], ids=["plain", "window", "order"])
def test_a_frame_gives_the_alerts_of_the_program(tmp_path: pathlib.Path, seed: int, options: dict[str, Any]) -> None:
    payments = random_payments(seed, 400, 12)
    asked = [argument for name, value in options.items() for argument in (f"--{name}", value)]
    told = replay_by_program(
        tmp_path, payments, PAYMENTS, "--edges", "keyed", "--columns", "edge=key", "--attributes", "amount:decimal(2)", "--batch", "64", *asked
    )
    frames = {
        "pandas": pd.DataFrame({**payments, "amount": [float(amount) for amount in payments["amount"]]}),
        "polars": pl.DataFrame({**payments, "amount": [decimal.Decimal(amount) for amount in payments["amount"]]}),
        "arrow": pa.table({**payments, "time": pa.array(payments["time"], pa.timestamp("s")), "label": pa.array(payments["label"]).dictionary_encode()}),
    }
    assert told, "the streams have matches"
    for frame in frames.values():
        with warnings.catch_warnings(action="ignore", category=deltamatch.InputWarning):  # many deletions name nothing
            matches = deltamatch.replay(frame, PAYMENTS, edges="keyed", key="key", attributes={"amount": "decimal(2)"}, batch=64, **options)
        assert alerts_of(matches) == sorted((row["query"], row["batch"], row["sign"], row["id"]) for row in told)
        if isinstance(frame, pl.DataFrame):
            check_rows(rows_of(matches), told)


def check_rows(rows: list[dict[str, Any]], told: list[dict[str, Any]]) -> None:
    """Every cell is what the program's JSON says."""
    assert len(rows) == len(told)
    for row, alert in zip(rows, told):
        assert {key: value for key, value in row["bindings"].items() if value is not None} == alert["bindings"]
        assert row["time"] == alert["time"]
        flat = []
        changed = []
        for number, edge in enumerate(alert["edges"]):
            steps = list(enumerate(edge)) if isinstance(edge, list) else [(None, edge)]
            for step, each in steps:
                if (number if step is None else [number, step]) in alert["cause"]:
                    changed.append(len(flat))
                flat.append((step, each))
        assert row["cause"] == changed
        for edge, (step, each) in zip(row["edges"], flat, strict=True):
            assert edge["step"] == step
            assert (edge["source"], edge["label"], edge["target"], edge["key"], edge["time"]) == tuple(
                each[key] for key in ("source", "label", "target", "key", "time")
            )
            assert edge["attributes"]["amount"] == decimal.Decimal(str(each["attributes"]["amount"]))


@pytest.mark.parametrize("seed", range(20))
def test_small_streams_agree_with_brute_force(seed: int) -> None:
    draw = random.Random(seed)
    rows = [(draw.randrange(5), draw.randrange(5), draw.random() < 0.7) for _ in range(60)]
    frame = pd.DataFrame({"source": [float(row[0]) for row in rows], "target": [row[1] for row in rows], "op": ["+" if row[2] else "-" for row in rows]})
    matches = deltamatch.replay(frame, TRIANGLE, batch=7)
    standing: set[tuple[int, ...]] = set()
    for number in sorted({*matches["batch"]}):
        for row in rows_of(matches[matches["batch"] == number]):
            match = tuple(row["bindings"].values())
            assert (match in standing) == (row["sign"] == "-")
            standing ^= {match}
    graph = set()
    for source, target, inserts in rows:
        if source != target:
            (graph.add if inserts else graph.discard)((source, target))
    triangles = {
        (a, b, c) for a, b, c in itertools.permutations(range(5), 3) if {(a, b), (b, c), (c, a)} <= graph and a == min(a, b, c)
    }
    assert standing == triangles


def test_strings_and_integers_are_two_vertices_as_in_json() -> None:
    frame = pd.DataFrame({"source": np.array([7, "7"], dtype=object), "target": [1, 1]})
    matches = deltamatch.match(frame, "(a)-->(b)<--(c)")
    assert rows_of(matches)[0]["bindings"] == {"a": "7", "b": "1", "c": "7"}
    assert deltamatch.count(frame, "(a)-->(b)<--(c)", ids="integer") == {"pattern": 0}


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
@pytest.mark.parametrize("zone", [None, "Europe/Paris"])
def test_timestamps_of_every_unit_and_zone_are_microseconds(unit: str, zone: str | None) -> None:
    times = pd.to_datetime(["2024-01-01T10:00:00", "2024-01-01T10:00:02"]).tz_localize(zone).as_unit(unit)
    pandas_frame = pd.DataFrame({"source": [1, 2], "target": [2, 1], "time": times})
    for frame in (pandas_frame, pa.Table.from_pandas(pandas_frame), pl.from_pandas(pandas_frame)):
        matches = deltamatch.replay(frame, "(a)-[t]->(b)-[u]->(a)", edges="events", within="3s")
        (row,) = matches.to_dicts() if isinstance(matches, pl.DataFrame) else (matches.to_pylist() if isinstance(matches, pa.Table) else matches.to_dict("records"))
        assert pd.Timestamp(row["time"]) == times[1].tz_convert("UTC") if zone else times[1].tz_localize("UTC")
        assert len(deltamatch.replay(frame, "(a)-[t]->(b)-[u]->(a)", edges="events", within="2s")) == 0


def test_integers_are_seconds_unless_a_unit_is_given() -> None:
    frame = {"source": [1, 2], "target": [2, 1], "time": [1000, 3000]}
    pattern = "(a)-[t]->(b)-[u]->(a)"
    assert len(deltamatch.replay(frame, pattern, edges="events", within="3s")) == 0
    assert len(deltamatch.replay(frame, pattern, edges="events", within="3s", time_unit="ms")) == 1


def test_vertices_bring_labels_and_attributes() -> None:
    vertices = pl.DataFrame({"vertex": [1, 2, 3], "labels": [["Account"], ["Account", "Flagged"], ["Shop"]], "risk": [1, 5, 9]})
    edges = pl.DataFrame({"source": [1, 2], "target": [2, 3]})
    found = deltamatch.match(edges, "(a:Account)-->(b:Flagged) WHERE b.risk > 4", vertices=vertices)
    assert found["bindings"].to_list() == [{"a": 1, "b": 2}]
    assert deltamatch.count(edges, "(a)-->(b) WHERE b.risk > 8", vertices=vertices) == {"pattern": 1}


def test_a_start_graph_is_not_reported_itself() -> None:
    start = {"source": [1, 2], "target": [2, 3]}
    matches = deltamatch.replay({"source": [3], "target": [1]}, TRIANGLE, start=start)
    assert [row["cause"] for row in matches.to_pylist()] == [[2]]


def test_parquet_comes_in_by_way_of_pyarrow(tmp_path: pathlib.Path) -> None:
    pq.write_table(pa.table(EDGES), tmp_path / "edges.parquet")
    assert len(deltamatch.replay(pq.read_table(tmp_path / "edges.parquet"), TRIANGLE, batch=1)) == 2
    file = pq.ParquetFile(tmp_path / "edges.parquet")
    reader = pa.RecordBatchReader.from_batches(file.schema_arrow, file.iter_batches(batch_size=2))
    matches = deltamatch.replay(reader, TRIANGLE, batch=1)
    pq.write_table(matches, tmp_path / "matches.parquet")
    assert pq.read_table(tmp_path / "matches.parquet").num_rows == 2


def test_duckdb_gives_and_takes_tables() -> None:
    duckdb = pytest.importorskip("duckdb")
    edges = duckdb.sql("SELECT * FROM (VALUES (1, 2, '+'), (2, 3, '+'), (3, 1, '+')) AS t(source, target, op)")
    matches = deltamatch.replay(edges, TRIANGLE)
    assert duckdb.sql("SELECT bindings.a, len(edges) FROM matches").fetchall() == [(1, 3)]


def test_a_stream_gives_matches_as_they_come() -> None:
    n = 20_000
    frame = pa.table({"source": np.arange(n), "target": np.arange(1, n + 1)})
    frames = deltamatch.stream(frame, "(a)-->(b)-->(c)", batch=1000, chunk=1)
    sizes = [len(matches) for matches in frames]
    assert len([size for size in sizes if size]) == n // 1000
    assert sum(sizes) == n - 1
    assert frames.report is not None and frames.report.batches == n // 1000
    assert frames.report.queries["pattern"]["new"] == n - 1


def test_ctrl_c_ends_a_long_run_and_other_threads_go_on() -> None:
    n = 3000
    frame = {"source": np.zeros(n, dtype="int64"), "target": np.arange(1, n + 1)}
    ticks = []
    done = threading.Event()

    def tick() -> None:
        while not done.wait(0.01):
            ticks.append(time.monotonic())

    threads = [threading.Thread(target=tick), threading.Timer(0.7, lambda: signal.raise_signal(signal.SIGINT))]
    for thread in threads:
        thread.start()
    began = time.monotonic()
    try:
        with pytest.raises(KeyboardInterrupt):
            deltamatch.match(frame, "(a)-->(b),(a)-->(c),(a)-->(d),(a)-->(e),(a)-->(f)", limit=10**18)
    finally:
        done.set()
    assert time.monotonic() - began < 60
    assert len(ticks) > 5


def slow(rows: int, seconds: float, last: BaseException | None = None) -> pa.RecordBatchReader:
    """A stream of a path, row by row, each of which takes time in Python."""

    def batches() -> Any:
        for row in range(rows):
            time.sleep(seconds)
            yield pa.record_batch({"source": [row], "target": [row + 1]})
        if last is not None:
            raise last

    return pa.RecordBatchReader.from_batches(pa.schema({"source": pa.int64(), "target": pa.int64()}), batches())


def test_a_stream_of_a_slow_generator_may_be_left_early() -> None:
    for matches in deltamatch.stream(slow(1000, 0.02), "(a)-->(b)", batch=1, chunk=1):
        assert len(matches) == 1
        break
    with deltamatch.stream(slow(1000, 0.02), "(a)-->(b)", batch=1, chunk=1) as frames:
        assert len(next(frames)) == 1
    assert list(frames) == [] and frames.report is None


def test_the_interpreter_ends_while_a_stream_is_open() -> None:
    program = """
import time, deltamatch, pyarrow as pa
def batches():
    for row in range(1000):
        time.sleep(0.02)
        yield pa.record_batch({"source": [row], "target": [row + 1]})
reader = pa.RecordBatchReader.from_batches(pa.schema({"source": pa.int64(), "target": pa.int64()}), batches())
frames = deltamatch.stream(reader, "(a)-->(b)", batch=1, chunk=1)
print(len(next(frames)))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "1\n", "")


def test_what_a_generator_raises_ends_the_call() -> None:
    with pytest.raises(KeyboardInterrupt):
        deltamatch.replay(slow(1, 0, KeyboardInterrupt()), "(a)-->(b)")
    with pytest.raises(deltamatch.Error, match="ValueError: no more"):
        deltamatch.replay(slow(1, 0, ValueError("no more")), "(a)-->(b)")
