"""The examples of the guide run as they stand."""

from __future__ import annotations

import decimal
import pathlib
import re
from typing import Any

import polars as pl
import pytest
from conftest import ROOT


def blocks_of(page: str, language: str = "python") -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", (ROOT / page).read_text(), re.DOTALL)


def test_the_first_example_finds_a_ring_and_its_rows(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = "docs/guide/python.md"
    names: dict[str, Any] = {}
    blocks = blocks_of(page)
    (table,) = blocks_of(page, "csv")
    (tmp_path / "payments.csv").write_text(table)
    monkeypatch.chdir(tmp_path)
    exec(blocks[0], names)
    payments, rings = names["payments"], names["rings"]
    assert list(rings["sign"]) == ["+"]

    (flat,) = [block for block in blocks if "json_normalize(steps" in block]
    exec(flat, names)
    amounts = [decimal.Decimal("900.00"), decimal.Decimal("880.00"), decimal.Decimal("850.00")]
    rows = names["flat"]
    assert list(rows["id"]) == list(rings["id"]) * 3 and list(rows["attributes.amount"]) == amounts
    assert list(rows["source"]) == list(payments["payer"]) and list(rows["time"].dt.tz_localize(None)) == list(payments["booked_at"])

    (numbered,) = [block for block in blocks if "numbered =" in block]
    exec(numbered, names)
    steps = names["steps"]
    assert len(names["rings"]) == 1 and list(steps["amount"]) == [900.0, 880.0, 850.0]
    assert [edge["source"] for edge in steps["edges"]] == list(steps["payer"])

    (polars,) = blocks_of(page, "py")
    of_polars: dict[str, Any] = {"rings": pl.from_pandas(rings)}
    exec(polars, of_polars)
    assert list(of_polars["flat"]["amount"]) == amounts


def test_the_example_of_the_package_finds_a_ring() -> None:
    names: dict[str, Any] = {}
    (example,) = blocks_of("python/README.md")
    exec(example, names)
    assert list(names["rings"]["sign"]) == ["+"]
