"""What the tests share: where the program is, frames of every kind, and how matches are compared."""

from __future__ import annotations

import csv
import json
import os
import pathlib
import random
import subprocess
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]


def program() -> str:
    """The program that the package has to agree with."""
    return os.environ.get("DELTAMATCH_PROGRAM", str(ROOT / "build/release/bin/deltamatch"))


KINDS = {
    "pandas": pd.DataFrame,
    "pandas-arrow": lambda columns: pa.table(columns).to_pandas(types_mapper=pd.ArrowDtype),
    "polars": pl.DataFrame,
    "arrow": pa.table,
    "reader": lambda columns: pa.table(columns).to_reader(max_chunksize=3),
    "dict": dict,
    "arrays": lambda columns: {name: np.array(values) if None not in values else values for name, values in columns.items()},
}


@pytest.fixture(params=KINDS)
def frame_of(request: pytest.FixtureRequest) -> Any:
    """Makes frames of a kind from a dict of lists."""
    return KINDS[request.param]


def rows_of(frame: Any) -> list[dict[str, Any]]:
    """The rows of a frame of results as dictionaries."""
    if isinstance(frame, pd.DataFrame):
        return json.loads(json.dumps(frame.to_dict("records"), default=lambda value: value.tolist() if hasattr(value, "tolist") else str(value)))
    if isinstance(frame, pl.DataFrame):
        return frame.to_dicts()
    if isinstance(frame, pa.Table):
        return frame.to_pylist()
    return frame.to_pylist()


def alerts_of(frame: Any) -> list[tuple[str, int, str, str]]:
    """What identifies each match: query, batch, sign and id."""
    return sorted((row["query"], row["batch"], row["sign"], row["id"]) for row in rows_of(frame))


def replay_by_program(folder: pathlib.Path, columns: dict[str, list[Any]], patterns: dict[str, str], *options: str) -> list[dict[str, Any]]:
    """Writes the columns as csv and gives the matches that the program writes."""
    updates, out = folder / "updates.csv", folder / "matches.jsonl"
    with updates.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(["" if value is None else value for value in row] for row in zip(*columns.values()))
    queries = [argument for name, text in patterns.items() for argument in ("--query", f"{name}={text}")]
    command = [program(), "replay", "--updates", str(updates), "--emit", "matches", "--out", str(out), *queries, *options]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in out.read_text().splitlines()]


def random_payments(seed: int, rows: int, accounts: int) -> dict[str, list[Any]]:
    """A random stream of payments with keys: insertions, corrections and deletions."""
    draw = random.Random(seed)
    columns: dict[str, list[Any]] = {name: [] for name in ("source", "target", "label", "time", "op", "key", "amount")}
    time = 1_700_000_000
    for number in range(rows):
        time += draw.randrange(0, 40)
        source, target = draw.sample(range(accounts), 2)
        known = number > 5 and draw.random() < 0.15
        columns["source"].append(source)
        columns["target"].append(target)
        columns["label"].append(draw.choice(["PAY", "REFUND"]))
        columns["time"].append(time - draw.randrange(0, 20))
        columns["op"].append("-" if known and draw.random() < 0.6 else "+")
        columns["key"].append(draw.randrange(number) if known else number)
        columns["amount"].append(f"{draw.randrange(1, 50000) / 100:.2f}")
    return columns
