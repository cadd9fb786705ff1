"""Tables of results."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from deltamatch import _core
from deltamatch.errors import ConfigurationError

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa  # type: ignore[import-untyped]

__all__ = ["Table"]

# What a column of pandas is, by the format of Arrow and whether values may be missing. Other columns hold objects.
_DTYPES = {
    ("i", False): "int32",
    ("i", True): "Int32",
    ("l", False): "int64",
    ("l", True): "Int64",
    ("g", True): "float64",
    ("b", True): "boolean",
    ("u", False): "str",
    ("u", True): "str",
    ("tsu:UTC", True): "datetime64[us, UTC]",
}

# Where a frame of pandas says what its edges have, whether it has rows or not: the dtype of each member and each attribute.
EDGES = "deltamatch.edges"
_Field = tuple[str, str, bool, tuple[Any, ...]]  # format, name, whether values may be missing, members
_NEVER_MISSING = ("source", "target", "key", "ordinal")


def _dtypes(fields: Iterable[_Field]) -> dict[str, Any]:
    """The dtypes of the members of a struct, and of structs in it."""
    return {
        name: _dtypes(members) if members else _DTYPES.get((format_, nullable and name not in _NEVER_MISSING), "object")
        for format_, name, nullable, members in fields
    }


class Table:
    """A table of results in Arrow's memory.

    Whatever speaks Arrow's PyCapsule interface takes it without a copy: ``pyarrow.table(t)``, ``polars.DataFrame(t)``, or
    DuckDB, by the name of the variable in a query.
    """

    def __init__(self, held: _core.ArrowTable) -> None:
        self._held = held

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self._held.__arrow_c_stream__(requested_schema)

    def __arrow_c_schema__(self) -> object:
        return self._held.__arrow_c_schema__()

    def __len__(self) -> int:
        return len(self._held)

    def __repr__(self) -> str:
        return f"<deltamatch.Table of {len(self)} rows: {', '.join(self.column_names)}>"

    @property
    def column_names(self) -> list[str]:
        """The names of the columns, in their order."""
        return list(self._held.column_names)

    def to_pylist(self) -> list[dict[str, Any]]:
        """The rows as dictionaries. Needs no other package. O(cells)."""
        rows: list[dict[str, Any]] = self._held.to_pylist()
        return rows

    def to_arrow(self) -> pa.Table:
        """The table as one of pyarrow, without a copy."""
        try:
            import pyarrow
        except ImportError:
            raise ConfigurationError.of("to_arrow", "pyarrow is not installed", "pip install pyarrow") from None
        return pyarrow.table(self)

    def to_pandas(self) -> pd.DataFrame:
        """The table as a frame of pandas, which copies. Structs are dictionaries, and lists are lists.

        Integers stay integers, also where values are missing: a column that may lack some is an ``Int64``.
        """
        import pandas

        columns = {
            name: pandas.Series(self._held.values(place), dtype=_DTYPES.get((format_, nullable), "object"))
            for place, (format_, name, nullable, _) in enumerate(self._held.fields)
        }
        frame = pandas.DataFrame(columns)
        for _, name, _, items in self._held.fields:
            if name == "edges" and items:
                frame.attrs[EDGES] = _dtypes(items[0][3])
        return frame

    def to_polars(self) -> pl.DataFrame:
        """The table as a frame of polars."""
        import polars

        return polars.DataFrame(self)
