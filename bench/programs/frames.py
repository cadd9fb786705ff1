#!/usr/bin/env python3
"""How fast frames become batches: from a frame of pandas, polars or Arrow to batches of updates, without the engine.

usage: frames.py [--rows N] [--repeat R]
Needs an environment with the package deltamatch, numpy, pandas, polars and pyarrow. The sums of what the batches say are
compared with those of the columns before a time is printed. Prints a row for each frame: millions of edges per second in the
median, and the least and most. `decoding alone` has no thread that decodes ahead.
"""

import argparse
import statistics
import time

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

from deltamatch import _core
from deltamatch._frames import source_of
from deltamatch._options import read_settings

LABELS = np.array(["TRANSFER", "PAYMENT", "REFUND", "FEE"])
EVERY = {"batch": 8192, "max_ahead": 86_400_000_000}


def columns(rows):
    """Columns of a stream of payments: integers, the same ends as texts, a label of few values, and times."""
    draw = np.random.default_rng(1)
    source, target = draw.integers(0, 1_000_000, rows), draw.integers(0, 1_000_000, rows)
    return {
        "source": source,
        "target": target,
        "label": draw.integers(0, len(LABELS), rows),
        "time": 1_700_000_000_000_000 + np.arange(rows, dtype="int64") * 1000,
    }


def frames(data):
    """Each frame by name, with the sum of its ids."""
    labels = pa.DictionaryArray.from_arrays(pa.array(data["label"].astype("int32")), pa.array(LABELS))
    times = pa.array(data["time"], pa.timestamp("us"))
    texts = {name: np.char.add("acct-", data[name].astype(str)) for name in ("source", "target")}
    arrow = pa.table({"source": data["source"], "target": data["target"], "label": labels, "time": times})
    named = pa.table({"source": pa.array(texts["source"]), "target": pa.array(texts["target"]), "label": labels, "time": times})
    integers = int(data["source"].sum() + data["target"].sum())
    lengths = int(np.char.str_len(texts["source"]).sum() + np.char.str_len(texts["target"]).sum())
    objects = pd.DataFrame({"source": texts["source"].astype(object), "target": texts["target"].astype(object), "time": data["time"].view("M8[us]")}, dtype=object)
    objects["time"] = data["time"].view("M8[us]")
    return [
        ("Arrow, integers", arrow, integers, True),
        ("Arrow, texts", named, lengths, True),
        ("polars, integers", pl.from_arrow(arrow), integers, True),
        ("polars, texts", pl.from_arrow(named), lengths, True),
        ("pandas, integers", arrow.to_pandas(), integers, True),
        ("pandas, texts", named.to_pandas(), lengths, True),
        ("pandas, objects, no label", objects, lengths, False),
        ("numpy, integers, no label or time", {"source": data["source"], "target": data["target"]}, integers, None),
    ]


def measure(frame, data, ids, labelled, ahead):
    """Seconds from the frame to its batches. Stops if they do not say what the columns say."""
    engine = _core.Engine({})
    settings = read_settings({}, {"attributes": [], "vertex_attributes": []}, False)
    began = time.perf_counter()
    reading = engine.open(source_of(frame, "frame"), {**settings, **EVERY, "read_ahead": ahead})
    told = reading.drain()
    seconds = time.perf_counter() - began
    lengths = np.char.str_len(LABELS)
    expected = (
        len(data["source"]), ids, int(lengths[data["label"]].sum()) if labelled else 0,
        int(data["time"].sum()) if labelled is not None else 0,
    )
    if told != expected:
        raise SystemExit(f"frames.py: the batches say {told}, the columns {expected}")
    return seconds


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=2_000_000)
    parser.add_argument("--repeat", type=int, default=5)
    options = parser.parse_args()
    data = columns(options.rows)
    print("| frame | M edges/s | least to most | decoding alone |\n|---|---|---|---|")
    for name, frame, ids, labelled in frames(data):
        rates = [options.rows / measure(frame, data, ids, labelled, 1) / 1e6 for _ in range(options.repeat)]
        alone = [options.rows / measure(frame, data, ids, labelled, 0) / 1e6 for _ in range(options.repeat)]
        print(f"| {name} | {statistics.median(rates):.1f} | {min(rates):.1f} to {max(rates):.1f} | {statistics.median(alone):.1f} |", flush=True)


if __name__ == "__main__":
    main()
