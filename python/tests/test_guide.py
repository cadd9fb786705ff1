"""The examples of the guide run as they stand."""

from __future__ import annotations

import re
from typing import Any

from conftest import ROOT


def blocks_of(page: str) -> list[str]:
    return re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(), re.DOTALL)


def test_the_first_example_finds_a_ring_and_its_rows_are_found_again() -> None:
    names: dict[str, Any] = {}
    blocks = blocks_of("docs/guide/python.md")
    exec(blocks[0], names)
    assert list(names["rings"]["sign"]) == ["+"]
    (rows,) = [block for block in blocks if "numbered =" in block]
    exec(rows, names)
    steps = names["steps"]
    assert len(names["rings"]) == 1 and list(steps["amount"]) == [900.0, 880.0, 850.0]
    assert [edge["source"] for edge in steps["edges"]] == list(steps["source"])


def test_the_example_of_the_package_finds_a_ring() -> None:
    names: dict[str, Any] = {}
    (example,) = blocks_of("python/README.md")
    exec(example, names)
    assert list(names["rings"]["sign"]) == ["+"]
