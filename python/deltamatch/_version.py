"""The version of the package that is installed."""

from importlib.metadata import PackageNotFoundError, version

try:
    __version__ = version("deltamatch")
except PackageNotFoundError:  # run from a folder of sources
    __version__ = "unknown"
