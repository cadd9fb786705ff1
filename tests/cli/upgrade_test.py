"""docs/upgrade.md says which versions of files are written and read."""

import pathlib
import re

import harness
from harness import TRIANGLE

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs/upgrade.md"
AT = 8  # the version follows the eight bytes that every file of ours begins with


def row(ending):
    """(the version that is written, those that are read) of a kind of file."""
    written, read = re.search(rf"^\|[^|]*\(`\.{ending}`\) \| (\d) \| ([^|]*) \|", PAGE.read_text(), re.MULTILINE).groups()
    return int(written), {int(version) for version in re.findall(r"\d", read)}


class Upgrade(harness.CliTest):
    def setUp(self):
        super().setUp()
        self.write("s.tsv", "1\t2\n2\t3\n3\t1\n")
        self.ok("convert", "s.tsv", "a.dmu", "--to", "binary")
        self.ok("convert", "s.tsv", "a.dmg", "--to", "graph")
        self.ok("replay", "--updates", "s.tsv", "--query", TRIANGLE, "--save-snapshot", "a.dms", "--emit", "matches", "--out", "a.dmm")

    def version(self, name):
        return (self.dir / name).read_bytes()[AT]

    def test_files_have_the_version_that_the_page_names(self):
        for ending in ("dmu", "dmg", "dms", "dmm"):
            self.assertEqual(self.version(f"a.{ending}"), row(ending)[0], ending)

    def test_other_versions_are_refused_by_name(self):
        self.write("none.tsv", "")
        for ending, command in (("dmu", ["match", "--query", TRIANGLE, "--graph"]), ("dmg", ["match", "--query", TRIANGLE, "--graph"]),
                                ("dms", ["snapshot", "verify"])):
            written, read = row(ending)
            self.assertIn(written, read)
            self.ok(*command, f"a.{ending}")
            for version in set(range(0, 9)) - read:
                content = bytearray((self.dir / f"a.{ending}").read_bytes())
                content[AT] = version
                self.write(f"b.{ending}", bytes(content))
                self.fails(1, *command, f"b.{ending}", says=f"of version {version}")

    def test_the_oldest_binary_stream_is_read(self):
        old = PAGE.parents[1] / "tests/cli/version_1.dmu"
        self.assertEqual(old.read_bytes()[AT], min(row("dmu")[1]))
        self.ok("convert", old, "new.dmu", "--to", "binary")
        self.assertEqual(self.version("new.dmu"), row("dmu")[0])


if __name__ == "__main__":
    harness.main()
