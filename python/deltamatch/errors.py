"""Exceptions and warnings.

The text of an exception is the one that the program prints: ``where: what; remedy``. The parts are attributes, too.
"""

from __future__ import annotations

from typing import Any

__all__ = ["ConfigurationError", "Error", "IncompleteError", "InputWarning", "QueryError", "RecordError"]


class Error(Exception):
    """What ends a call. Graph, patterns and counters are as they were before it, unless a subclass says otherwise.

    Attributes:
        where: the place: a table and its row, a file, a pattern with line and column, or an argument.
        what: what is wrong there.
        remedy: what to do about it. Empty if nobody knows.
    """

    where: str = ""
    what: str = ""
    remedy: str = ""

    @classmethod
    def of(cls, where: str, what: str, remedy: str = "") -> Error:
        """Makes an error of its parts."""
        text = (f"{where}: " if where else "") + what + (f"; {remedy}" if remedy else "")
        error = cls(text)
        error.where, error.what, error.remedy = where, what, remedy
        return error


class ConfigurationError(Error, ValueError):
    """Arguments contradict each other, a column is missing, or a graph does not fit."""


class QueryError(ConfigurationError):
    """A pattern cannot be read, or it does not fit the graph.

    Attributes:
        query: the name of the pattern.
        line, column: the place in its text, from 1. None if the whole pattern is meant.
    """

    query: str = ""
    line: int | None = None
    column: int | None = None


class RecordError(Error, ValueError):
    """A row is refused. The rows before it have been applied, except by ``Engine.process`` if the row cannot be read at all.

    Attributes:
        row: the number of the row, from 0.
        reason: why it is refused, in one word such as ``bad_id`` (docs/reference/formats.md lists them).
        matches: what the rows before it made appear and vanish, as a frame; None if the call returns no matches.
    """

    row: int = -1
    reason: str = ""
    matches: Any = None


class IncompleteError(Error, TimeoutError):
    """A time-out ended the call before the answer was complete.

    Attributes:
        found: the part that was found: a frame of matches or counts, which are lower bounds.
    """

    found: Any = None


class InputWarning(UserWarning):
    """Something is doubtful: a table was read one way and may have been meant another way."""
