"""docs/upgrade.md says which versions of files are written and read."""

import pathlib
import re

import harness
from harness import TRIANGLE

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs/upgrade.md"
STORED = PAGE.parents[1] / "tests/data"
AT = 8  # the version follows the eight bytes that every file of ours begins with


def row(ending):
    """(the versions that are written, the usual one first; those that are read) of a kind of file."""
    written, read = re.search(rf"^\|[^|]*\(`\.{ending}`\) \| (\d[^|]*) \| ([^|]*) \|", PAGE.read_text(), re.MULTILINE).groups()
    return [int(version) for version in re.findall(r"\d", written)], {int(version) for version in re.findall(r"\d", read)}


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
            self.assertEqual(self.version(f"a.{ending}"), row(ending)[0][0], ending)

    def test_other_versions_are_refused_by_name(self):
        self.write("none.tsv", "")
        for ending, command in (("dmu", ["match", "--query", TRIANGLE, "--graph"]), ("dmg", ["match", "--query", TRIANGLE, "--graph"]),
                                ("dms", ["snapshot", "verify"])):
            written, read = row(ending)
            self.assertLessEqual(set(written), read)
            self.ok(*command, f"a.{ending}")
            for version in set(range(0, 9)) - read:
                content = bytearray((self.dir / f"a.{ending}").read_bytes())
                content[AT] = version
                self.write(f"b.{ending}", bytes(content))
                self.fails(1, *command, f"b.{ending}", says=f"of version {version}")

    def test_there_is_a_stored_file_of_every_older_version_that_is_read(self):
        for ending in ("dmu", "dmg", "dms", "dmlog"):
            stored = {path.read_bytes()[AT] for path in STORED.rglob(f"*.{ending}")}
            made = {1} if ending == "dmlog" else set()  # StoredFiles.ALogOfVersionOne makes it from version 2
            self.assertEqual(stored | made | set(row(ending)[0]), row(ending)[1], ending)

    def test_stored_files_are_read_as_what_they_were(self):
        for folder in sorted(STORED.glob("v*")):
            self.ok("convert", folder / "stream.dmu", "stream.jsonl", "--to", "jsonl", "--order", "arrival")
            self.ok("convert", folder / "updates.jsonl", "updates.jsonl", "--to", "jsonl", "--order", "arrival")
            self.assertEqual(self.read("stream.jsonl"), self.read("updates.jsonl"), folder)
            self.ok("snapshot", "export", folder / "snapshot.dms", "--out", "snapshot.jsonl")
            self.assertEqual(self.read("snapshot.jsonl"), (folder / "snapshot.jsonl").read_text(), folder)
            ring = "ring=(a:Account)-[:PAYS]->(b)-[:PAYS]->(c)-->(a)"
            self.ok("replay", "--updates", folder / "stream.dmu", "--window", "24h", "--query", ring, "--batch", 5,
                    "--emit", "matches", "--out", "matches.jsonl")
            self.assertEqual(self.read("matches.jsonl"), (folder / "matches.jsonl").read_text(), folder)
            digests = [self.json("match", "--graph", graph, "--query", ring, "--emit", "digest")["queries"][0]["digest"]
                       for graph in (folder / "graph.dmg", folder / "graph.jsonl")]
            self.assertEqual(*digests, folder)

    def test_the_oldest_binary_stream_is_read(self):
        old = STORED / "v0/stream-1.dmu"
        self.assertEqual(old.read_bytes()[AT], min(row("dmu")[1]))
        self.ok("convert", old, "new.dmu", "--to", "binary")
        self.assertEqual(self.version("new.dmu"), row("dmu")[0][0])


if __name__ == "__main__":
    harness.main()
