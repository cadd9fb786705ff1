"""The places and formats of the real data sets. A test without its data is skipped and says so.

They are expected in $DELTAMATCH_DATA, by default shared/data beside the repository. Its README.md describes them.
"""

import contextlib
import gzip
import io
import lzma
import os
import pathlib
import unittest
import zipfile

ROOT = pathlib.Path(os.environ.get("DELTAMATCH_DATA") or pathlib.Path(__file__).resolve().parents[3] / "shared" / "data")


def path(name):
    found = ROOT / name
    if not found.exists():
        raise unittest.SkipTest(f"{name} is not in {ROOT}: set DELTAMATCH_DATA to the folder of the real data sets")
    return found


@contextlib.contextmanager
def _open(name):
    file = path(name)
    if file.suffix == ".gz":
        yield gzip.open(file, "rt")
    elif file.suffix == ".xz":
        yield lzma.open(file, "rt")
    else:
        yield open(file, encoding="utf-8")


def rows(name, separator=None, skip=0):
    """The fields of each line, after `skip` lines."""
    with _open(name) as file:
        for _ in range(skip):
            next(file)
        for line in file:
            yield line.rstrip("\n").split(separator)


def unzip(name, member):
    """The bytes of a member of a zip archive."""
    with zipfile.ZipFile(path(name)) as archive:
        return archive.read(member)


def text_rows(data):
    return (line.split() for line in io.StringIO(data.decode()))
