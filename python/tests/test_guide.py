"""The examples of the guide run as they stand."""

from __future__ import annotations

import decimal
import pathlib
import re
from typing import Any

import pytest
from conftest import ROOT


def blocks_of(page: str, language: str = "python") -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", (ROOT / page).read_text(), re.DOTALL)


def test_the_examples_on_payments_run_one_after_the_other(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    page = "docs/guide/python.md"
    names: dict[str, Any] = {}
    blocks = blocks_of(page)
    (table,) = blocks_of(page, "csv")
    (tmp_path / "payments.csv").write_text(table)
    monkeypatch.chdir(tmp_path)
    exec(blocks[0], names)
    (printed,) = blocks_of(page, "text")
    assert capsys.readouterr().out == printed
    payments, rings = names["payments"], names["rings"]

    (flat,) = [block for block in blocks if "per_ring =" in block]
    exec(flat, names)
    amounts = [decimal.Decimal("900.00"), decimal.Decimal("880.00"), decimal.Decimal("850.00")]
    rows = names["flat"]
    assert list(rows["id"]) == list(rings["id"]) * 3 and list(rows["amount"].astype(float)) == [900.0, 880.0, 850.0]
    assert list(rows["source"]) == list(payments["payer"]) and list(rows["time"].dt.tz_localize(None)) == list(payments["booked_at"])
    assert names["per_ring"].loc[rings["id"].iloc[0]].tolist() == [["ann", "bob", "cyd"], amounts, list(rows["time"])]
    assert {str(day): count for day, count in names["per_day"].items()} == {"2026-01-05": 1}
    none: dict[str, Any] = {**names, "rings": rings.head(0)}
    exec(flat, none)
    assert list(none["flat"].columns) == list(rows.columns) and len(none["per_ring"]) == len(none["per_day"]) == 0

    (numbered,) = [block for block in blocks if "numbered =" in block]
    exec(numbered, names)
    assert len(names["rings"]) == 1 and list(names["rows"]["amount"]) == [900.0, 880.0, 850.0]
    assert list(names["rows"]["source"]) == list(names["rows"]["payer"])

    (engine,) = [block for block in blocks if "engine.save" in block]
    exec(engine, names)
    assert capsys.readouterr().out == "['+']\n['-']\n"


def test_the_example_of_the_package_finds_a_ring() -> None:
    names: dict[str, Any] = {}
    (example,) = blocks_of("python/README.md")
    exec(example, names)
    assert list(names["rings"]["sign"]) == ["+"]
