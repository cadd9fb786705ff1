"""scripts/kafka: a second start leaves the broker running, and a stop ends it. Data to be kept is kept, and only its own process
is ended.
"""

import pathlib
import socket
import subprocess
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "scripts/kafka"


class Script(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.TemporaryDirectory()
        self.addCleanup(self.directory.cleanup)
        self.addCleanup(self.call, "stop")

    def call(self, *arguments):
        return subprocess.run([SCRIPT, *arguments, "--dir", self.directory.name], capture_output=True, text=True, check=False)

    def file(self, name):
        return pathlib.Path(self.directory.name, name).read_text().strip()

    def runs(self, process):
        """Whether the process runs. One that only waits for its exit status to be collected does not."""
        try:
            return pathlib.Path(f"/proc/{process}/cmdline").read_bytes() != b""
        except OSError:
            return False

    def test_life_of_a_broker(self):
        self.assertEqual(self.call("status").returncode, 1)
        started = self.call("start")
        self.assertEqual((started.returncode, started.stderr), (0, ""))
        address = started.stdout.strip()
        self.assertEqual(address, self.file("address"))
        host, port = address.split(":")
        self.assertEqual(host, "127.0.0.1")
        socket.create_connection((host, int(port)), timeout=5).close()
        process = self.file("pid")
        self.assertTrue(self.runs(process))

        self.assertEqual(self.call("start").stdout.strip(), address)
        self.assertEqual(self.file("pid"), process)
        self.assertEqual(self.call("status").stdout.strip(), address)

        self.assertEqual(self.call("stop").returncode, 0)
        self.assertFalse(self.runs(process))
        self.assertEqual(self.call("status").returncode, 1)
        self.assertEqual(self.call("stop").returncode, 0)

        mark = pathlib.Path(self.directory.name, "data/mark")
        mark.touch()
        self.assertEqual(self.call("start", "--keep").stdout.strip(), address)
        self.assertTrue(mark.exists())
        self.call("stop")

    def test_a_stale_pid_is_nobodys(self):
        with subprocess.Popen(["sleep", "60"]) as other:
            pathlib.Path(self.directory.name, "pid").write_text(str(other.pid))
            self.assertEqual(self.call("stop").returncode, 0)
            self.assertIsNone(other.poll())
            other.kill()

    def test_usage(self):
        for arguments in ([], ["restart"], ["start", "--port"], ["start", "--port", "x"], ["start", "--dir"]):
            done = subprocess.run([SCRIPT, *arguments], capture_output=True, text=True, check=False)
            self.assertEqual((done.returncode, done.stderr[:6]), (2, "usage:"), arguments)


if __name__ == "__main__":
    unittest.main()
