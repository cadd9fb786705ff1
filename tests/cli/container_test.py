"""The container has the libraries that the program is linked with."""

import os
import pathlib
import re
import shutil
import subprocess
import unittest

import harness

DOCKERFILE = pathlib.Path(__file__).resolve().parents[2] / "config/Dockerfile"
ALWAYS_THERE = {"libc6", "libgcc-s1", "libstdc++6"}


@unittest.skipUnless(shutil.which("readelf") and shutil.which("dpkg-query"), "needs binutils and Debian's packages")
class Container(unittest.TestCase):
    def test_each_library_comes_with_a_package_that_is_installed_there(self):
        second = DOCKERFILE.read_text().split("\nFROM ")[2]
        installed = set(re.search(r"--no-install-recommends((?:[^&])*)", second)[1].replace("\\", " ").split())
        dynamic = subprocess.run(["readelf", "-d", os.environ["DELTAMATCH_PROGRAM"]], capture_output=True, text=True, check=True).stdout
        libraries = re.findall(r"\(NEEDED\).*\[(.*)\]", dynamic)
        self.assertIn("librdkafka.so.1", libraries)
        for library in libraries:
            if re.match(r"lib[a-z]*san\.|ld-linux", library):
                continue  # a library of builds with sanitizers
            owners = subprocess.run(["dpkg-query", "-S", f"*-linux-gnu/{library}"], capture_output=True, text=True, check=False).stdout
            packages = set(re.findall(r"^([^:\s]+):", owners, re.MULTILINE)) - ALWAYS_THERE
            if owners and packages:
                self.assertTrue(packages & installed, f"{library} of {packages} is not in config/Dockerfile")


if __name__ == "__main__":
    harness.main()
