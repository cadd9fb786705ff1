"""The notebook runs from top to bottom, and says what its readers are told."""

from __future__ import annotations

import pathlib

import pytest

EXAMPLES = pathlib.Path(__file__).resolve().parents[1] / "examples"


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.ipynb")), ids=lambda path: path.stem)
def test_a_notebook_runs(path: pathlib.Path) -> None:
    nbformat = pytest.importorskip("nbformat")
    nbclient = pytest.importorskip("nbclient")
    book = nbformat.read(path, as_version=4)
    nbclient.NotebookClient(book, timeout=300, resources={"metadata": {"path": str(EXAMPLES)}}).execute()
    texts = [output.get("text", "") for cell in book.cells for output in cell.get("outputs", [])]
    assert any("found 20 of 20 planted rings" in text for text in texts)
    assert any(text.startswith("row 1, bad_id:") for text in texts)
    assert not [output for cell in book.cells for output in cell.get("outputs", []) if output.get("name") == "stderr"]
