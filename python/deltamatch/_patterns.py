"""Patterns that are texts, names with texts, or files."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from deltamatch import _core
from deltamatch._options import readable
from deltamatch.errors import ConfigurationError, QueryError

__all__ = ["Patterns", "read_patterns"]

Patterns = str | os.PathLike[str] | Mapping[str, str] | Iterable["str | os.PathLike[str]"]

_EXTENSIONS = (".pattern", ".graph", ".q", ".query")
_REMEDY = (
    "name a file with a pattern or a t/v/e graph, or a folder of them; or write a pattern such as (a)-->(b), name=(a)-->(b), "
    "or a dict of names and patterns"
)
_LARGEST = 1 << 20  # bytes of a file with a pattern


def query_error(error: ConfigurationError, name: str) -> QueryError:
    """The same error as one of a pattern, with its place."""
    made = QueryError(str(error))
    made.where, made.what, made.remedy, made.query = error.where, error.what, error.remedy, name
    place = re.search(r":(\d+):(\d+)$", error.where)
    if place:
        made.line, made.column = int(place[1]), int(place[2])
    return made


def _parse(text: str, name: str, where: str, directed: bool) -> _core.Pattern:
    try:
        return _core.Pattern.parse(text, name, where, directed)
    except ConfigurationError as error:
        raise query_error(error, name) from None


def _read_file(path: Path, directed: bool) -> _core.Pattern:
    try:
        if path.stat().st_size > _LARGEST:
            raise ConfigurationError.of(str(path), "is too large for a pattern", _REMEDY)
        text = path.read_text(encoding="utf-8", errors="surrogateescape")
        text.encode()
    except OSError as error:
        raise ConfigurationError.of(str(path), error.strerror or str(error), "check the path and its permissions") from None
    except UnicodeEncodeError:
        raise ConfigurationError.of(str(path), "is no text in UTF-8", _REMEDY) from None
    return _parse(text, path.stem, str(path), directed)


def _is_backup(path: Path) -> bool:
    name, suffix = path.name, path.suffix
    return name.startswith(".") or name.endswith("~") or suffix in (".bak", ".orig", ".swp") or suffix.startswith((".dpkg-", ".rpm"))


def _looks_like_pattern(path: Path) -> bool:
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return _core.Pattern.recognised(file.read(4096).decode(errors="replace"))


def _files_of(folder: Path) -> list[Path]:
    """The files of a folder that hold patterns, as the program takes them."""
    files = []
    endings = ", ".join(f"*{extension}" for extension in _EXTENSIONS)
    for path in sorted(folder.iterdir(), key=lambda path: os.fsencode(path.name)):
        if path.suffix in _EXTENSIONS:
            files.append(path)
        elif not _is_backup(path) and _looks_like_pattern(path):
            what = f"it looks like a query, but only {endings} are read from a directory"
            raise ConfigurationError.of(str(path), what, "rename it, name it by itself, or move it elsewhere")
    if not files:
        raise ConfigurationError.of(str(folder), f"no {endings} in this directory", _REMEDY)
    return files


def _is_path(text: str) -> bool:
    if not text.strip():
        return False
    try:
        return Path(text).exists()
    except (OSError, ValueError):  # too long for a path, or a zero in it
        return False


def _read_texts(sources: Iterable[str | os.PathLike[str]], directed: bool) -> list[_core.Pattern]:
    """Reads what each source names. Patterns without a name are called pattern, pattern2, and so on."""
    read: list[_core.Pattern | str] = []
    for source in sources:
        if not isinstance(source, (str, os.PathLike)):
            raise ConfigurationError.of("patterns", f"a {type(source).__name__} is no pattern", _REMEDY)
        if isinstance(source, str):
            readable(source, "pattern")
        if isinstance(source, os.PathLike) or _is_path(source):
            path = Path(source)
            read += [_read_file(file, directed) for file in (_files_of(path) if path.is_dir() else [path])]
            continue
        name, sign, text = source.partition("=")
        if sign and "(" not in name and name.strip():
            read.append(_parse(text, name.strip(), f"pattern {name.strip()}", directed))
        elif _core.Pattern.recognised(source):
            read.append(source)
        else:
            raise ConfigurationError.of(f"pattern {source!r}", "no such file", _REMEDY)
    taken = {pattern.name for pattern in read if isinstance(pattern, _core.Pattern)}
    number = 0
    named = []
    for pattern in read:
        if isinstance(pattern, str):
            number += 1
            while (name := f"pattern{number}" if number > 1 else "pattern") in taken:
                number += 1
            pattern = _parse(pattern, name, f"pattern {name}", directed)
        named.append(pattern)
    return named


def read_patterns(patterns: Patterns, directed: bool = True) -> list[_core.Pattern]:
    """Reads patterns: one text or path, several, or a dict of names and texts.

    A text is a pattern, ``name=pattern``, or the path of a file or of a folder. A file has the name of its stem.

    Raises:
        QueryError: a pattern cannot be read.
        ConfigurationError: a file cannot be read, or two patterns have one name.
    """
    if isinstance(patterns, Mapping):
        for name, text in patterns.items():
            if not isinstance(name, str) or not isinstance(text, str):
                raise ConfigurationError.of("patterns", f"{name!r}: {text!r} is no name and pattern", _REMEDY)
            readable(name + text, "patterns")
        read = [_parse(text, name, f"pattern {name}", directed) for name, text in patterns.items()]
    else:
        single = isinstance(patterns, (str, os.PathLike))
        if not single and not isinstance(patterns, Iterable):
            raise ConfigurationError.of("patterns", f"a {type(patterns).__name__} is no pattern", _REMEDY)
        read = _read_texts([patterns] if single else patterns, directed)  # type: ignore[list-item,arg-type]
    if not read:
        raise ConfigurationError.of("patterns", "there are none", _REMEDY)
    seen: set[str] = set()
    for pattern in read:
        if pattern.name in seen:
            raise ConfigurationError.of(pattern.where, f"the name '{pattern.name}' belongs to two patterns", "give each its own name")
        seen.add(pattern.name)
    return read
