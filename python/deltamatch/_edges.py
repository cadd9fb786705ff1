"""The edges of matches as a flat frame."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar, overload

from deltamatch._frames import kind_of
from deltamatch._table import EDGES, Table
from deltamatch.errors import ConfigurationError

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl

    Frame = TypeVar("Frame", pd.DataFrame, pl.DataFrame)

__all__ = ["edge_rows"]

_OF_MATCH = ["query", "sign", "batch", "id"]
_OF_EDGE = ["edge", "step", "source", "label", "target"]


@overload
def edge_rows(matches: Frame) -> Frame: ...
@overload
def edge_rows(matches: object) -> Any: ...
def edge_rows(matches: Any) -> Any:
    """Makes a row of each edge of each match, in the order of the matches and of their edges.

    ::

        flat = deltamatch.edge_rows(rings)
        flat.groupby("id", sort=False)[["source", "amount", "time"]].agg(list)  # a row for each ring

    Args:
        matches: a frame of matches, or some of its rows.

    Returns:
        A frame of the same kind; for a ``deltamatch.Table`` a table of pyarrow. Its columns are ``query``, ``sign``, ``batch`` and
        ``id`` of the match, and ``edge``, ``step``, ``source``, ``label`` and ``target``. With keys or events there are also
        ``key`` or ``ordinal``, ``time``, and each attribute. An attribute that is called like another column has the prefix
        ``attributes.``. The columns are the same if there are no matches. For a frame of pandas, ``matches.attrs`` says which
        these are.

    Raises:
        ConfigurationError: it is no frame of matches.
    """
    kind = kind_of(matches)
    if kind == "table" and not hasattr(matches, "__arrow_c_stream__"):
        raise ConfigurationError.of("matches", f"is no frame, but a {type(matches).__name__}", "give what replay or process returned")
    if kind not in ("pandas", "polars"):
        matches = _arrow_of(matches)
    names = list(matches.column_names if kind in ("table", "arrow") else matches.columns)
    for name in (*_OF_MATCH, "edges"):
        if name not in names:
            raise ConfigurationError.of("matches", f"has no column `{name}`", "give the matches with all of their columns")
    return _of_pandas(matches) if kind == "pandas" else _of_polars(matches) if kind == "polars" else _of_arrow(matches)


def _arrow_of(matches: Any) -> Any:
    if isinstance(matches, Table):
        return matches.to_arrow()
    import pyarrow  # type: ignore[import-untyped]

    return pyarrow.table(matches)


def _columns_of(attributes: list[str], others: list[str]) -> list[str]:
    """The names of the columns that hold the attributes."""
    taken = {*_OF_MATCH, *others}
    return [f"attributes.{name}" if name in taken else name for name in attributes]


def _of_pandas(matches: Any) -> Any:
    import pandas

    edges = [edge for listed in matches["edges"] for edge in listed]
    places = [place for place, listed in enumerate(matches["edges"]) for _ in listed]
    types: dict[str, Any] = matches.attrs.get(EDGES) or {name: None for name in (edges[0] if edges else _OF_EDGE)}
    others = [name for name in types if name != "attributes"]
    attributes = types.get("attributes") or {name: None for name in (edges[0].get("attributes", ()) if edges else ())}
    flat = matches[_OF_MATCH].iloc[places].reset_index(drop=True)
    for name in others:
        flat[name] = pandas.Series([edge[name] for edge in edges], dtype=types[name])
    for name, column in zip(attributes, _columns_of(list(attributes), others)):
        flat[column] = pandas.Series([edge["attributes"][name] for edge in edges], dtype=attributes[name])
    flat.attrs = {}
    return flat


def _of_polars(matches: Any) -> Any:
    import polars

    there = polars.col("edges").list.len() > 0
    flat = matches.select(*_OF_MATCH, "edges").filter(there).explode("edges").unnest("edges")
    if "attributes" not in flat.columns:
        return flat
    attributes = [field.name for field in flat.schema["attributes"].fields]
    columns = _columns_of(attributes, flat.columns)
    return flat.with_columns(polars.col("attributes").struct.rename_fields(columns)).unnest("attributes")


def _of_arrow(matches: Any) -> Any:
    import pyarrow.compute  # type: ignore[import-untyped]

    edges = matches["edges"].combine_chunks()
    flat = matches.select(_OF_MATCH).take(pyarrow.compute.list_parent_indices(edges))
    items = edges.flatten()
    for field, values in zip(items.type, items.flatten()):
        if field.name != "attributes":
            flat = flat.append_column(field.name, values)
            continue
        for column, attribute in zip(_columns_of([member.name for member in field.type], flat.column_names), values.flatten()):
            flat = flat.append_column(column, attribute)
    return flat
