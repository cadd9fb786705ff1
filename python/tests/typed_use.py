"""What mypy has to understand of the package: the kind of frame that goes in is the kind that comes out."""

from __future__ import annotations

import pandas as pd
import polars as pl
from typing_extensions import assert_type

import deltamatch

columns = {"source": [1, 2], "target": [2, 1]}

assert_type(deltamatch.replay(pd.DataFrame(columns), "(a)-->(b)", within="1h", edges="events"), pd.DataFrame)
assert_type(deltamatch.replay(pl.DataFrame(columns), {"edge": "(a)-->(b)"}, batch=10), pl.DataFrame)
assert_type(deltamatch.match(columns, "(a)-->(b)"), deltamatch.Table)
assert_type(deltamatch.count(columns, "(a)-->(b)"), dict[str, int])
assert_type(deltamatch.motifs(pd.DataFrame(columns), 3), pd.DataFrame)
assert_type(deltamatch.edge_rows(deltamatch.match(pd.DataFrame(columns), "(a)-->(b)")), pd.DataFrame)
assert_type(deltamatch.edge_rows(deltamatch.match(pl.DataFrame(columns), "(a)-->(b)")), pl.DataFrame)
deltamatch.replay(columns, "(a)-->(b)", edges="multi")  # type: ignore[call-overload]
with deltamatch.Engine(edges="keyed", attributes="amount:decimal(2)") as engine:
    assert_type(engine.register("(a)-->(b)"), list[str])
    assert_type(engine.report, deltamatch.Report)
