"""The Python package: its source distribution, the wheel that is made of it, and its tests against that wheel.

usage: package_test.py PROGRAM FOLDER
PROGRAM is the deltamatch that the package has to agree with. FOLDER keeps what was built, so that a second run is quick.
Packages come from the Python package index by pip, and Debian from $DELTAMATCH_DEBIAN_MIRROR. Without venv, Python's headers
or the index, there is nothing to test: exit code 77.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import unittest
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
HERE = pathlib.Path(__file__).resolve().parent
MIRROR = os.environ.get("DELTAMATCH_DEBIAN_MIRROR", "http://deb.debian.org/debian")
ENVIRONMENT = {**os.environ, "PIP_DISABLE_PIP_VERSION_CHECK": "1", "PYTHONDONTWRITEBYTECODE": "1", "CCACHE_NOHASHDIR": "true"}
FIRST = """
import deltamatch
frame = {"source": [1, 2, 3], "target": [2, 3, 1], "time": ["2024-01-01", "2024-01-02", "2024-01-03"]}
(match,) = deltamatch.replay(frame, "(a)-->(b)-->(c)-->(a)", within="7d", edges="events").to_pylist()
assert match["bindings"] == {"a": 1, "b": 2, "c": 3} and match["cause"] == [0, 1, 2], match
assert deltamatch.cliques(frame, 3).to_pylist() == [{"vertices": 3, "count": 1}]
try:
    deltamatch.replay(frame, "(a)-->(b")
except deltamatch.QueryError as error:
    assert error.column == 9, error.column
print("works", deltamatch.__version__)
"""


def run(*command, **more):
    """Runs a command and gives what it printed. If it fails, so does the test, with what it printed."""
    done = subprocess.run([str(part) for part in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, text=True,
                          check=False, **{"env": ENVIRONMENT, **more})
    if done.returncode != 0:
        raise AssertionError(f"{' '.join(map(str, command))}\n{done.stdout[-8000:]}")
    return done.stdout


def make_venv(name, requirements):
    """A virtual environment with pinned packages. An earlier one with the same packages is kept."""
    folder = WORK / name
    wanted = (HERE / requirements).read_text()
    mark = folder / "requirements.txt"
    if not mark.exists() or mark.read_text() != wanted:
        shutil.rmtree(folder, ignore_errors=True)
        run(sys.executable, "-m", "venv", folder)
        run(folder / "bin/python", "-m", "pip", "install", "--quiet", "--requirement", HERE / requirements)
        mark.write_text(wanted)
    return folder / "bin/python"


def why_not():
    """Why nothing can be tested here, or None."""
    if not pathlib.Path(sysconfig.get_path("include"), "Python.h").exists():
        return "needs Python's headers (scripts/setup --dev installs them)"
    try:
        WORK.mkdir(parents=True, exist_ok=True)
        make_venv("build-tools", "requirements-build.txt")
    except AssertionError as error:
        return f"needs venv and the Python package index: {str(error)[-400:]}"
    return None


class Package(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.tools = make_venv("build-tools", "requirements-build.txt")
        out = WORK / "dist"
        shutil.rmtree(out, ignore_errors=True)
        run(cls.tools, "-m", "build", "--sdist", "--no-isolation", "--outdir", out, ROOT)
        (cls.sdist,) = out.glob("*.tar.gz")
        unpacked = WORK / "sdist"
        shutil.rmtree(unpacked, ignore_errors=True)
        with tarfile.open(cls.sdist) as archive:
            archive.extractall(unpacked, filter="data") if hasattr(tarfile, "data_filter") else archive.extractall(unpacked)
        (cls.source,) = unpacked.iterdir()
        run(cls.tools, "-m", "pip", "wheel", "--no-build-isolation", "--no-deps", "--wheel-dir", out, "--config-settings", f"build-dir={cls.source}/build/python", cls.source,
            env={**ENVIRONMENT, "CCACHE_BASEDIR": str(cls.source), "PATH": f"{cls.tools.parent}:{os.environ['PATH']}"})
        (cls.built,) = out.glob("*.whl")
        cls.wheel = cls.repair(out)

    @classmethod
    def repair(cls, out):
        """The wheel with the libraries that it needs."""
        cls.told = run(cls.tools, "-m", "auditwheel", "show", cls.built)
        run(cls.tools, "-m", "auditwheel", "repair", "--wheel-dir", out / "repaired", cls.built,
            env={**ENVIRONMENT, "PATH": f"{cls.tools.parent}:{os.environ['PATH']}"})
        (repaired,) = (out / "repaired").glob("*.whl")
        return repaired

    def test_1_the_source_distribution_has_what_building_takes_and_no_more(self):
        names = [name.split("/", 1)[1] for name in tarfile.open(self.sdist).getnames() if "/" in name]
        for needed in ("CMakeLists.txt", "LICENSE", "pyproject.toml", "include/deltamatch/engine.hpp", "python/src/module.cpp", "cmake/dependencies.cmake"):
            self.assertIn(needed, names)
        for name in names:
            self.assertNotRegex(name, r"^(build|tests|docs|gpu|bench|src/cli|\.git)(/|$)")

    def test_2_the_wheel_is_for_other_linuxes(self):
        self.assertRegex(self.wheel.name, r"-manylinux_2_\d+_x86_64(\.|-)|-manylinux_2_\d+_x86_64\.whl$")
        with zipfile.ZipFile(self.wheel) as wheel:
            names = wheel.namelist()
        for needed in ("deltamatch/__init__.py", "deltamatch/py.typed", "deltamatch/_core.pyi"):
            self.assertIn(needed, names)
        self.assertTrue([name for name in names if re.match(r"deltamatch\.libs/libtbb-", name)], names)
        self.assertTrue([name for name in names if name.endswith("/LICENSE")])
        self.assertFalse([name for name in names if name.startswith(("include/", "lib/", "bin/"))], names)
        again = " ".join(run(self.tools, "-m", "auditwheel", "show", self.wheel).split())
        self.assertRegex(again, r"is consistent with the following platform tag: \"manylinux_2_\d+_x86_64\"")

    def test_3_the_tests_of_the_package_pass(self):
        python = make_venv("users", "requirements-users.txt")
        run(python, "-m", "pip", "install", "--quiet", "--force-reinstall", "--no-deps", self.wheel)
        told = run(python, "-m", "pytest", "-q", "-p", "no:cacheprovider", ROOT / "python/tests", cwd=WORK, env={**ENVIRONMENT, "DELTAMATCH_PROGRAM": PROGRAM})
        self.assertRegex(told.splitlines()[-1], r"^\d+ passed")
        print(told.splitlines()[-1])

    def test_4_types_are_strict(self):
        python = make_venv("users", "requirements-users.txt")
        (package,) = (python.parent.parent / "lib").glob("python3.*/site-packages/deltamatch")
        sources = WORK / "typed"
        shutil.rmtree(sources, ignore_errors=True)
        shutil.copytree(package, sources / "deltamatch")
        run(python, "-m", "mypy", "--strict", "--cache-dir", WORK / "mypy", "-p", "deltamatch", cwd=sources)
        run(python, "-m", "mypy", "--strict", "--cache-dir", WORK / "mypy", ROOT / "python/tests/typed_use.py", cwd=WORK)

    def test_5_it_runs_where_nothing_else_is(self):
        """A bare Debian has Python and neither numpy nor any of the libraries that the extension is linked with. A wheel for one
        version of Python is tried with that of Debian 12, one for all later versions in Debian 13."""
        release = "trixie" if "-abi3-" in self.wheel.name else "bookworm"
        if os.geteuid() != 0 or not shutil.which("mmdebstrap"):
            self.skipTest("needs root and mmdebstrap")
        debian = WORK / "debian"
        shutil.rmtree(debian, ignore_errors=True)
        run("mmdebstrap", "--quiet", "--variant=minbase", "--include=python3-minimal,python3,python3-venv", release, debian, MIRROR)
        try:
            installed = run("chroot", debian, "dpkg-query", "--show", "--showformat", "${Package}\n").split()
            self.assertFalse([package for package in installed if re.match(r"libtbb|libfmt|libzstd-dev|libsimdjson|g\+\+|python3-numpy", package)])
            shutil.copy(self.wheel, debian / "opt")
            (debian / "opt/first.py").write_text(FIRST)
            run("chroot", debian, "python3", "-m", "venv", "/opt/venv")
            run("chroot", debian, "/opt/venv/bin/pip", "install", "--no-index", f"/opt/{self.wheel.name}")
            told = run("chroot", debian, "/opt/venv/bin/python", "/opt/first.py")
            self.assertRegex(told, r"^works \d+\.\d+\.\d+\n$")
        finally:
            shutil.rmtree(debian, ignore_errors=True)


if __name__ == "__main__":
    WORK = pathlib.Path(sys.argv.pop(2)).resolve()
    PROGRAM = sys.argv.pop(1)
    if (reason := why_not()) is not None:
        print(f"skipped: {reason}")
        sys.exit(77)
    unittest.main(verbosity=2)
