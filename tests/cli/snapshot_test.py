"""Snapshots: what is saved is read back, and a damaged file is refused."""

import harness
from harness import TRIANGLE


class Snapshot(harness.CliTest):
    def save(self, *args):
        stream = ("op,source,target,label,source_label,target_label\n+,ann,bob,PAYS,Person,Person\n+,bob,7,OWNS,Person,Car\n"
                  '+,"x ""y""",ann,,,Person\n')
        self.write("s.csv", stream)
        self.ok("replay", "--updates", "s.csv", "--query", TRIANGLE, "--save-snapshot", "s.dms", *args)

    def test_round_trip(self):
        self.save()
        info = self.json("snapshot", "info", "s.dms")
        self.assertEqual(list(info), ["v", "graph", "directed", "window"])
        self.assertEqual((info["graph"]["vertices"], info["graph"]["edges"], info["directed"], info["window"]), (4, 3, True, 0))
        self.assertRegex(self.ok("snapshot", "info", "s.dms").out, r"\Agraph   directed, 4 vertices, 3 edges, .*\nwindow  none\n\Z")
        self.assertEqual(self.ok("snapshot", "verify", "s.dms").out, "s.dms: sound\n")
        query = "q=(a:Person)-[:PAYS]->(b:Person)-[:OWNS]->(c:Car)"
        self.assertEqual(self.json("match", "--snapshot", "s.dms", "--query", query)["queries"][0]["matches"], 1)
        self.write("more.csv", "op,source,target,label\n-,ann,bob,PAYS\n")
        result = self.json("replay", "--snapshot", "s.dms", "--updates", "more.csv", "--query", query)
        self.assertEqual(result["queries"], [{"name": "q", "new": 0, "removed": 1}])

    def test_export_can_be_read_again(self):
        self.save()
        self.ok("snapshot", "export", "s.dms", "--out", "s.jsonl")
        text = self.read("s.jsonl")
        self.assertEqual(text.splitlines(), [
            '{"vertex":7,"label":"Car"}', '{"vertex":"ann","label":"Person"}', '{"vertex":"bob","label":"Person"}',
            '{"vertex":"x \\"y\\""}', '{"source":"ann","target":"bob","label":"PAYS"}',
            '{"source":"bob","target":7,"label":"OWNS"}', '{"source":"x \\"y\\"","target":"ann"}'])
        self.assertEqual(self.ok("snapshot", "export", "s.dms").out, text)
        self.ok("replay", "--graph", "s.jsonl", "--updates", "-", "--query", TRIANGLE, "--save-snapshot", "again.dms")
        self.assertEqual(self.ok("snapshot", "export", "again.dms").out, text)

    def test_snapshot_keeps_direction_and_window(self):
        self.write("s.txt", "1 2 100\n2 3 200\n")
        self.ok("replay", "--updates", "s.txt", "--query", "e=(a)--(b)", "--undirected", "--window", "1h", "--save-snapshot", "w",
                "--time-unit", "s")
        info = self.json("snapshot", "info", "w")
        self.assertEqual((info["directed"], info["window"]), (False, 3600 * 10**6))
        self.write("t.txt", "3 4 3750\n")
        args = ["replay", "--snapshot", "w", "--updates", "t.txt", "--query", "e=(a)--(b)", "--time-unit", "s"]
        self.assertEqual(self.json(*args)["queries"], [{"name": "e", "new": 1, "removed": 1}])
        self.fails(2, *args, "--directed", says="the snapshot w holds an undirected graph")
        self.fails(2, *args, "--window", "2h", says="the snapshot w was made with another window")
        self.json(*args, "--window", "1h", "--undirected")

    def test_damage_is_found(self):
        self.save()
        whole = (self.dir / "s.dms").read_bytes()
        changed = bytearray(whole)
        changed[len(whole) * 2 // 3] ^= 1
        for name, content in [("torn", whole[:-1]), ("half", whole[: len(whole) // 2]), ("empty", b""), ("flip", bytes(changed)),
                              ("junk", bytes(range(256)) * 4), ("magic", b"X" + whole[1:])]:
            with self.subTest(name):
                self.write(name, content)
                for args in [["snapshot", "verify", name], ["snapshot", "info", name], ["snapshot", "export", name],
                             ["match", "--snapshot", name, "--query", TRIANGLE]]:
                    self.fails(1, *args, says=name)


if __name__ == "__main__":
    harness.main()
