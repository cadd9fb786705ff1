"""docs/upgrade.md, "Go back", and docs/guide/kafka-service.md, "Back up": a restored backup catches up from the input, or the
service says why it cannot.
"""

import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tarfile
import time

from harness import main, PROGRAM, random_updates, RING, ROOT, ServiceTest

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "cli"))
import page  # noqa: E402


class Backups(ServiceTest):
    def setUp(self):
        super().setUp()
        self.broker.create(self.input)
        self.draw = random.Random(37)
        self.sent = 0
        self.state, self.backup, self.file = self.dir / "state", self.dir / "backup", self.dir / "alerts.jsonl"

    def configure(self, **changes):
        self.config(**{"sinks__file": {"type": "file", "path": str(self.file)},
                       "queries": [{"name": "ring", "pattern": RING, "sinks": ["alerts", "file"]}], **changes})

    def run_batches(self, count=1500, **changes):
        """Stops after so many more records."""
        self.configure(**changes)
        service = self.start()
        self.broker.produce(self.input, random_updates(self.draw, count))
        self.sent += count
        service.wait_committed({f"{self.input}[0]": self.sent})
        service.wait(lambda: service.status()["sinks"]["file"]["undelivered"] == 0, "delivery")
        self.assertEqual(service.stop(), 0)
        return service


class BackUp(Backups):
    def go_back(self):
        """Batches, a backup, more batches, and the backup in place again. The files of the sinks stay."""
        self.run_batches()
        shutil.copytree(self.state, self.backup)
        self.run_batches()
        self.state.rename(self.dir / "newer")
        shutil.copytree(self.backup, self.state)

    def refuses(self, code, *says):
        service = self.start(ready=False)
        self.assertEqual(service.ended(), code, service.log())
        for text in says:
            self.assertIn(text, service.log())

    def test_it_catches_up_from_the_input(self):
        self.go_back()
        service = self.run_batches()
        self.assertIn("read from the input again", service.log())
        self.assertEqual(sorted(self.file.read_text().splitlines()), sorted(self.check_alerts(queries=[f"ring={RING}"])))

    def test_it_needs_the_input_since_then(self):
        self.go_back()
        offsets = self.dir / "offsets.json"
        offsets.write_text('{"partitions":[{"topic":"%s","partition":0,"offset":%d}],"version":1}' % (self.input, self.sent - 100))
        self.broker.tool("org.apache.kafka.tools.DeleteRecordsCommand", "--offset-json-file", offsets)
        self.refuses(1, f"{self.input}[0]", str(self.sent - 100))

    def test_it_needs_records_to_be_read_alike(self):
        self.run_batches()
        shutil.copytree(self.state, self.backup)
        self.run_batches(input__topics=[{"name": self.input, "format": "json", "edge_label": "PAYS"}])
        shutil.rmtree(self.state)
        shutil.copytree(self.backup, self.state)
        self.configure()
        self.refuses(78, "this configuration or release would read it differently")

    def test_another_application_begins_anew(self):
        self.run_batches()
        self.run_batches()
        first = sorted(self.file.read_text().splitlines())
        self.app += "-anew"
        self.state, self.file = self.dir / "state-anew", self.dir / "alerts-anew.jsonl"
        self.configure(state={"directory": str(self.state)})
        service = self.start()
        service.wait_committed({f"{self.input}[0]": self.sent})
        service.wait(lambda: service.status()["sinks"]["file"]["undelivered"] == 0, "delivery")
        self.assertEqual(service.stop(), 0)
        again = self.file.read_text().splitlines()
        self.check_alerts(lines=again, queries=[f"ring={RING}"])
        self.assertTrue(first and again)


class Recipe(Backups):
    """Runs the commands of docs/guide/kafka-service.md, "Back up", as they stand there. Only the paths in the first line are those
    of the test, and the test is what `systemctl` would be.
    """

    def setUp(self):
        super().setUp()
        text = (ROOT / "docs/guide/kafka-service.md").read_text()
        section = text[text.index("\n## Back up"):text.index("\n## Recover")]
        parts = re.split(r"^### ", section, flags=re.MULTILINE)
        self.stopped, self.online, self.restore = ([entry[1] for entry in page.commands(part)] for part in parts)
        self.assertEqual([len(self.stopped), len(self.online), len(self.restore)], [7, 1, 5], "the page has other commands")
        self.archive = self.dir / "backup.tar"
        self.variables = f"state={self.state} backup={self.archive}\n"
        self.service = None

    def run_commands(self, commands):
        """Returns the exit code of the last command, and all that was printed. The others have to succeed."""
        printed = ""
        for command in commands:
            if command.startswith("state="):
                self.assertEqual(command, "state=/var/lib/deltamatch backup=/var/backups/deltamatch.tar")
            elif command == "systemctl stop deltamatch":
                if self.service is not None:
                    self.assertEqual(self.service.stop(), 0)
            elif command == "systemctl start deltamatch":
                self.service = self.start()
            elif re.match(r"\w+=\$\(", command):
                self.variables += command + "\n"
            else:
                done = subprocess.run(["bash", "-c", self.variables + command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                      check=False, env={**os.environ, "PATH": f"{self.programs()}:{os.environ['PATH']}"})
                printed += done.stdout
                if command != commands[-1]:
                    self.assertEqual(done.returncode, 0, f"{command}\n{done.stdout}")
                self.code = done.returncode
        return printed

    def programs(self):
        folder = self.dir / "bin"
        if not folder.exists():
            folder.mkdir()
            (folder / "deltamatch").symlink_to(os.path.abspath(PROGRAM))
            (self.dir / "check").mkdir()
            self.variables += f"mktemp() {{ echo {self.dir}/check; }}\n"  # one folder for all commands
        return folder

    def send(self, count=1500):
        self.broker.produce(self.input, random_updates(self.draw, count))
        self.sent += count

    def caught_up(self):
        self.service.wait_committed({f"{self.input}[0]": self.sent})
        self.service.wait(lambda: self.service.status()["sinks"]["file"]["undelivered"] == 0, "delivery")

    def check_all(self):
        """All alerts are in the topic and in the file, each once."""
        self.assertEqual(sorted(self.file.read_text().splitlines()), sorted(self.check_alerts(queries=[f"ring={RING}"])))

    def begin(self, **changes):
        self.configure(**changes)
        self.service = self.start()
        self.send()
        self.caught_up()

    def test_a_copy_of_a_stopped_service(self):
        self.begin()
        printed = self.run_commands(self.stopped)
        self.assertEqual(self.code, 0, printed)
        self.assertIn("snapshot-", printed)
        before = {path.name: path.stat().st_mode for path in (self.dir / "check").iterdir()}
        self.send()
        self.caught_up()
        digest = self.service.status()["digest"]
        self.run_commands(self.restore)
        self.assertEqual({name: (self.state / name).stat().st_mode for name in before}, before, "modes are kept")
        self.assertEqual(self.state.stat().st_mode & 0o777, 0o750)
        self.caught_up()
        self.assertEqual(self.service.status()["digest"], digest)
        self.assertIn("read from the input again", self.service.log())
        self.send()
        self.caught_up()
        self.check_all()

    def test_a_new_machine(self):
        """Another directory, which does not exist yet, and neither does the old one."""
        self.begin()
        self.run_commands(self.stopped)
        self.service.kill()
        shutil.rmtree(self.state)
        self.state = self.dir / "elsewhere" / "state"
        self.variables = f"state={self.state} backup={self.archive}\n"
        self.configure(state={"directory": str(self.state)})
        self.service = None
        self.run_commands(self.restore)
        self.send()
        self.caught_up()
        self.check_all()

    def test_a_copy_of_a_service_that_works(self):
        """Copies while batches are committed and snapshots are made. Each of them can be restored."""
        self.begin(state={"directory": str(self.state), "snapshot_every": "1s", "keep_snapshots": 2})
        copies = []
        for turn in range(6):
            self.send(600)  # they are matched during the copy
            printed = self.run_commands(self.online)
            self.assertEqual(self.code, 0, printed)
            copies.append(self.archive.rename(self.dir / f"online-{turn}.tar"))
            time.sleep(0.7)
        self.caught_up()
        digest = self.service.status()["digest"]
        for copy in (copies[0], copies[3], copies[5]):
            shutil.copy(copy, self.archive)
            shutil.rmtree(self.dir / "state.old", ignore_errors=True)
            shutil.rmtree(self.dir / "check", ignore_errors=True)
            (self.dir / "check").mkdir()
            printed = self.run_commands(self.stopped[4:])
            self.assertEqual(self.code, 0, printed)
            self.run_commands(self.restore)
            self.caught_up()
            self.assertEqual(self.service.status()["digest"], digest)
            self.check_all()
        self.send()
        self.caught_up()
        self.check_all()

    def damage(self, name):
        """Changes a byte in the middle of a file in the archive."""
        with tarfile.open(self.archive) as archive:
            member = archive.getmember(name)
        with open(self.archive, "r+b") as file:
            file.seek(member.offset_data + member.size // 2)
            byte = file.read(1)
            file.seek(-1, os.SEEK_CUR)
            file.write(bytes([byte[0] ^ 0x55]))

    def check_damage(self, name):
        """The check of the page finds it. The service does not trust the snapshot either, and loses nothing."""
        printed = self.run_commands(self.stopped[4:])
        self.assertNotEqual(self.code, 0, printed)
        self.assertIn(name, printed)
        self.run_commands(self.restore)
        self.assertIn("snapshot_set_aside", self.service.log())
        self.send()
        self.caught_up()
        self.check_all()

    def test_the_check_finds_damage(self):
        self.begin()
        self.run_commands(self.stopped[:4])
        newest = sorted(self.state.glob("snapshot-*.dms"))[-1].name
        self.damage(f"./{newest}")
        self.check_damage(newest)

    def test_a_damaged_copy_without_a_log_is_as_good_as_none(self):
        self.begin()
        self.assertEqual(self.service.stop(), 0)
        self.run_commands(self.online)
        self.assertEqual(self.code, 0)
        newest = sorted(self.state.glob("snapshot-*.dms"))[-1].name
        self.damage(newest)
        self.service = None
        self.check_damage(newest)

    def test_the_check_finds_an_empty_backup(self):
        self.begin()
        self.assertEqual(self.service.stop(), 0)
        for snapshot in self.state.glob("snapshot-*.dms"):
            snapshot.unlink()
        self.run_commands([self.stopped[2]])
        self.run_commands(self.stopped[4:])
        self.assertNotEqual(self.code, 0)


if __name__ == "__main__":
    main()
