"""The image that scripts/oci-image makes from the release tarball, run by runc against the real broker.

DELTAMATCH_BUILD is the build folder. umoci unpacks the image, so another program than the one that made it has to understand it.
Skipped (77) without buildah, umoci and runc (scripts/setup --dev), and without root, which runc needs.
"""

import atexit
import json
import os
import pathlib
import random
import shutil
import stat
import subprocess
import sys
import tarfile
import tempfile

from harness import Instance, main, random_updates, RING, ROOT, ServiceTest

USER = 10001
_made = {}


def run(*command, **more):
    done = subprocess.run([str(part) for part in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, **more)
    if done.returncode != 0:
        raise AssertionError(f"{command}: exit {done.returncode}\n{done.stdout}")
    return done.stdout


def image():
    """The archive of the image, made once for all tests, and the tarball that it was made from."""
    if not _made:
        out = pathlib.Path(tempfile.mkdtemp(prefix="deltamatch-image-"))
        atexit.register(shutil.rmtree, out, True)
        run(ROOT / "scripts/package", "--out", out, os.environ["DELTAMATCH_BUILD"])
        tarball = next(out.glob("*.tar.gz"))
        printed = run(ROOT / "scripts/oci-image", "--out", out, tarball)
        _made.update(out=out, tarball=tarball, archive=pathlib.Path(printed.split()[-1]))
    return _made["archive"], _made["tarball"]


class Container(Instance):
    """The service in a container with the host's network, a root that cannot be written, and no capability."""

    def __init__(self, test, bundle, log, arguments, mounts):
        self.log_path = log
        self.log_file = open(log, "ab")
        self.log_start = self.log_file.tell()
        self.url = None
        config = json.loads((bundle / "config.json").read_text())
        process = config["process"]
        process["terminal"] = False
        process["capabilities"] = {}
        if arguments is not None:
            process["args"] = [process["args"][0], *arguments]
        config["root"]["readonly"] = True
        config["linux"]["namespaces"] = [space for space in config["linux"]["namespaces"] if space["type"] != "network"]
        config["mounts"] += [{"destination": inside, "type": "bind", "source": str(outside), "options": ["rbind", mode]}
                             for inside, outside, mode in mounts]
        (bundle / "config.json").write_text(json.dumps(config))
        self.name = test.app + str(len(test.instances))
        test.instances.append(self)
        test.addCleanup(subprocess.run, ["runc", "delete", "--force", self.name], capture_output=True, check=False)
        self.process = subprocess.Popen(["runc", "run", "--bundle", str(bundle), self.name], stdin=subprocess.DEVNULL,
                                        stdout=self.log_file, stderr=self.log_file)


class Image(ServiceTest):
    def setUp(self):
        super().setUp()
        self.archive, self.tarball = image()
        layout = self.dir / "layout"
        layout.mkdir()
        with tarfile.open(self.archive) as archive:
            archive.extractall(layout)
        self.layout = layout
        self.reference = json.loads((layout / "index.json").read_text())["manifests"][0]["annotations"]["org.opencontainers.image.ref.name"]

    def unpacked(self, name="bundle"):
        bundle = self.dir / name
        run("umoci", "unpack", "--image", f"{self.layout}:{self.reference}", bundle)
        return bundle

    def blob(self, descriptor):
        algorithm, digest = descriptor["digest"].split(":")
        return json.loads((self.layout / "blobs" / algorithm / digest).read_text())

    def start_container(self, arguments=None, mounts=(), name="bundle", log="service.log"):
        return Container(self, self.unpacked(name), self.dir / log, arguments, mounts)

    def output(self, *arguments, mounts=(), name):
        container = self.start_container(arguments, mounts, name, f"{name}.log")
        code = container.ended()
        return code, container.log()

    def test_it_says_what_it_is(self):
        index = json.loads((self.layout / "index.json").read_text())
        self.assertEqual(len(index["manifests"]), 1)
        told = self.blob(self.blob(index["manifests"][0])["config"])
        version = self.tarball.name.split("-")[1]
        self.assertEqual(self.reference, f"deltamatch:{version}")
        config = told["config"]
        self.assertEqual(config["User"], f"{USER}:{USER}")
        self.assertEqual(config["Entrypoint"], ["/usr/local/bin/deltamatch"])
        self.assertEqual(config["Cmd"], ["run", "--config", "/etc/deltamatch/service.yaml"])
        self.assertEqual(config["ExposedPorts"], {"9464/tcp": {}})
        self.assertEqual(set(config["Volumes"]), {"/var/lib/deltamatch", "/var/log/deltamatch"})
        self.assertEqual(config["StopSignal"], "SIGTERM")
        self.assertEqual(config["Labels"]["org.opencontainers.image.version"], version)

    def test_it_holds_no_more_than_it_needs(self):
        root = self.unpacked() / "rootfs"
        for path in root.rglob("*"):
            status = path.lstat()
            inside = "/" + str(path.relative_to(root))
            if stat.S_ISLNK(status.st_mode):
                continue
            self.assertFalse(status.st_mode & (stat.S_ISUID | stat.S_ISGID), inside)
            if inside != "/tmp":
                self.assertFalse(status.st_mode & stat.S_IWOTH, inside)
            owned = inside in ("/var/lib/deltamatch", "/var/log/deltamatch")
            self.assertEqual((status.st_uid, status.st_gid), (USER, USER) if owned else (0, 0), inside)
        programs = [path for path in root.rglob("*") if path.is_file() and not path.is_symlink() and "bin" in path.parts]
        self.assertEqual([path.name for path in programs], ["deltamatch"])
        authorities = (root / "etc/ssl/certs/ca-certificates.crt").read_text()
        self.assertGreater(authorities.count("BEGIN CERTIFICATE"), 100)
        self.assertTrue((root / "usr/lib/ssl/cert.pem").is_symlink())
        for package in ("libc6", "libstdc++6", "libgcc-s1", "deltamatch/libraries/librdkafka1"):
            self.assertTrue((root / "usr/share/doc" / package).exists() or (root / "usr/local/share/doc" / package).exists(), package)

    def test_the_same_tarball_gives_the_same_image(self):
        again = self.dir / "again"
        run(ROOT / "scripts/oci-image", "--out", again, self.tarball)
        self.assertEqual((again / self.archive.name).read_bytes(), self.archive.read_bytes())
        run(ROOT / "scripts/oci-image", "--out", again, self.tarball, env={**os.environ, "SOURCE_DATE_EPOCH": "1700000000"})
        self.assertNotEqual((again / self.archive.name).read_bytes(), self.archive.read_bytes())

    def test_wrong_calls_are_refused(self):
        script = str(ROOT / "scripts/oci-image")
        for arguments, environment, says in ((["nothing.tar.gz"], {}, "name has to be that of a release tarball"),
                                             ([str(self.dir / "deltamatch-9-linux-x86_64.tar.gz")], {}, "cannot be read"),
                                             ([str(self.tarball)], {"SOURCE_DATE_EPOCH": "now"}, "SOURCE_DATE_EPOCH")):
            done = subprocess.run([script, "--out", str(self.dir), *arguments], capture_output=True, text=True, check=False,
                                  env={**os.environ, **environment})
            self.assertEqual(done.returncode, 1, done.stderr)
            self.assertIn(says, done.stderr)
        self.assertEqual(subprocess.run([script, "--unknown"], capture_output=True, check=False).returncode, 2)

    def test_it_runs_the_service(self):
        code, said = self.output("--version", name="version")
        self.assertEqual((code, said.split()[0]), (0, "deltamatch"), said)

        configuration, state = self.dir / "configuration", self.dir / "state"
        configuration.mkdir()
        state.mkdir()
        os.chown(state, USER, USER)
        self.config(name="configuration/service.yaml", state={"directory": "/var/lib/deltamatch"})
        mounts = [("/etc/deltamatch", configuration, "ro"), ("/var/lib/deltamatch", state, "rw")]
        code, said = self.output("validate", "--config", "/etc/deltamatch/service.yaml", mounts=mounts, name="validate")
        self.assertEqual(code, 0, said)
        self.assertIn("ring: 3 vertices", said)

        self.broker.create(self.input)
        draw = random.Random(5)
        for turn in (1, 2):  # the second container goes on where the first one stopped
            container = self.start_container(mounts=mounts, name=f"run{turn}").wait_ready()
            self.broker.produce(self.input, random_updates(draw, 1000))
            container.wait_committed({f"{self.input}[0]": 1000 * turn})
            self.assertEqual(container.metric("deltamatch_build_info"), {f'{{version="{self.tarball.name.split("-")[1]}"}}': 1.0})
            self.assertEqual(container.stop(), 0, container.log())
        self.assertGreater(len(self.check_alerts(queries=[f"ring={RING}"])), 10)
        self.assertTrue(any(state.glob("**/*.dms")), "the volume has a snapshot")


if __name__ == "__main__":
    missing = [tool for tool in ("buildah", "umoci", "runc") if shutil.which(tool, path=os.environ["PATH"] + ":/usr/sbin") is None]
    os.environ["PATH"] += ":/usr/sbin"
    if missing or os.geteuid() != 0:
        print(f"skipped: {', '.join(missing) + ' missing; run scripts/setup --dev' if missing else 'runc needs root'}")
        sys.exit(77)
    main()
