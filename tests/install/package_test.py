"""The packages that scripts/package makes, in a Debian 12 that has the smallest set of packages and nothing else.

usage: package_test.py BUILD
The tarball has to run there as it is. The .deb has to name all that it needs, so that apt-get can install it.
Both then do what scripts/demo does. Debian comes from $DELTAMATCH_DEBIAN_MIRROR, by default from deb.debian.org.
Without root, or without mmdebstrap and debootstrap, there is nothing to test in: exit code 77.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import urllib.error
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parents[2]
MIRROR = os.environ.get("DELTAMATCH_DEBIAN_MIRROR", "http://deb.debian.org/debian")
RELEASE = "bookworm"
NOBODY = ["--setuid", "65534", "--setgid", "65534"]
STREAM = ["--records", "200000", "--seed", "2023", "--planted", "100", "--duration", "10d"]


def why_not():
    """Why no Debian can be made here, or None."""
    if os.geteuid() != 0:
        return "needs root"
    if not shutil.which("mmdebstrap") and not shutil.which("debootstrap"):
        return "needs mmdebstrap (scripts/setup --dev installs it) or debootstrap"
    try:
        urllib.request.urlopen(f"{MIRROR}/dists/{RELEASE}/Release", timeout=60).close()
    except (OSError, urllib.error.URLError) as error:
        return f"{MIRROR} cannot be reached: {error}"
    return None


def make_debian(folder):
    """The smallest Debian: what its package manager needs, and no more."""
    if shutil.which("mmdebstrap"):
        command = ["mmdebstrap", "--quiet", "--variant=minbase", RELEASE, folder, MIRROR]
    else:
        command = ["debootstrap", "--variant=minbase", RELEASE, folder, MIRROR]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    if pathlib.Path("/etc/resolv.conf").exists():
        shutil.copy("/etc/resolv.conf", folder / "etc/resolv.conf")


SOURCES = ("bench/", "cmake/", "config/deltamatch.service", "gpu", "include/", "ingest", "page", "python/tests", "scripts/", "src", "tests")


def dead_links(pages):
    """Relative links of Markdown in a folder that lead nowhere, and to no part of the sources that packages leave out."""
    for page in sorted(pages.rglob("*.md")):
        text = re.sub(r"```.*?```|`[^`\n]*`", "", page.read_text(), flags=re.DOTALL)
        for link in re.findall(r"\]\(([^)#\s]+)", text):
            target = pathlib.Path(os.path.normpath(page.parent / link))
            if "://" in link or target.exists():
                continue
            if not target.relative_to(pages).as_posix().startswith(SOURCES):
                yield f"{page.relative_to(pages)}: {link}"


class Packages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="deltamatch-package-")
        cls.addClassCleanup(folder.cleanup)
        cls.out = pathlib.Path(folder.name, "out")
        cls.told = subprocess.run([ROOT / "scripts/package", "--out", cls.out, BUILD], capture_output=True, text=True, check=True).stdout
        cls.debian = pathlib.Path(folder.name, "debian")
        cls.debian.mkdir()
        make_debian(cls.debian)

    def run_inside(self, *command, more=(), code=0):
        """Runs a command in that Debian, with its own processes and mounts, and gives what it printed."""
        done = subprocess.run(["unshare", "--mount", "--pid", "--fork", f"--root={self.debian}", "--mount-proc", *more, *command],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, text=True, check=False,
                              env={**os.environ, "LC_ALL": "C", "DEBIAN_FRONTEND": "noninteractive",
                                   "PATH": "/usr/sbin:/usr/bin:/sbin:/bin"})
        self.assertEqual(done.returncode, code, f"{command}\n{done.stdout}")
        return done.stdout

    def package(self, pattern):
        """Copies a package into that Debian and gives its path there."""
        found = list(self.out.glob(pattern))
        self.assertEqual(len(found), 1, self.told)
        self.assertIn(str(found[0]), self.told)
        shutil.copy(found[0], self.debian / "root")
        return f"/root/{found[0].name}"

    def check_works(self, program, shared):
        """The program's version, its service's configuration, and the demo with the patterns of the package."""
        self.assertRegex(self.run_inside(program, "--version", more=NOBODY), r"\Adeltamatch \d+\.\d+\.\d+\n\Z")
        self.assertIn("application  fraud-alerts\n", self.run_inside(program, "validate", "--config", f"{shared}/service.yaml", more=NOBODY))
        demo = self.debian / "tmp/demo"
        self.run_inside("mkdir", "/tmp/demo", more=NOBODY)
        self.run_inside(program, "generate", "payments", *STREAM, "--updates", "/tmp/demo/payments.csv", "--truth",
                        "/tmp/demo/planted.csv", more=NOBODY)
        report = self.run_inside(program, "replay", "--updates", "/tmp/demo/payments.csv", "--edges", "keyed",
                                 "--attributes", "amount:decimal(2)", "--query", f"{shared}/patterns", "--batch", "1000",
                                 "--emit", "matches", "--out", "/tmp/demo/alerts.jsonl", "--json", more=NOBODY)
        (demo / "report.json").write_text(report)
        digest = subprocess.run([sys.executable, ROOT / "scripts/demo_digest.py", demo], capture_output=True, text=True, check=False)
        self.assertEqual(digest.returncode, 0, digest.stdout + digest.stderr)
        self.assertIn("found = planted: 500 of 500; wrongly reported: 0", digest.stdout)
        shutil.rmtree(demo)

    def check_is_bare(self):
        """No compiler, no header, and none of the libraries that the program is linked with."""
        installed = self.run_inside("dpkg-query", "--show", "--showformat", "${Package}\n").split()
        self.assertLess(len(installed), 150)
        for package in installed:
            self.assertNotRegex(package, r"^(g\+\+|gcc$|gcc-\d+$|cmake|libtbb|librdkafka|libspdlog|libcurl|libyaml)|-dev$")

    def test_1_the_tarball_runs_as_it_is(self):
        tarball = self.package("deltamatch-*-linux-*.tar.gz")
        self.check_is_bare()
        self.run_inside("tar", "--extract", "--no-same-owner", "--directory", "/opt", "--file", tarball)
        folder = "/opt/" + pathlib.Path(tarball).name.removesuffix(".tar.gz")
        self.check_works(f"{folder}/bin/deltamatch", f"{folder}/share/deltamatch")
        unit = (self.debian / folder[1:] / "share/deltamatch/deltamatch.service").read_text()
        self.assertIn("\nExecStart=/usr/local/bin/deltamatch run", unit)
        libraries = self.debian / folder[1:] / "share/doc/deltamatch/libraries"
        self.assertRegex((libraries.parent / "REVISION").read_text(), r"\A[0-9a-f]{40}\n\Z")
        named = re.findall(r"^(\S+) \S+ \(source: ", (libraries / "README").read_text(), re.MULTILINE)
        self.assertIn("librdkafka1", named)
        self.assertEqual(sorted([*named, "README"]), sorted(file.name for file in libraries.iterdir()), "each has its licence")

    def test_2_the_deb_names_all_that_it_needs(self):
        package = self.package("deltamatch_*.deb")
        self.check_is_bare()
        self.assertIn("deltamatch depends on libtbb12", self.run_inside("dpkg", "-i", package, code=1))
        self.run_inside("apt-get", "update")
        self.run_inside("apt-get", "install", "--yes", "--no-install-recommends", "--fix-broken")
        self.run_inside("dpkg", "-i", package)
        self.check_works("deltamatch", "/usr/share/deltamatch")
        unit = (self.debian / "usr/lib/systemd/system/deltamatch.service").read_text()
        command = re.search(r"^ExecStart=(\S+) run --config /etc/deltamatch/service.yaml$", unit, re.MULTILINE)[1]
        self.run_inside(command, "--version")
        files = [line for line in self.run_inside("dpkg", "--listfiles", "deltamatch").split() if (self.debian / line[1:]).is_file()]
        patterns = sorted(file.name for file in (ROOT / "config/patterns").rglob("*.pattern"))
        self.assertEqual(sorted(pathlib.Path(file).name for file in files if "/patterns/" in file), patterns)
        for file in ("/usr/bin/deltamatch", "/usr/share/deltamatch/service.yaml", "/usr/share/doc/deltamatch/copyright", "/usr/share/doc/deltamatch/CITATION.cff", "/usr/share/doc/deltamatch/bench/results/README.md",
                     "/usr/share/doc/deltamatch/docs/guide/operating.md", "/usr/share/doc/deltamatch/docs/reference/config.md"):
            self.assertIn(file, files)
        self.assertIn("/usr/share/doc/deltamatch/python/examples/payments.ipynb", files)
        self.assertEqual(list(dead_links(self.debian / "usr/share/doc/deltamatch")), [])
        self.run_inside("dpkg", "--purge", "deltamatch")
        self.assertEqual([file for file in files if (self.debian / file[1:]).exists()], [])

    def test_3_the_deb_for_developers_has_all_that_a_program_needs(self):
        package = self.package("libdeltamatch-dev_*.deb")
        self.run_inside("apt-get", "update")
        self.run_inside("apt-get", "install", "--yes", package)
        self.run_inside("cmake", "-S", "/usr/share/doc/libdeltamatch-dev/examples", "-B", "/root/examples")
        self.run_inside("cmake", "--build", "/root/examples", "--parallel", "2")
        self.assertEqual(self.run_inside("/root/examples/triangles"), "batch 1: +1 -0\nbatch 2: +0 -1\n")
        ring = self.run_inside("/root/examples/payments/payments", "/usr/share/doc/libdeltamatch-dev/examples/payments/payments.csv")
        self.assertRegex(ring, r"\A\+ ring  ann -> bob 55\.70 at 2026-03-01T00:00:03Z  bob .*\n\Z")
        (self.debian / "root/edges.txt").write_text("1 2\n2 3\n3 1\n")
        self.assertIn('"bindings":{"a":', self.run_inside("/root/examples/replay_file", "/root/edges.txt", "(a)-->(b)-->(c)-->(a)"))

    def test_4_the_source_builds_with_the_packages_for_building(self):
        shutil.copytree(ROOT, self.debian / "root/source", ignore=lambda folder, names: [name for name in names if name in ("build", ".git", ".cuda")])
        self.run_inside("/root/source/scripts/setup", "--build")
        self.assertIn(": core ingest program service\n", self.run_inside("cmake", "--preset", "install", "-S", "/root/source"))


if __name__ == "__main__":
    BUILD = sys.argv.pop(1)
    if (reason := why_not()) is not None:
        print(f"skipped: {reason}")
        sys.exit(77)
    unittest.main(verbosity=2)
