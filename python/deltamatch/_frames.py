"""Frames that come in, and frames of their kind that go out.

pandas, polars and pyarrow are imported only if a frame of theirs comes in, or is asked for.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

from deltamatch import _core
from deltamatch._options import readable
from deltamatch._table import Table
from deltamatch.errors import ConfigurationError

_UNITS = {"s": "tss:", "ms": "tsm:", "us": "tsu:", "ns": "tsn:"}
_NUMBERS = {"i1": "c", "u1": "C", "i2": "s", "u2": "S", "i4": "i", "u4": "I", "i8": "l", "u8": "L", "f4": "f", "f8": "g"}
_REMEDY = "give a frame of pandas or polars, a table of Arrow, a dict of columns, or an array of two columns of numbers"

_Column = tuple[str, str, object]


def _is_of(frame: object, module: str, *names: str) -> bool:
    """Whether a frame is of such a class, without importing the module."""
    loaded = sys.modules.get(module)
    return loaded is not None and any(isinstance(frame, getattr(loaded, name)) for name in names)


def kind_of(frame: object) -> str:
    """The kind of frame that results should be: 'pandas', 'polars', 'arrow', or 'table'."""
    if _is_of(frame, "pandas", "DataFrame"):
        return "pandas"
    if _is_of(frame, "polars", "DataFrame"):
        return "polars"
    if _is_of(frame, "pyarrow", "Table", "RecordBatch", "RecordBatchReader"):
        return "arrow"
    return "table"


def give(table: _core.ArrowTable, kind: str) -> Any:
    """A table of results as a frame of that kind."""
    made = Table(table)
    if kind == "pandas":
        return made.to_pandas()
    if kind == "polars":
        return made.to_polars()
    return made.to_arrow() if kind == "arrow" else made


def source_of(frame: object, name: str) -> _core.Source:
    """Takes a frame over, to be read once. Copies no values, except those of objects and of arrays with gaps between them.

    Raises:
        ConfigurationError: it is no table.
    """
    if _is_of(frame, "polars", "LazyFrame"):
        raise ConfigurationError.of(name, "is a LazyFrame, which has no rows yet", "give frame.collect()")
    if kind_of(frame) == "pandas":
        return _core.Source.from_columns(_columns_of_pandas(frame), name)
    if hasattr(frame, "__arrow_c_stream__"):
        return _core.Source.from_stream(frame.__arrow_c_stream__(), name, False)
    if hasattr(frame, "__arrow_c_array__"):
        schema, array = frame.__arrow_c_array__()
        return _core.Source.from_array(schema, array, name)
    if isinstance(frame, Mapping):
        return _core.Source.from_columns([_column(str(key), values, name) for key, values in frame.items()], name)
    if _is_of(frame, "numpy", "ndarray"):
        return _core.Source.from_columns(_columns_of_pairs(frame, name), name)
    raise ConfigurationError.of(name, f"is no table, but a {type(frame).__name__}", _REMEDY)


def _columns_of_pairs(array: Any, name: str) -> list[_Column]:
    if array.dtype.names:
        return [_column(field, array[field], name) for field in array.dtype.names]
    if array.ndim != 2 or array.shape[1] != 2 or array.dtype.kind not in "iuf":
        raise ConfigurationError.of(name, f"is an array of shape {array.shape} and type {array.dtype}", _REMEDY)
    return [_column("source", array[:, 0], name), _column("target", array[:, 1], name)]


def _columns_of_pandas(frame: Any) -> list[_Column]:
    return [_column_of_series(str(label), frame.iloc[:, place]) for place, label in enumerate(frame.columns)]


def _column_of_series(name: str, series: Any) -> _Column:
    import numpy

    dtype = series.dtype
    if isinstance(dtype, numpy.dtype):
        return _column(name, series.to_numpy(), name)
    if getattr(dtype, "tz", None) is not None and dtype.kind == "M" and hasattr(series.array, "_ndarray"):
        return _column(name, series.dt.tz_convert("UTC").dt.tz_localize(None).to_numpy(), name)
    try:
        import pyarrow  # type: ignore[import-untyped]

        array = pyarrow.array(series, from_pandas=True)
    except Exception:  # pyarrow is not installed, or does not know the type
        return name, "objects", series.to_numpy(dtype=object)
    if isinstance(array.type, pyarrow.BaseExtensionType):  # such as periods, whose integers only pandas can read
        return name, "objects", series.to_numpy(dtype=object)
    if isinstance(array, pyarrow.ChunkedArray):
        array = array.combine_chunks()
    return name, "arrow", array.__arrow_c_array__()


def _column(name: str, values: Any, where: str) -> _Column:
    """A column by itself, as Source.from_columns takes it."""
    readable(name, where)
    if hasattr(values, "__arrow_c_array__"):
        return name, "arrow", values.__arrow_c_array__()
    if not _is_of(values, "numpy", "ndarray"):
        if isinstance(values, (str, bytes)) or not hasattr(values, "__iter__"):
            raise ConfigurationError.of(where, f"the column {name} is a {type(values).__name__}", "give an array or a list")
        return name, "objects", list(values)
    import numpy

    if values.ndim != 1:
        raise ConfigurationError.of(where, f"the column {name} has {values.ndim} dimensions", "give one value for each row")
    if isinstance(values, numpy.ma.MaskedArray):
        if values.dtype.kind not in "fM":
            return name, "objects", values.tolist()
        values = values.filled(numpy.nan if values.dtype.kind == "f" else numpy.datetime64("NaT"))
    if not values.dtype.isnative:
        values = values.astype(values.dtype.newbyteorder("="))
    if values.dtype.kind == "M":
        values = _with_unit(values)
        return name, _UNITS[numpy.datetime_data(values.dtype)[0]], numpy.ascontiguousarray(values).view("int64")
    if values.dtype.kind == "m":  # spans of time, which are no numbers
        values = values.astype("timedelta64[us]")
    if values.dtype.str[1:] in _NUMBERS:
        return name, _NUMBERS[values.dtype.str[1:]], numpy.ascontiguousarray(values)
    if values.dtype.kind == "f":  # half and extended precision
        return name, "g", values.astype("float64")
    return name, "objects", values if values.dtype.kind == "O" else values.tolist()


def _with_unit(times: Any) -> Any:
    """Times in a unit that Arrow has. Days and years become seconds. What is finer than a microsecond means nothing."""
    import numpy

    unit, count = numpy.datetime_data(times.dtype)
    if unit in _UNITS:
        return times if count == 1 else times.astype(f"datetime64[{unit}]")
    return times.astype("datetime64[us]" if unit in ("ps", "fs", "as", "generic") else "datetime64[s]")
