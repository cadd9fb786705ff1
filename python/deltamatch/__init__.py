"""Continuous subgraph matching: patterns in a graph that changes, exact after every batch.

``replay`` feeds a frame to patterns, ``match`` and ``count`` look at a whole graph, ``motifs`` and ``cliques`` need no pattern.
``Engine`` takes batches one by one. ``edge_rows`` makes a flat frame of matches. docs/guide/python.md shows how.
"""

from deltamatch._edges import edge_rows
from deltamatch._engine import Engine, Report
from deltamatch._functions import Replay, cliques, count, match, motifs, replay, stream
from deltamatch._table import Table
from deltamatch._version import __version__
from deltamatch.errors import ConfigurationError, Error, IncompleteError, InputWarning, QueryError, RecordError

__all__ = [
    "ConfigurationError",
    "Engine",
    "Error",
    "IncompleteError",
    "InputWarning",
    "QueryError",
    "RecordError",
    "Replay",
    "Report",
    "Table",
    "__version__",
    "cliques",
    "count",
    "edge_rows",
    "match",
    "motifs",
    "replay",
    "stream",
]
