"""Python packages of wheels.txt, fetched once into the build folder. They are of use to a few tests only."""

import fcntl
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

REQUIRED = pathlib.Path(__file__).with_name("wheels.txt")


def use():
    """Makes them importable. Exits with 77 (skipped) if pip cannot fetch them."""
    folder = pathlib.Path(os.environ["DELTAMATCH_BUILD"]).resolve() / "wheels" / f"python{sys.version_info.major}.{sys.version_info.minor}"
    folder.parent.mkdir(parents=True, exist_ok=True)
    with open(folder.parent / "lock", "w", encoding="utf-8") as lock:  # tests run side by side
        fcntl.flock(lock, fcntl.LOCK_EX)
        stamp = folder / REQUIRED.name
        if not stamp.exists() or stamp.read_bytes() != REQUIRED.read_bytes():
            fetch(folder)
    sys.path.insert(0, str(folder))
    os.environ["PYTHONPATH"] = str(folder)


def fetch(folder):
    new = pathlib.Path(tempfile.mkdtemp(dir=folder.parent))
    done = subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", "--no-input", "--disable-pip-version-check", "--no-compile",
                           "--only-binary", ":all:", "--target", str(new), "--requirement", str(REQUIRED)],
                          stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        shutil.rmtree(new)
        print(f"skipped: pip cannot fetch {REQUIRED.name}: {done.stderr.strip()[-300:]}")
        sys.exit(77)
    shutil.copy(REQUIRED, new)
    shutil.rmtree(folder, ignore_errors=True)
    new.rename(folder)
