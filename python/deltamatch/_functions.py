"""One call for a whole frame."""

from __future__ import annotations

import atexit
import weakref
from collections.abc import Iterator, Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Any, TypeVar, overload

from deltamatch import _core
from deltamatch._engine import Engine, Report, _conclude
from deltamatch._frames import kind_of, source_of
from deltamatch._options import FrameOptions, Span, check_names, lists, microseconds, whole_number
from deltamatch._patterns import Patterns
from deltamatch._table import Table
from deltamatch.errors import ConfigurationError

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    from typing_extensions import Self, Unpack

    # pyarrow has no types: its tables are Any, and so is what comes back for them.
    Frame = TypeVar("Frame", pd.DataFrame, pl.DataFrame)

__all__ = ["Replay", "cliques", "count", "match", "motifs", "replay", "stream"]

_CHUNK = 1 << 16  # matches that a stream holds, about
_EVERYTHING = (1 << 64) - 1


class Replay(Iterator[Any]):
    """The matches of a stream, frame by frame. ``report`` is there once all frames have been taken.

    A loop that ends early frees it once nothing refers to it; ``close`` or ``with`` does so at once.
    """

    def __init__(self, engine: Engine, frame: Any, patterns: Patterns, matches: int, settings: dict[str, Any], arguments: dict[str, Any]) -> None:
        self.report: Report | None = None
        self._engine = engine
        engine.register(patterns, within=arguments["within"], max_matches=arguments["max_matches"])
        kind = kind_of(frame)
        source = source_of(frame, "frame")
        vertices = None if arguments["vertices"] is None else source_of(arguments["vertices"], "vertices")
        if engine._held is None:
            engine._make(source, vertices)
        given = [table for table in (arguments["vertices"], arguments["start"]) if table is not None]
        if vertices is not None:
            engine._load(vertices, vertices=True, watch_ids=True)
        if arguments["start"] is not None:
            engine._load(source_of(arguments["start"], "start"), vertices=False, watch_ids=True)
        engine._kind = kind
        self._reading: _core.Reading | None = engine._open(source, watch_ids=bool(given), read_ahead=1, within_window=True, **settings)
        self._frames: Iterator[Any] = engine._run(self._reading, kind, matches)
        _open.add(self)

    def _all(self) -> Any:
        """The one frame of all matches."""
        with self._engine._used():
            (matches,) = self._frames
        self._conclude()
        return matches

    def _conclude(self) -> None:
        if self._reading is not None:
            self.report = _conclude(self._reading, self._engine._engine().absent_labels(False), self._engine._numbers())
            self.close()

    def __next__(self) -> Any:
        with self._engine._used():
            frame = next(self._frames, None)
        if frame is None:
            self._conclude()
            raise StopIteration
        return frame

    def close(self) -> None:
        """Ends it before its end: no more of the input is read. Waits until what is being read has come."""
        self._reading = None
        self._frames = iter(())
        _open.discard(self)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()


_open: weakref.WeakSet[Replay] = weakref.WeakSet()


@atexit.register
def _close_all() -> None:
    """Ends the threads that still read before the interpreter is gone."""
    for replay in list(_open):
        replay.close()


def _check_order(options: Mapping[str, Any], engine: Engine) -> None:
    """Refuses what would keep deletions for ever, and a lateness that nothing heeds."""
    patterns = [pattern for pattern, _, _, _ in engine._standing.values()]
    window = options.get("window")
    if options.get("order") == "time" and window is None:
        if options.get("edges", "simple") == "simple" or any(pattern.within is None for pattern in patterns):
            raise ConfigurationError.of(
                "order",
                "deletions would be remembered for ever, because there is no window",
                "give window, or edges='keyed' or 'events' and within, or patterns that end with WITHIN TIME",
            )
    if options.get("allowed_lateness") is not None and not any(pattern.allows_lateness for pattern in patterns):
        raise ConfigurationError.of("allowed_lateness", "no pattern heeds how late records may come", "leave it out, or give within")


@lists(FrameOptions)
def stream(
    frame: Any,
    patterns: Patterns,
    *,
    within: Span | None = None,
    batch: int | None = None,
    batch_span: Span | None = None,
    max_ahead: Span | None = "1d",
    max_matches: int | None = None,
    vertices: Any = None,
    start: Any = None,
    chunk: int = _CHUNK,
    **options: Unpack[FrameOptions],
) -> Replay:
    """Like ``replay``, as an iterator over frames of matches. It holds few matches at a time, however many there are.

    Args:
        chunk: a frame is given once it has so many matches, at the end of a batch. 1: as soon as there are any.

    ::

        for matches in deltamatch.stream(payments, "config/patterns", edges="keyed"):
            handle(matches)
    """
    check_names(stream, options)
    if batch is not None:
        whole_number(batch, "batch", 1)
    if max_matches is not None:
        whole_number(max_matches, "max_matches", 1, _EVERYTHING)
    whole_number(chunk, "chunk", 1, _EVERYTHING)
    span = microseconds(batch_span, "batch_span")
    settings = {
        "batch": batch if batch is not None else (0 if span else 8192),
        "batch_span": span,
        "max_ahead": microseconds(max_ahead, "max_ahead"),
    }
    engine = Engine(**options)
    arguments = {"within": within, "max_matches": max_matches, "vertices": vertices, "start": start}
    made = Replay(engine, frame, patterns, chunk, settings, arguments)
    _check_order(options, engine)
    return made


@overload
def replay(  # type: ignore[overload-overlap]
    frame: Frame,
    patterns: Patterns,
    *,
    within: Span | None = None,
    batch: int | None = None,
    batch_span: Span | None = None,
    max_ahead: Span | None = "1d",
    max_matches: int | None = None,
    vertices: Any = None,
    start: Any = None,
    **options: Unpack[FrameOptions],
) -> Frame: ...
@overload
def replay(
    frame: object,
    patterns: Patterns,
    *,
    within: Span | None = None,
    batch: int | None = None,
    batch_span: Span | None = None,
    max_ahead: Span | None = "1d",
    max_matches: int | None = None,
    vertices: Any = None,
    start: Any = None,
    **options: Unpack[FrameOptions],
) -> Table: ...
@lists(FrameOptions)
def replay(
    frame: Any,
    patterns: Patterns,
    *,
    within: Span | None = None,
    batch: int | None = None,
    batch_span: Span | None = None,
    max_ahead: Span | None = "1d",
    max_matches: int | None = None,
    vertices: Any = None,
    start: Any = None,
    **options: Unpack[FrameOptions],
) -> Any:
    """Feeds a frame to patterns, batch by batch, and returns the matches that appeared and vanished.

    It gives what ``deltamatch replay`` gives for a file with these rows.

    Args:
        frame: a row is an update: an edge that is inserted, or deleted if ``op`` says so. A frame of pandas or polars, a table
            or a stream of Arrow, a dict of columns, or an array of two columns of numbers.
        patterns: a pattern, the path of a file or a folder, several of them, or a dict of names and patterns.
        within: WITHIN of patterns that have none: edges of a match are less than this apart in time. '24h' or a timedelta.
        batch: updates of a batch; 8192 if neither this nor ``batch_span`` is given.
        batch_span: most time between the first and the last edge of a batch.
        max_ahead: how far the time of one row may lie ahead of the rest before the watermark ignores it. None: no limit.
        max_matches: stop a pattern in a batch after so many new and removed matches. A warning tells.
        vertices: a frame of vertices with their labels and attributes.
        start: a frame of edges that are there before the first batch.
        options: about columns, the graph and the counting of matches, as listed below.

    Returns:
        A frame of the kind that came in, with a row for each match. Its columns are ``sign`` (+ or -), ``batch``, ``time``,
        ``query``, ``id``, ``bindings``, ``edges`` and ``cause``. ``bindings`` is a struct that has the vertex of each variable,
        and ``edges`` a list of structs. ``cause`` says which of the edges the batch changed. For a dict or an array it is a
        ``deltamatch.Table``.

    Raises:
        ConfigurationError: arguments contradict each other, or a column is missing.
        QueryError: a pattern cannot be read, or does not fit the graph.
        RecordError: a row is refused; ``matches`` has what the rows before it gave.
    """
    check_names(replay, options)
    return stream(
        frame, patterns, within=within, batch=batch, batch_span=batch_span, max_ahead=max_ahead, max_matches=max_matches,
        vertices=vertices, start=start, chunk=_EVERYTHING, **options,
    )._all()


def _graph_of(frame: Any, vertices: Any, patterns: Patterns | None, options: Mapping[str, Any]) -> Engine:
    """An engine that holds the graph of a frame. Attributes that patterns read are found among the columns."""
    engine = Engine(**options)
    source = source_of(frame, "frame")
    nodes = None if vertices is None else source_of(vertices, "vertices")
    if engine._held is None:
        engine._read(patterns)
        engine._make(source, nodes)
    if nodes is not None:
        engine._load(nodes, vertices=True, watch_ids=True)
    engine._load(source, vertices=False, watch_ids=nodes is not None)
    engine._kind = kind_of(frame)
    return engine


@overload
def match(  # type: ignore[overload-overlap]
    frame: Frame, patterns: Patterns, *, limit: int | None = None, timeout: Span | None = None, vertices: Any = None, **options: Unpack[FrameOptions]
) -> Frame: ...
@overload
def match(
    frame: object, patterns: Patterns, *, limit: int | None = None, timeout: Span | None = None, vertices: Any = None, **options: Unpack[FrameOptions]
) -> Table: ...
@lists(FrameOptions)
def match(
    frame: Any, patterns: Patterns, *, limit: int | None = None, timeout: Span | None = None, vertices: Any = None, **options: Unpack[FrameOptions]
) -> Any:
    """Matches the whole graph that a frame of edges states. Returns a frame of matches, as ``replay`` does, in no set order.

    Args:
        limit: list at most so many matches of each pattern.
        timeout: stop a pattern after this time.

    Raises:
        IncompleteError: the time-out ended it; ``found`` has the matches found. Else as ``replay``.
    """
    check_names(match, options)
    with _graph_of(frame, vertices, patterns, options) as engine:
        return engine.match(patterns, limit=limit, timeout=timeout)


@lists(FrameOptions)
def count(frame: Any, patterns: Patterns, *, timeout: Span | None = None, vertices: Any = None, **options: Unpack[FrameOptions]) -> dict[str, int]:
    """The number of matches of each pattern in the graph that a frame of edges states. Exact, and faster than listing them.

    Raises:
        IncompleteError: the time-out ended it; ``found`` has lower bounds. Else as ``replay``.
    """
    check_names(count, options)
    with _graph_of(frame, vertices, patterns, options) as engine:
        return engine.count(patterns, timeout=timeout)


@overload
def motifs(  # type: ignore[overload-overlap]
    frame: Frame, k: int, *, where: str | None = None, timeout: Span | None = None, **options: Unpack[FrameOptions],
) -> Frame: ...
@overload
def motifs(frame: object, k: int, *, where: str | None = None, timeout: Span | None = None, **options: Unpack[FrameOptions]) -> Table: ...
@lists(FrameOptions)
def motifs(frame: Any, k: int, *, where: str | None = None, timeout: Span | None = None, **options: Unpack[FrameOptions]) -> Any:
    """How often each connected pattern of ``k`` vertices (2 to 8) occurs in the graph that a frame of edges states.

    Occurrences are induced. Directions, labels and parallel edges do not count. Returns a frame of ``motif`` (its graph6
    string), ``name`` (of well-known ones), ``vertices``, ``edges`` and ``count``.

    Args:
        where: a condition such as 'edges >= 5 and max_degree <= 3' (docs/guide/mining.md).
        timeout: stop after this time.

    Raises:
        IncompleteError: the time-out ended it; ``found`` has lower bounds.
    """
    check_names(motifs, options)
    with _graph_of(frame, None, None, options) as engine:
        return engine.motifs(k, where=where, timeout=timeout)


@overload
def cliques(  # type: ignore[overload-overlap]
    frame: Frame, k: int | None = None, *, list: bool = False, limit: int | None = None, timeout: Span | None = None, **options: Unpack[FrameOptions]
) -> Frame: ...
@overload
def cliques(
    frame: object, k: int | None = None, *, list: bool = False, limit: int | None = None, timeout: Span | None = None, **options: Unpack[FrameOptions]
) -> Table: ...
@lists(FrameOptions)
def cliques(
    frame: Any, k: int | None = None, *, list: bool = False, limit: int | None = None, timeout: Span | None = None, **options: Unpack[FrameOptions]
) -> Any:
    """How many cliques of ``k`` vertices, or of every size, the graph has that a frame of edges states.

    Directions, labels and parallel edges do not count. Returns a frame of ``vertices`` and ``count``. With ``list`` it is a frame of cliques, each a list of vertices.

    Raises:
        IncompleteError: the time-out ended it; ``found`` has lower bounds, or the cliques found.
    """
    check_names(cliques, options)
    with _graph_of(frame, None, None, options) as engine:
        return engine.cliques(k, list=list, limit=limit, timeout=timeout)
