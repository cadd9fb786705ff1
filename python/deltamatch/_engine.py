"""The engine: a graph, its standing patterns, and batches."""

from __future__ import annotations

import functools
import os
import sys
import threading
import warnings
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import FrameType, TracebackType
from typing import TYPE_CHECKING, Any, TypeVar

from deltamatch import _core
from deltamatch._frames import give, kind_of, source_of
from deltamatch._options import (
    FrameOptions,
    PatternOptions,
    RestoreOptions,
    Span,
    check_columns,
    check_names,
    declare,
    graph_settings,
    lists,
    microseconds,
    needs_columns,
    pattern_settings,
    read_settings,
    whole_number,
    with_types,
)
from deltamatch._patterns import Patterns, query_error, read_patterns
from deltamatch.errors import ConfigurationError, Error, IncompleteError, InputWarning, RecordError

if TYPE_CHECKING:
    from typing_extensions import Self, Unpack

__all__ = ["Engine", "Report"]

_EVERYTHING = (1 << 64) - 1

# Some arguments are called `list`.
list_of_names = list[str]
list_of_patterns = list[_core.Pattern]
list_of_results = list[tuple[int, str]]


@dataclass
class Report:
    """What the rows of a frame became.

    Attributes:
        records: rows that mean something, also refused ones.
        updates: updates that the engine took.
        batches: batches that they made.
        inserted, deleted, expired: edges in the net batches.
        out_of_order: inserted edges that came too late for some matches of patterns with WITHIN.
        ignored: updates that changed nothing, by cause.
        refused: rows that were left out, by reason.
        missing: inserted edges without a value, by attribute.
        queries: for each pattern the number of ``new`` and ``removed`` matches, those ``suppressed`` by ALERT ONCE, and the
            ``partial_batches`` in which it exceeded max_matches.
        seconds: of each step.
        warnings: what is doubtful, as it was warned of.
    """

    records: int = 0
    updates: int = 0
    batches: int = 0
    inserted: int = 0
    deleted: int = 0
    expired: int = 0
    out_of_order: int = 0
    ignored: dict[str, int] = field(default_factory=dict)
    refused: dict[str, int] = field(default_factory=dict)
    missing: dict[str, int] = field(default_factory=dict)
    queries: dict[str, dict[str, int]] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)


def _warn(text: str) -> None:
    """Warns at the line that called the package."""
    level = 1
    frame: FrameType | None = sys._getframe()
    while frame is not None and frame.f_globals.get("__name__", "").partition(".")[0] == "deltamatch":
        frame = frame.f_back
        level += 1
    warnings.warn(text, InputWarning, stacklevel=level)


def _conclude(reading: _core.Reading, absent_labels: list_of_names, numbers: Collection[str]) -> Report:
    """Ends reading, and warns of what is doubtful. Rows that are left out may have the labels that are absent. Patterns read
    ``numbers`` and do not ask whether there are any."""
    told = dict(reading.report())
    texts = [text for _, text in told.pop("warnings")]
    if not told["refused"] and not told["ignored"]["late"]:
        texts += absent_labels
    for name, count in told["missing"].items():
        if name in numbers:
            texts.append(
                f"{count} edges have no {name}, so no comparison with it is true; leave such rows out or fill them, "
                f"or ask for {name} IS NULL in the pattern"
            )
    first = told.pop("first_refusals")
    refused = sum(told["refused"].values())
    if refused:
        places = "; ".join(f"{where}: {reason}: {message}" for reason, where, message in first)
        texts.append(f"{refused} of {told['records']} rows are refused and left out; the first for each reason: {places}")
    for name, counts in told["queries"].items():
        if counts["partial_batches"]:
            texts.append(f"pattern {name}: stopped by max_matches in {counts['partial_batches']} batches, so the answer is partial")
    for text in texts:
        _warn(text)
    return Report(**told, warnings=texts)


@contextmanager
def _interrupts() -> Iterator[None]:
    """Raises KeyboardInterrupt again if a generator of the input raised it: Arrow's streams make a text of it."""
    try:
        yield
    except Error as error:
        if not str(error).rstrip().endswith("\nKeyboardInterrupt"):
            raise
        raise KeyboardInterrupt from error


Method = TypeVar("Method", bound=Callable[..., Any])


def _alone(method: Method) -> Method:
    """Refuses to run a method of an engine while another one runs."""

    @functools.wraps(method)
    def guarded(self: Engine, *arguments: Any, **more: Any) -> Any:
        with self._used():
            return method(self, *arguments, **more)

    return guarded  # type: ignore[return-value]


class Engine:
    """A graph with standing patterns. Batches of updates make matches appear and vanish.

    ::

        with deltamatch.Engine(edges="keyed", attributes="amount:decimal(2)") as engine:
            engine.register({"ring": "MATCH (a)-[t:TRANSFER]->{3,6}(a) WITHIN 24h"})
            for frame in frames:
                matches = engine.process(frame)

    Arguments are those of ``deltamatch.replay`` about the graph, the columns and what becomes of bad rows. Types of attributes
    that are not given follow from the first frame. One thread at a time may call it: a call during another one raises
    ``Error``. It uses ``threads`` threads inside, by default all of the machine, and lets other threads of Python run
    meanwhile.

    Raises:
        ConfigurationError: arguments contradict each other.
    """

    @lists(FrameOptions)
    def __init__(self, **options: Unpack[FrameOptions]) -> None:
        """Makes an engine with an empty graph."""
        check_names(Engine.__init__, options)
        self._lock = threading.Lock()
        self._options: dict[str, Any] = dict(options)
        self._held: _core.Engine | None = None
        self._closed = False
        self._standing: dict[str, tuple[_core.Pattern, dict[str, Any], bool, int | None]] = {}
        self._ids: dict[str, int] = {}
        self._declared: dict[str, list[tuple[str, str, str]]] = {}
        self._kind = "table"
        self._noted: list[_core.Pattern] = []
        self._report = Report()
        settings = graph_settings(self._options)
        derived = needs_columns(options.get("attributes"), "attributes") or needs_columns(
            options.get("vertex_attributes"), "vertex_attributes"
        )
        if not derived:
            self._make(None, None)
        else:
            _core.Engine(settings)  # what is wrong is told now

    # The life of the engine.

    def _make(self, frame: _core.Source | None, vertices: _core.Source | None) -> _core.Engine:
        """Makes the engine, once it is known which attributes there are."""
        options = self._options
        noted = [*(pattern for pattern, _, _, _ in self._standing.values()), *self._noted]
        read = [pattern.attributes for pattern in noted]
        of_edges = set().union(*(edges for edges, _ in read)) if options.get("edges", "simple") != "simple" else set()
        of_vertices = set().union(*(of for _, of in read))
        edges = declare(options.get("attributes"), of_edges, frame, "attributes")
        nodes = declare(options.get("vertex_attributes"), of_vertices, vertices, "vertex_attributes")
        if frame is not None:
            check_columns(frame, options, edges)
        self._declared = {
            "attributes": with_types(edges, frame, "attributes", "frame"),
            "vertex_attributes": with_types(nodes, vertices, "vertex_attributes", "vertices"),
        }
        self._held = _core.Engine({**graph_settings(options), **self._declared})
        for name, (pattern, settings, listing, most) in self._standing.items():
            self._add(name, pattern, settings, listing, most)
        return self._held

    def _engine(self, frame: _core.Source | None = None, vertices: _core.Source | None = None) -> _core.Engine:
        if self._closed:
            raise ConfigurationError.of("engine", "it is closed", "make another one")
        return self._held if self._held is not None else self._make(frame, vertices)

    @contextmanager
    def _used(self) -> Iterator[None]:
        if not self._lock.acquire(blocking=False):
            raise Error.of(
                "engine", "another call is running, in another thread or before a signal", "give each thread an engine of its own, or let them take turns"
            )
        try:
            yield
        finally:
            self._lock.release()

    def close(self) -> None:
        """Frees the graph. Nothing can be called afterwards."""
        self._held = None
        self._closed = True

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    @_alone
    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes a snapshot of graph, window, batch number and digest: a file that ``restore`` and the program read.

        Patterns are not part of it; register them again. The file is written aside and renamed.
        """
        self._engine().save(os.fspath(path))

    @classmethod
    @lists(RestoreOptions)
    def restore(cls, path: str | os.PathLike[str], **options: Unpack[RestoreOptions]) -> Self:
        """Makes an engine with the state of a snapshot, which brings direction, window and attributes.

        Options are those about columns and bad rows, and ``threads``.

        Raises:
            Error: the file is torn, corrupt or of another version.
        """
        check_names(cls.restore, options)
        held = _core.Engine.restore(os.fspath(path), options.get("threads", 0))
        saved = held.options
        engine = cls(**options, edges=saved["edges"], directed=saved["directed"], attributes={}, vertex_attributes={})
        engine._held = held
        engine._declared = {
            "attributes": [(name, type_, name) for name, type_ in saved["attributes"]],
            "vertex_attributes": [(name, type_, name) for name, type_ in saved["vertex_attributes"]],
        }
        return engine

    # Patterns.

    def _add(self, name: str, pattern: _core.Pattern, settings: dict[str, Any], listing: bool, most: int | None) -> None:
        assert self._held is not None
        try:
            self._ids[name] = self._held.add(pattern, settings, listing, most)
        except ConfigurationError as error:
            raise query_error(error, name) from None

    @_alone
    @lists(PatternOptions)
    def register(
        self,
        patterns: Patterns,
        *,
        within: Span | None = None,
        list: bool = True,
        max_matches: int | None = None,
        **options: Unpack[PatternOptions],
    ) -> list[str]:
        """Registers standing patterns, whose matches are reported from the next batch on. Returns their names.

        Args:
            patterns: a pattern, the path of a file or a folder, several of them, or a dict of names and patterns.
            within: WITHIN of patterns that have none, such as '24h'.
            list: whether matches are listed; else they are only counted (``report.queries``).
            max_matches: stop a pattern in a batch after so many new and removed matches. A warning tells.

        Raises:
            QueryError: a pattern cannot be read, or does not fit the graph.
            ConfigurationError: a name is taken.
        """
        check_names(Engine.register, options)
        if max_matches is not None:
            whole_number(max_matches, "max_matches", 1, _EVERYTHING)
        read = read_patterns(patterns, self._options.get("directed", True))
        span = microseconds(within, "within")
        for pattern in read:
            if pattern.name in self._standing:
                raise ConfigurationError.of(pattern.where, f"the name '{pattern.name}' is taken", "give it another name, or unregister the other")
            if span is not None and pattern.within is None:
                pattern.within = span
            self._check_window(pattern)
        settings = pattern_settings({**self._options, **options})
        added: list_of_names = []
        try:
            for pattern in read:
                if self._held is not None:
                    self._add(pattern.name, pattern, settings, list, max_matches)
                self._standing[pattern.name] = (pattern, settings, list, max_matches)
                added.append(pattern.name)
        except Exception:
            for name in added:
                self._remove(name)
            raise
        return added

    def _check_window(self, pattern: _core.Pattern) -> None:
        options = self._held.options if self._held is not None else graph_settings(self._options)
        window, within = options["window"], pattern.within
        if window and within and within + (options["allowed_lateness"] or 0) > window:
            text = f"window: edges live for the window only, and matches of {pattern.name} may span more; make the window as long, or leave it out"
            _warn(text)

    @_alone
    def unregister(self, name: str) -> None:
        """Removes a standing pattern.

        Raises:
            ConfigurationError: there is none of that name.
        """
        if name not in self._standing:
            names = ", ".join(repr(other) for other in self._standing)
            remedy = f"name one that is registered: {names}" if names else "register one first"
            raise ConfigurationError.of(f"pattern {name}", "there is no such pattern", remedy)
        self._remove(name)

    def _remove(self, name: str) -> None:
        if self._held is not None:
            self._held.remove(self._ids.pop(name))
        del self._standing[name]

    @property
    def patterns(self) -> dict[str, str]:
        """The text of each standing pattern, by name."""
        return {name: pattern.text for name, (pattern, _, _, _) in self._standing.items()}

    # Frames.

    def _open(self, source: _core.Source, *, vertices: bool = False, **more: Any) -> _core.Reading:
        engine = self._engine(vertices=source) if vertices else self._engine(frame=source)
        settings = read_settings(self._options, self._declared, vertices)
        return engine.open(source, {**settings, **more})

    @_alone
    def load(self, frame: Any, *, vertices: bool = False) -> Report:
        """Applies a frame without matching: the start graph, or with ``vertices`` the vertices with labels and attributes.

        Raises:
            RecordError: a row is refused. The rows before it are in the graph.
        """
        source = source_of(frame, "vertices" if vertices else "start")
        if self._kind == "table":
            self._kind = kind_of(frame)
        return self._load(source, vertices=vertices, watch_ids=False)

    def _load(self, source: _core.Source, *, vertices: bool, watch_ids: bool) -> Report:
        reading = self._open(source, vertices=vertices, watch_ids=watch_ids, read_ahead=1, batch=1 << 14, within_window=True)
        with _interrupts():
            self._engine().load(reading)
        self._report = _conclude(reading, [], self._numbers())
        return self._report

    def _numbers(self) -> set[str]:
        """The attributes that are numbers and that standing patterns read without asking whether there is a value."""
        needed = set().union(*(pattern.needed for pattern, _, _, _ in self._standing.values()))
        return {name for name, type_, _ in self._declared["attributes"] if name in needed and type_.startswith(("int", "decimal", "float"))}

    def _read(self, patterns: Patterns | None) -> None:
        """Notes which attributes patterns read, before the engine is made."""
        if patterns is not None:
            self._noted = read_patterns(patterns, self._options.get("directed", True))

    @_alone
    def process(self, frame: Any) -> Any:
        """Applies a frame as one batch. Returns the matches that appeared and vanished, as a frame of the same kind.

        The window, and WITHIN, hold row by row: where they ask for it, the engine cuts the frame into several batches.
        ``report`` then has the counts.

        Raises:
            RecordError: a row is refused. If it cannot be read, nothing is applied. The engine may refuse it, for example
                because of another label of a vertex. Then the rows before it have been applied, and ``matches`` has what they
                changed.
        """
        self._kind = kind_of(frame)
        reading = self._open(source_of(frame, "frame"))
        for matches in self._run(reading, self._kind, _EVERYTHING, whole=True):
            pass
        self._report = _conclude(reading, self._engine().absent_labels(True), self._numbers())  # other labels may come later
        return matches

    def _run(self, reading: _core.Reading, kind: str, most: int, *, whole: bool = False) -> Iterator[Any]:
        """Frames of matches, each once there are so many. The last one may be empty."""
        engine = self._engine()
        more = True
        while more:
            try:
                with _interrupts():
                    more = engine.advance(reading, most, whole)
            except RecordError as error:
                error.matches = give(engine.take(), kind)
                raise
            except KeyboardInterrupt:
                engine.take()  # what the next frame finds is not mixed with it
                raise
            yield give(engine.take(), kind)

    # The graph as it stands.

    @_alone
    @lists(PatternOptions)
    def match(self, patterns: Patterns, *, limit: int | None = None, timeout: Span | None = None, **options: Unpack[PatternOptions]) -> Any:
        """The matches of the graph as it stands, as a frame of the kind that came in last.

        Args:
            limit: list at most so many matches of a pattern.
            timeout: stop a pattern after this time.

        Raises:
            QueryError: a pattern cannot be read, or does not fit.
            IncompleteError: the time-out ended it; ``found`` has the matches found.
        """
        check_names(Engine.match, options)
        if limit is not None:
            whole_number(limit, "limit", 1, _EVERYTHING)
        read = read_patterns(patterns, self._options.get("directed", True))
        results, table = self._match(read, options, True, limit, timeout)
        found = give(table, self._kind)
        stopped = [pattern.name for pattern, (_, shortfall) in zip(read, results) if shortfall == "timeout"]
        if stopped:
            raise _incomplete(f"pattern {', '.join(stopped)}", found)
        return found

    def _match(
        self, patterns: list_of_patterns, options: Mapping[str, Any], listing: bool, limit: int | None, timeout: Span | None
    ) -> tuple[list_of_results, Any]:
        settings = pattern_settings({**self._options, **options})
        try:
            found = self._engine().match(patterns, settings, listing, limit, microseconds(timeout, "timeout"))
        except ConfigurationError as error:
            raise query_error(error, ", ".join(pattern.name for pattern in patterns)) from None
        for text in self._engine().absent_labels_of(patterns):
            _warn(text)
        return found

    @_alone
    @lists(PatternOptions)
    def count(self, patterns: Patterns, *, timeout: Span | None = None, **options: Unpack[PatternOptions]) -> dict[str, int]:
        """The number of matches of the graph as it stands, by pattern. Counts are exact, however large.

        Raises:
            IncompleteError: the time-out ended it; ``found`` has lower bounds.
        """
        counting = options.pop("count", None)
        check_names(Engine.count, options)
        chosen: dict[str, Any] = {**options, **({} if counting is None else {"count": counting})}
        read = read_patterns(patterns, self._options.get("directed", True))
        results, _ = self._match(read, chosen, False, None, timeout)
        counts = {pattern.name: count for pattern, (count, _) in zip(read, results)}
        stopped = [pattern.name for pattern, (_, shortfall) in zip(read, results) if shortfall]
        if stopped:
            raise _incomplete(f"pattern {', '.join(stopped)}", counts)
        return counts

    @_alone
    def motifs(self, k: int, *, where: str | None = None, timeout: Span | None = None) -> Any:
        """How often each connected pattern of ``k`` vertices occurs as an induced subgraph: a frame of motif, name, vertices,
        edges and count. Directions, labels and parallel edges do not count.

        Args:
            k: 2 to 8.
            where: a condition such as 'edges >= 5 and max_degree <= 3' (docs/guide/mining.md).

        Raises:
            IncompleteError: the time-out ended it; ``found`` has lower bounds.
        """
        whole_number(k, "k", 2, 8)
        return self._mined(_core.motifs(self._engine(), k, where, self._threads(), microseconds(timeout, "timeout")), "motifs")

    @_alone
    def cliques(self, k: int | None = None, *, list: bool = False, limit: int | None = None, timeout: Span | None = None) -> Any:
        """How many cliques of ``k`` vertices there are, or of every size: a frame of vertices and count.

        Directions, labels and parallel edges do not count.

        Args:
            list: a frame of the cliques instead: a list of vertices each. Needs ``k``.
            limit: list at most so many.

        Raises:
            IncompleteError: the time-out ended it; ``found`` has lower bounds, or the cliques found.
        """
        span = microseconds(timeout, "timeout")
        if k is not None:
            whole_number(k, "k", 1)
        if limit is not None:
            whole_number(limit, "limit", 1, _EVERYTHING)
        if not list:
            return self._mined(_core.cliques(self._engine(), k, self._threads(), span), "cliques")
        if k is None:
            raise ConfigurationError.of("cliques", "cliques of every size cannot be listed", "give k")
        return self._mined(_core.listed_cliques(self._engine(), k, limit, self._threads(), span), "cliques")

    def _threads(self) -> int:
        return int(self._options.get("threads", 0))

    def _mined(self, mined: tuple[_core.ArrowTable, bool], what: str) -> Any:
        table, complete = mined
        found = give(table, self._kind)
        if not complete:
            raise _incomplete(what, found)
        return found

    @_alone
    def explain(self, pattern: str) -> str:
        """The plans of a pattern as text, with estimates from the graph."""
        (read,) = read_patterns(pattern, self._options.get("directed", True))
        return self._engine().explain(read, pattern_settings(self._options))

    # Figures.

    @property
    def report(self) -> Report:
        """What the rows of the latest frame became, which ``load`` or ``process`` took. It is no sum over frames."""
        return self._report

    @property
    @_alone
    def batch(self) -> int:
        """The number of the latest batch: 0 before the first."""
        return self._engine().batch if self._held is not None else 0

    @property
    @_alone
    def watermark(self) -> int | None:
        """The event time up to which the stream is complete, in microseconds since the epoch."""
        return self._engine().watermark if self._held is not None else None

    @property
    @_alone
    def digest(self) -> str:
        """The running digest: equal for engines that took the same batches (contract, docs/contract.md)."""
        return self._engine().digest

    @property
    @_alone
    def graph(self) -> dict[str, int]:
        """The number of ``vertices`` and ``edges``, and the ``bytes`` that they take."""
        return self._engine().graph




def _incomplete(where: str, found: Any) -> IncompleteError:
    error = IncompleteError(f"{where}: stopped by timeout, so the answer is partial; raise timeout for all of it")
    error.where, error.what, error.remedy = where, "stopped by timeout, so the answer is partial", "raise timeout for all of it"
    error.found = found
    return error
