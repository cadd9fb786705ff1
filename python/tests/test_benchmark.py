"""The benchmark of frames checks its answers, so a small run of it is a test."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest
from conftest import ROOT

PROGRAM = ROOT / "bench/programs/frames.py"


def test_every_frame_of_the_benchmark_says_what_its_columns_say() -> None:
    if not PROGRAM.exists():
        pytest.skip("needs the folder bench")
    told = subprocess.run([sys.executable, PROGRAM, "--rows", "3000", "--repeat", "2"], capture_output=True, text=True, check=True).stdout
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in told.splitlines()]
    assert rows[0] == ["frame", "M edges/s", "least to most", "decoding alone"]
    assert [row[0] for row in rows[2:]] == [
        "Arrow, integers",
        "Arrow, texts",
        "polars, integers",
        "polars, texts",
        "pandas, integers",
        "pandas, texts",
        "pandas, objects, no label",
        "numpy, integers, no label or time",
    ]
    for name, rate, spread, alone in rows[2:]:
        least, most = (float(number) for number in spread.split(" to "))
        assert re.fullmatch(r"\d+\.\d", rate) and re.fullmatch(r"\d+\.\d", alone), name
        assert least <= float(rate) <= most, name
