"""Arguments that several functions share: what they are, and how the extension takes them."""

from __future__ import annotations

import difflib
import inspect
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from datetime import timedelta
from typing import Any, Literal, TypedDict, TypeVar, get_args, get_origin, get_type_hints

from deltamatch import _core
from deltamatch.errors import ConfigurationError

Span = str | timedelta
Attributes = str | Iterable[str] | Mapping[str, str | None]
_ColumnKind = tuple[str, int, str]


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


class RestoreOptions(ColumnOptions, total=False):
    """What a snapshot does not bring."""

    threads: int


# What each option is, and what it is unless it is given.
_TOLD: dict[str, tuple[object, str]] = {
    "source": (None, "the column of the vertices that edges come from"),
    "target": (None, "the column of the vertices that edges lead to"),
    "label": (None, "the column of the labels of edges"),
    "source_label": (None, "the column of the labels of sources"),
    "target_label": (None, "the column of the labels of targets"),
    "time": (None, "the column of the times of edges"),
    "op": (None, "the column of operations: +, insert, -, delete and others"),
    "deleted": (None, "the column of a flag that says deletions"),
    "key": (None, "the column of the keys of edges, with edges='keyed'"),
    "vertex": (None, "the column of ids in a frame of vertices"),
    "labels": (None, "the column of labels in a frame of vertices"),
    "ids": ("automatic", "'integer' reads texts as integers, 'string' makes texts of all ids"),
    "time_unit": ("s", "what numbers that are times count: 's', 'ms' or 'us'"),
    "time_format": (None, "how texts that are times are written, such as '%d.%m.%Y %H:%M'; else ISO 8601"),
    "op_values": (None, "further words for operations, such as '+=new,-=gone'"),
    "edge_label": (None, "the label of edges that have none"),
    "on_error": ("fail", "'skip' leaves refused rows out, counts them and warns"),
    "edges": ("simple", "'keyed' if each edge has a key, 'events' if each row is an edge of its own"),
    "attributes": (None, "attributes of edges: names, or names with types; else those that patterns read"),
    "vertex_attributes": (None, "the same for vertices"),
    "directed": (True, "False: edges have no direction"),
    "self_loops": ("leave-out", "'keep' keeps edges from a vertex to itself"),
    "window": (None, "how long edges live, such as '24h'"),
    "allowed_lateness": (None, "how late a row may come, such as '5m'"),
    "order": ("arrival", "'time': of an edge the record with the latest time counts, also if it comes late; rows are not sorted"),
    "threads": (0, "how many threads work; 0 are all of the machine"),
    "mode": ("isomorphism", "which vertices or edges of a match differ: also 'edge-distinct' or 'homomorphism'"),
    "count": (None, "'subgraphs' or 'embeddings'"),
    "induced": (False, "whether matches are induced"),
}


_UNITS = {"us": 1, "ms": 1_000, "s": 1_000_000, "m": 60_000_000, "h": 3_600_000_000, "d": 86_400_000_000}
_LONGEST = (1 << 63) - 1
_ROLES = ("source", "target", "label", "source_label", "target_label", "time", "op", "deleted", "vertex", "labels")
_READING = ("ids", "time_unit", "time_format", "op_values", "edge_label", "on_error")
_GRAPH = tuple(GraphOptions.__annotations__)
_PATTERN = tuple(PatternOptions.__annotations__)

Function = TypeVar("Function", bound=Callable[..., Any])


def lists(options: type) -> Callable[[Function], Function]:
    """Lists the options that a function takes as ``**options`` in its signature and its help."""

    def listed(function: Function) -> Function:
        types = get_type_hints(options)
        own = inspect.signature(function)
        named = [parameter for parameter in own.parameters.values() if parameter.kind is not parameter.VAR_KEYWORD]
        added = [
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=_TOLD[name][0], annotation=types[name])
            for name in types
            if name not in own.parameters
        ]
        lines = [f"    {parameter.name}: {_TOLD[parameter.name][1]}." for parameter in added]
        function.__signature__ = own.replace(parameters=[*named, *added])  # type: ignore[attr-defined]
        function.__doc__ = "\n".join((inspect.cleandoc(function.__doc__ or ""), "", "Options:", *lines))
        return function

    return listed


def check_names(function: Callable[..., Any], options: Mapping[str, object]) -> None:
    """Refuses options that a function does not list, as Python does.

    Raises:
        TypeError: there is one.
    """
    known = inspect.signature(function).parameters
    for name in options:
        if name not in known:
            told = "Engine" if function.__name__ == "__init__" else function.__name__
            close = difflib.get_close_matches(name, known, n=1)
            hint = f". Did you mean '{close[0]}'?" if close else ""
            raise TypeError(f"{told}() got an unexpected keyword argument '{name}'{hint}")
    check_values(options)


def readable(text: str, where: str) -> str:
    """A text that UTF-8 can say.

    Raises:
        ConfigurationError: it has half a pair of surrogates.
    """
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ConfigurationError.of(where, f"{text!r} is no text in Unicode", "remove the lone surrogate") from None
    return text


_FLAGS = ("directed", "induced")
_CHOICES = {name: get_args(type_) for name, type_ in get_type_hints(FrameOptions).items() if get_origin(type_) is Literal}
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
        elif name in _CHOICES:
            if not isinstance(value, str) or value not in _CHOICES[name]:
                raise ConfigurationError.of(name, f"{value!r} is not a choice", f"choose one of {', '.join(map(repr, _CHOICES[name]))}")
        elif not isinstance(value, str):
            raise ConfigurationError.of(name, f"{value!r} is no text", "give a text")
        else:
            readable(value, name)


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


_DECLARE = "write 'amount:decimal(2)' or {'amount': 'decimal(2)'}"


def _entries_of(entries: object, name: str) -> list[str]:
    if not isinstance(entries, Iterable):
        raise ConfigurationError.of(name, f"{entries!r} declares no attribute", _DECLARE)
    found = []
    for entry in entries:
        if not isinstance(entry, str):
            raise ConfigurationError.of(name, f"{entry!r} declares no attribute", _DECLARE)
        found.append(entry)
    return found


def _declarations(attributes: Attributes, name: str) -> dict[str, tuple[str | None, str]]:
    """The type, or None, and the column of each attribute."""
    if isinstance(attributes, Mapping):
        declared = {key: type_ for key, type_ in attributes.items()}
    else:
        entries = re.split(r",(?![^(]*\))", attributes) if isinstance(attributes, str) else attributes
        declared = {}
        for entry in _entries_of(entries, name):
            told, sign, stated = entry.strip().partition(":")
            declared[told] = stated if sign else None
    result = {}
    for key, type_ in declared.items():
        if not isinstance(key, str) or not key or (type_ is not None and not isinstance(type_, str)):
            raise ConfigurationError.of(name, f"{key!r}: {type_!r} declares no attribute", _DECLARE)
        readable(key + (type_ or ""), name)
        kind, _, column = (type_ or "").partition("=")
        result[key] = (kind or None, column or key)
    return result


_TYPES = {"integer": "int", "boolean": "bool", "text": "symbol", "time": "time"}


def _type_of(attribute: str, column: str, columns: Mapping[str, _ColumnKind], where: str) -> str:
    """The type of an attribute by its column."""
    kind, scale, told = columns[column]
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
    declare = f"declare what `{attribute}` is: attributes={{'{attribute}': 'symbol'}}, or 'int', 'decimal(2)', 'float', 'bool', 'time'"
    if told in ("null", "object"):
        raise ConfigurationError.of(where, f"the column `{column}` is empty, or holds values of several types", declare)
    if kind == "decimal":
        raise ConfigurationError.of(where, f"the column `{column}` has {scale} digits after the point, and an attribute at most 18", declare)
    raise ConfigurationError.of(
        where,
        f"the column `{column}` is a {told}, which no attribute can be",
        "make it a column of numbers, texts, times or booleans, or leave the attribute out",
    )


def declare(
    attributes: Attributes | None, read: Collection[str], source: _core.Source | None, name: str
) -> list[tuple[str, str | None, str]]:
    """Name, type and column of each attribute. Without ``attributes``, those that patterns read and the table has. A type that
    is not stated is None.

    Raises:
        ConfigurationError: types have to follow from a table, which is not there.
    """
    if source is None and name == "attributes" and (read if attributes is None else needs_columns(attributes, name)):
        raise ConfigurationError.of(
            name,
            "the types of attributes are not known yet: they follow from the first frame of edges",
            "declare them, as in attributes={'amount': 'decimal(2)'}, or give edges first",
        )
    if attributes is None:
        there = {column for column, _, _, _ in source.columns} if source is not None else set()
        return [(key, None, key) for key in sorted(read) if key in there]
    return [(key, type_, column) for key, (type_, column) in _declarations(attributes, name).items()]


def check_columns(source: _core.Source, options: Mapping[str, Any], declared: list[tuple[str, str | None, str]]) -> None:
    """Finds the ends and keys of edges in a table, before types follow from it.

    Raises:
        ConfigurationError: there are none.
    """
    there = {column for column, _, _, _ in source.columns}
    present = [(key, type_ or "symbol", column) for key, type_, column in declared if column in there]
    source.check(read_settings(options, {"attributes": present, "vertex_attributes": []}, False), graph_settings(options))


def with_types(
    declared: list[tuple[str, str | None, str]], source: _core.Source | None, name: str, where: str
) -> list[tuple[str, str, str]]:
    """The attributes with the types that follow from columns.

    Raises:
        ConfigurationError: a column is missing, or has no type that an attribute can have.
    """
    columns = {column: (kind, scale, told) for column, kind, scale, told in source.columns} if source is not None else {}
    for key, type_, column in declared:
        if type_ is None and column not in columns:
            names = ", ".join(f"`{other}`" for other in columns) or "none"
            raise ConfigurationError.of(
                where,
                f"there is no column `{column}`; the columns are {names}",
                f"name the column of the attribute: {name}={{'{key}': 'decimal(2)=COLUMN'}}, or leave the attribute out",
            )
    return [(key, type_ or _type_of(key, column, columns, where), column) for key, type_, column in declared]


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
