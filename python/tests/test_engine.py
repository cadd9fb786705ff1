"""The engine: batches, patterns that come and go, snapshots."""

from __future__ import annotations

import pathlib
import random
import subprocess
import threading

import pandas as pd
import polars as pl
import pytest
from conftest import alerts_of, program, random_payments, rows_of

import deltamatch

TRIANGLE = "(a)-->(b)-->(c)-->(a)"


def test_batches_one_by_one_give_what_a_replay_gives() -> None:
    payments = pl.DataFrame(random_payments(3, 300, 10))
    patterns = {"pair": "(a)-[t:PAY]->(b)-[u]->(a) WHERE t.amount < u.amount WITHIN 10m"}
    whole = deltamatch.replay(payments, patterns, edges="keyed", key="key", attributes="amount:decimal(2)", batch=50, max_ahead=None)
    with deltamatch.Engine(edges="keyed", key="key", attributes="amount:decimal(2)") as engine:
        engine.register(patterns)
        frames = [engine.process(payments[first : first + 50]) for first in range(0, 300, 50)]
        assert engine.report.updates == 50
        assert len(engine.digest) == 32
    assert alerts_of(pl.concat(frames)) == alerts_of(whole)


def test_a_snapshot_goes_on_and_the_program_reads_it(tmp_path: pathlib.Path) -> None:
    frame = pd.DataFrame({"source": [1, 2], "target": [2, 3]})
    path = tmp_path / "graph.snapshot"
    engine = deltamatch.Engine()
    engine.register({"triangle": TRIANGLE})
    assert len(engine.process(frame)) == 0
    engine.save(path)
    restored = deltamatch.Engine.restore(path)
    restored.register({"triangle": TRIANGLE})
    last = pd.DataFrame({"source": [3], "target": [1]})
    assert alerts_of(restored.process(last)) == alerts_of(engine.process(last))
    assert restored.digest == engine.digest
    assert restored.graph["edges"] == 3
    told = subprocess.run([program(), "snapshot", "info", path], capture_output=True, text=True, check=True).stdout
    assert "2" in told
    with pytest.raises(deltamatch.Error, match="nothing"):
        deltamatch.Engine.restore(tmp_path / "nothing")


def test_patterns_come_and_go() -> None:
    engine = deltamatch.Engine()
    assert engine.register(["pairs=(a)-->(b)-->(a)", TRIANGLE]) == ["pairs", "pattern"]
    assert set(engine.patterns) == {"pairs", "pattern"}
    with pytest.raises(deltamatch.ConfigurationError, match="'pairs' is taken"):
        engine.register({"pairs": TRIANGLE})
    engine.unregister("pairs")
    with pytest.raises(deltamatch.ConfigurationError, match="name one that is registered: 'pattern'"):
        engine.unregister("pairs")
    assert len(engine.process({"source": [1, 2], "target": [2, 1]})) == 0
    engine.register({"counted": "(a)-->(b)"}, list=False)
    engine.process({"source": [5], "target": [6]})
    assert engine.report.queries["counted"]["new"] == 1


def test_a_frame_that_cannot_be_read_changes_nothing() -> None:
    engine = deltamatch.Engine()
    engine.register(TRIANGLE)
    with pytest.raises(deltamatch.RecordError) as caught:
        engine.process(pd.DataFrame({"source": [1.0, 2.5], "target": [2, 3]}))
    assert (caught.value.row, caught.value.reason) == (1, "bad_id")
    assert (engine.batch, engine.graph["edges"]) == (0, 0)


def test_a_row_that_the_engine_refuses_ends_the_batch_before_it() -> None:
    engine = deltamatch.Engine()
    engine.register("(a:A)-->(b)")
    frame = pl.DataFrame({"source": [1, 1], "target": [2, 3], "source_label": ["A", "B"]})
    with pytest.raises(deltamatch.RecordError, match="label_conflict") as caught:
        engine.process(frame)
    assert caught.value.row == 1
    assert isinstance(caught.value.matches, pl.DataFrame) and len(caught.value.matches) == 1
    assert engine.graph["edges"] == 1


def test_rows_are_skipped_and_counted() -> None:
    engine = deltamatch.Engine(on_error="skip")
    engine.register("(a)-->(b)")
    with pytest.warns(deltamatch.InputWarning, match="1 of 3 rows are refused"):
        matches = engine.process(pd.DataFrame({"source": [1, None, 3], "target": [2, 3, 4]}))
    assert len(matches) == 2
    assert engine.report.refused == {"bad_id": 1}


def test_a_closed_engine_says_so() -> None:
    with deltamatch.Engine() as engine:
        engine.process({"source": [1], "target": [2]})
    with pytest.raises(deltamatch.ConfigurationError, match="it is closed"):
        engine.process({"source": [1], "target": [2]})


def test_graphs_as_they_stand() -> None:
    draw = random.Random(1)
    edges = {(min(pair), max(pair)) for pair in (draw.sample(range(12), 2) for _ in range(40))}
    frame = pd.DataFrame(sorted(edges), columns=["source", "target"])
    triangles = [(a, b, c) for a in range(12) for b in range(a) for c in range(b) if {(b, a), (c, a), (c, b)} <= edges]
    found = deltamatch.cliques(frame, 3)
    assert found.to_dict("records") == [{"vertices": 3, "count": len(triangles)}]
    listed = deltamatch.cliques(frame, 3, list=True)
    assert sorted(tuple(clique) for clique in listed["vertices"]) == sorted(tuple(sorted(triangle)) for triangle in triangles)
    motifs = deltamatch.motifs(frame, 3).set_index("name")["count"]
    assert motifs["triangle"] == len(triangles)
    assert deltamatch.motifs(frame, 4, where="edges = 6").set_index("vertices")["count"].sum() == deltamatch.cliques(frame, 4)["count"].sum()
    assert deltamatch.count(frame, "(a)--(b)--(c)--(a)", directed=False) == {"pattern": len(triangles)}
    assert len(deltamatch.match(frame, "(a)--(b)--(c)--(a)", directed=False, limit=2)) == 2
    sizes = deltamatch.cliques(frame)
    assert sizes["count"].tolist()[:2] == [len({vertex for edge in edges for vertex in edge}), len(edges)]


def test_a_time_out_is_no_answer() -> None:
    n = 600
    frame = pd.DataFrame([(a, b) for a in range(n) for b in range(a)], columns=["source", "target"])
    with pytest.raises(deltamatch.IncompleteError, match="stopped by timeout") as caught:
        deltamatch.count(frame, {"path": "(a)-->(b)-->(c)-->(d)-->(a2)<--(b),(c)-->(a2)"}, timeout="1us", mode="homomorphism")
    assert set(caught.value.found) == {"path"}


def test_counts_are_whole_integers_of_any_size() -> None:
    frame = pd.DataFrame({"source": 0, "target": range(1, 2001)})
    leaves = ",".join(f"(hub)-->(leaf{leaf})" for leaf in range(8))
    assert deltamatch.count(frame, leaves, count="embeddings")["pattern"] > 2**64


def test_explains_plans() -> None:
    engine = deltamatch.Engine()
    engine.process({"source": [1, 2, 3], "target": [2, 3, 1]})
    assert "a" in engine.explain(TRIANGLE)
    assert rows_of(engine.match(TRIANGLE, limit=1))


def test_types_that_are_not_known_yet_are_asked_for() -> None:
    vertices = pd.DataFrame({"vertex": [1, 2], "label": ["A", "B"]})
    engine = deltamatch.Engine(edges="events", attributes=["amount"])
    with pytest.raises(deltamatch.ConfigurationError, match="declare them, as in"):
        engine.load(vertices, vertices=True)
    engine = deltamatch.Engine(edges="events", attributes={"amount": "int"})
    engine.load(vertices, vertices=True)
    engine.register("(a:A)-[t]->(b:B) WHERE t.amount = 7")
    assert len(engine.process(pd.DataFrame({"source": [1], "target": [2], "amount": [7]}))) == 1


def test_labels_that_are_categories_of_polars_or_pandas() -> None:
    columns = {"source": [1, 2], "target": [2, 3], "label": ["PAY", "REFUND"]}
    frames = [
        pl.DataFrame(columns, schema_overrides={"label": pl.Categorical}),
        pl.DataFrame(columns, schema_overrides={"label": pl.Enum(["PAY", "REFUND"])}),
        pd.DataFrame(columns).astype({"label": "category"}),
        pd.DataFrame(columns).astype({"label": "string", "source": "Int64"}),
    ]
    for frame in frames:
        assert deltamatch.count(frame, "(a)-[:PAY]->(b)-[:REFUND]->(c)") == {"pattern": 1}


def test_one_thread_at_a_time_uses_an_engine() -> None:
    engine = deltamatch.Engine(threads=1)
    engine.register("(a)-->(b)")
    told: list[BaseException] = []

    def work(seed: int) -> None:
        draw = random.Random(seed)
        for _ in range(100):
            try:
                engine.process({"source": [draw.randrange(50) for _ in range(50)], "target": [draw.randrange(50) for _ in range(50)]})
                assert engine.graph["vertices"] <= 50
            except deltamatch.Error as error:
                told.append(error)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with engine._used(), pytest.raises(deltamatch.Error, match="engine: another call is running"):
        engine.count("(a)-->(b)")
    assert all("let them take turns" in str(error) for error in told)
    assert engine.graph["edges"] > 0


def test_a_restored_engine_keeps_to_its_threads(tmp_path: pathlib.Path) -> None:
    engine = deltamatch.Engine()
    engine.load({"source": [1, 2, 3], "target": [2, 3, 1]})
    engine.save(tmp_path / "graph.snapshot")
    restored = deltamatch.Engine.restore(tmp_path / "graph.snapshot", threads=1)
    assert restored._threads() == 1 and restored._engine().options["threads"] == 1
    assert restored.cliques(3).to_pylist() == [{"vertices": 3, "count": 1}]
    with pytest.raises(TypeError, match=r"restore\(\) got an unexpected keyword argument 'window'"):
        deltamatch.Engine.restore(tmp_path / "graph.snapshot", window="1h")  # type: ignore[call-arg]


def test_a_long_time_out_is_none() -> None:
    frame = {"source": [1, 2, 1], "target": [2, 3, 3]}
    assert deltamatch.motifs(frame, 3, timeout="200000d").to_pylist()[1]["count"] == 1
    assert deltamatch.cliques(frame, 3, timeout="200000d").to_pylist() == [{"vertices": 3, "count": 1}]
