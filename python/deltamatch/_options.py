"""Arguments that several functions share: what they are, and how the extension takes them."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from datetime import timedelta
from typing import Any, Literal, TypedDict

from deltamatch import _core
from deltamatch.errors import ConfigurationError

Span = str | timedelta
Attributes = str | Iterable[str] | Mapping[str, str | None]


class ColumnOptions(TypedDict, total=False):
    """Which columns of a frame are what, and how their values are read.

    A column is found by its usual names (``source``, ``src``, ``from``; ``target``, ``dst``, ``to``; ``label``, ``type``;
    ``time``, ``timestamp``; ``op``; …) unless an argument names it. The empty text says that there is none.
    docs/guide/python.md explains each.
    """

    source: str
    target: str
    label: str
    source_label: str
    target_label: str
    time: str
    op: str
    deleted: str
    key: str
    vertex: str
    labels: str
    ids: Literal["automatic", "integer", "string"]
    time_unit: Literal["s", "ms", "us"]
    time_format: str
    op_values: str
    edge_label: str
    on_error: Literal["fail", "skip"]


class GraphOptions(TypedDict, total=False):
    """What the graph is, and how long its edges live."""

    edges: Literal["simple", "keyed", "events"]
    attributes: Attributes | None
    vertex_attributes: Attributes | None
    directed: bool
    self_loops: Literal["leave-out", "keep"]
    window: Span | None
    allowed_lateness: Span | None
    order: Literal["arrival", "time"]
    threads: int


class PatternOptions(TypedDict, total=False):
    """How matches are told apart and counted."""

    mode: Literal["isomorphism", "edge-distinct", "homomorphism"]
    count: Literal["subgraphs", "embeddings"]
    induced: bool


class FrameOptions(ColumnOptions, GraphOptions, PatternOptions, total=False):
    """All of them."""


_UNITS = {"us": 1, "ms": 1_000, "s": 1_000_000, "m": 60_000_000, "h": 3_600_000_000, "d": 86_400_000_000}
_LONGEST = (1 << 63) - 1
_ROLES = ("source", "target", "label", "source_label", "target_label", "time", "op", "deleted", "vertex", "labels")
_READING = ("ids", "time_unit", "time_format", "op_values", "edge_label", "on_error")
_GRAPH = tuple(GraphOptions.__annotations__)
_PATTERN = tuple(PatternOptions.__annotations__)
_ALL = frozenset((*ColumnOptions.__annotations__, *_GRAPH, *_PATTERN))


def check_names(function: str, options: Mapping[str, object]) -> None:
    """Refuses arguments that do not exist, as Python does.

    Raises:
        TypeError: there is one.
    """
    for name in options:
        if name not in _ALL:
            raise TypeError(f"{function}() got an unexpected keyword argument '{name}'")
    check_values(options)


_FLAGS = ("directed", "induced")
_SPANS = ("window", "allowed_lateness", "attributes", "vertex_attributes")


def check_values(options: Mapping[str, object]) -> None:
    """Refuses arguments of a wrong type. The extension knows which words there are.

    Raises:
        ConfigurationError: there is one.
    """
    for name, value in options.items():
        if value is None or name in _SPANS:
            continue
        if name == "threads":
            whole_number(value, name, 0)
        elif name in _FLAGS:
            if not isinstance(value, bool):
                raise ConfigurationError.of(name, f"{value!r} is no bool", "give True or False")
        elif not isinstance(value, str):
            raise ConfigurationError.of(name, f"{value!r} is no text", "give a text")


def whole_number(value: object, name: str, least: int, most: int = (1 << 31) - 1) -> int:
    """A whole number within bounds.

    Raises:
        ConfigurationError: it is none.
    """
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise ConfigurationError.of(name, f"{value!r} is not possible", f"give a whole number from {least} to {most}")
    return value


def microseconds(span: Span | None, name: str) -> int | None:
    """A span of time: '250ms', '24h' or a timedelta.

    Raises:
        ConfigurationError: it is none, or not above 0.
    """
    if span is None:
        return None
    value = 0
    if isinstance(span, timedelta):
        value = span // timedelta(microseconds=1)
    elif isinstance(span, str) and (parts := re.fullmatch(r"(\d+)(us|ms|s|m|h|d)", span)):
        value = int(parts[1]) * _UNITS[parts[2]]
    if not 0 < value <= _LONGEST:
        raise ConfigurationError.of(
            name, f"{span!r} is not a duration", "write a whole number above 0 and its unit, e.g. '250ms', '10s', '24h', or give a timedelta"
        )
    return value


def _declarations(attributes: Attributes, name: str) -> dict[str, tuple[str | None, str]]:
    """The type, or None, and the column of each attribute."""
    if isinstance(attributes, Mapping):
        declared = {key: type_ for key, type_ in attributes.items()}
    else:
        entries = re.split(r",(?![^(]*\))", attributes) if isinstance(attributes, str) else attributes
        declared = {}
        for entry in entries:
            key, sign, type_ = entry.strip().partition(":")
            declared[key] = type_ if sign else None
    result = {}
    for key, type_ in declared.items():
        if not isinstance(key, str) or not key or (type_ is not None and not isinstance(type_, str)):
            raise ConfigurationError.of(name, f"{key!r}: {type_!r} declares no attribute", "write 'amount:decimal(2)' or {'amount': 'decimal(2)'}")
        kind, _, column = (type_ or "").partition("=")
        result[key] = (kind or None, column or key)
    return result


_TYPES = {"integer": "int", "boolean": "bool", "text": "symbol", "time": "time"}


def _type_of(attribute: str, column: str, columns: Mapping[str, tuple[str, int]], where: str) -> str:
    """The type of an attribute by its column."""
    if column not in columns:
        names = ", ".join(f"`{name}`" for name in columns)
        raise ConfigurationError.of(where, f"there is no column `{column}`; the columns are {names}", f"correct the attribute `{attribute}`")
    kind, scale = columns[column]
    if kind in _TYPES:
        return _TYPES[kind]
    if kind == "decimal" and scale <= 18:
        return f"decimal({scale})"
    if kind == "real":
        raise ConfigurationError.of(
            where,
            f"the column `{column}` holds floats, and a float is no exact amount",
            f"declare the attribute: attributes={{'{attribute}': 'decimal(2)'}} for money, or 'float' or 'int'",
        )
    raise ConfigurationError.of(
        where, f"the column `{column}` has no type that an attribute has", f"declare it: attributes={{'{attribute}': 'symbol'}}, or leave it out"
    )


def declare(
    attributes: Attributes | None, read: Collection[str], source: _core.Source | None, name: str, where: str
) -> list[tuple[str, str, str]]:
    """Name, type and column of each attribute. Without ``attributes``, those that patterns read and the table has.

    Raises:
        ConfigurationError: a column is missing, or has no type that an attribute can have.
    """
    if source is None and name == "attributes" and (read if attributes is None else needs_columns(attributes, name)):
        raise ConfigurationError.of(
            name,
            "the types of attributes are not known yet: they follow from the first frame of edges",
            "declare them, as in attributes={'amount': 'decimal(2)'}, or give edges first",
        )
    columns = {column: (kind, scale) for column, kind, scale in source.columns} if source is not None else {}
    declared = (
        {key: (None, key) for key in sorted(read) if key in columns} if attributes is None else _declarations(attributes, name)
    )
    return [(key, type_ or _type_of(key, column, columns, where), column) for key, (type_, column) in declared.items()]


def needs_columns(attributes: Attributes | None, name: str) -> bool:
    """Whether types of attributes follow from a table."""
    return attributes is None or any(type_ is None for type_, _ in _declarations(attributes, name).values())


def graph_settings(options: Mapping[str, Any]) -> dict[str, Any]:
    """What the engine is made with, except its attributes."""
    return {
        "edges": options.get("edges", "simple"),
        "directed": options.get("directed", True),
        "self_loops": options.get("self_loops", "leave-out"),
        "window": microseconds(options.get("window"), "window"),
        "allowed_lateness": microseconds(options.get("allowed_lateness"), "allowed_lateness"),
        "order": options.get("order", "arrival"),
        "threads": options.get("threads", 0),
    }


def pattern_settings(options: Mapping[str, Any]) -> dict[str, Any]:
    """How patterns are matched."""
    return {key: options[key] for key in _PATTERN if key in options}


def read_settings(options: Mapping[str, Any], declared: Mapping[str, Any], vertices: bool) -> dict[str, Any]:
    """How a table is read. Of a table of vertices, only its own roles count."""
    roles = {role: options[role] for role in _ROLES if options.get(role) is not None}
    if options.get("key") is not None:
        roles["edge"] = options["key"]
    if vertices:
        roles = {role: name for role, name in roles.items() if role in ("vertex", "labels")}
    else:
        roles = {role: name for role, name in roles.items() if role not in ("vertex", "labels")}
    settings = {key: options[key] for key in _READING if options.get(key) is not None}
    return {**settings, **declared, "roles": roles, "vertices": vertices}
