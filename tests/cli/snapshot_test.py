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
        self.assertEqual(list(info), ["v", "graph", "directed", "window", "digest"])
        self.assertEqual((info["graph"]["vertices"], info["graph"]["edges"], info["directed"], info["window"]), (4, 3, True, 0))
        self.assertRegex(self.ok("snapshot", "info", "s.dms").out, r"\Agraph   directed, 4 vertices, 3 edges, .*\nwindow  none\ndigest  [0-9a-f]{32}\n\Z")
        self.assertRegex(info["digest"], r"\A[0-9a-f]{32}\Z")
        self.assertEqual(self.ok("snapshot", "verify", "s.dms").out, "s.dms: sound\n")
        query = "q=(a:Person)-[:PAYS]->(b:Person)-[:OWNS]->(c:Car)"
        self.assertEqual(self.json("match", "--snapshot", "s.dms", "--query", query)["queries"][0]["matches"], 1)
        self.write("more.csv", "op,source,target,label\n-,ann,bob,PAYS\n")
        result = self.json("replay", "--snapshot", "s.dms", "--updates", "more.csv", "--query", query)
        self.assertEqual(self.untimed(result["queries"]), [{"name": "q", "new": 0, "removed": 1}])

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
        self.assertEqual(self.untimed(self.json(*args)["queries"]), [{"name": "e", "new": 1, "removed": 1}])
        self.fails(2, *args, "--directed", says="the snapshot w holds an undirected graph")
        self.fails(2, *args, "--window", "2h", says="the snapshot w was made with another window")
        self.json(*args, "--window", "1h", "--undirected")

    def test_a_snapshot_with_keys_and_attributes_goes_on_as_if_there_were_no_break(self):
        rows = []
        for i in range(240):
            source, target = f"a{i * 7 % 11}", f"a{(i * 7 % 11 + 1 + i % 3) % 11}"
            channel = ["web", "", "atm"][i % 3]
            key = f"tx-{i % 200}" if i % 2 else str(i % 200)  # the last ones correct the first ones
            rows.append(f"{source},{target},T,{1000 + i * 60 - (i % 5) * 90},{key},{i % 17}.{i % 10}0,{channel}")
        head = "source,target,label,time,edge,amt,channel"
        write = lambda name, part: self.write(name, "\n".join([head, *part]) + "\n")
        write("all.csv", rows)
        for at in (0, 1, 117, 239):
            write("one.csv", rows[:at])
            write("two.csv", rows[at:])
            for model in ("keyed", "events"):
                with self.subTest(at=at, model=model):
                    self.go_on(at, model)

    def go_on(self, at, model):
        queries = []
        for pattern in ("chain=(a)-[t1:T]->(b)-[t2:T]->(c) WHERE t1.time < t2.time AND t1.amount > t2.amount",
                        "within=(a)-[t1:T]->(b)-[t2:T]->(c) WHERE t1.channel = 'web' WITHIN 5m"):
            queries += ["--query", pattern]
        schema = ["--edges", model, "--attributes", "amount:decimal(2)=amt,channel:symbol"]
        columns = schema if model == "keyed" else ["--attributes", schema[3]]  # the column is not called as the attribute
        run = ["replay", *queries, "--batch", 1, "--emit", "matches", "--time-unit", "s"]
        self.ok(*run, *schema, "--allowed-lateness", "2m", "--updates", "all.csv", "--out", "all.jsonl", "--save-snapshot", "all")
        self.ok(*run, *schema, "--allowed-lateness", "2m", "--updates", "one.csv", "--out", "1.jsonl", "--save-snapshot", "one")
        for repeated in (columns, ["--allowed-lateness", "2m", *schema]):
            self.ok(*run, *repeated, "--snapshot", "one", "--updates", "two.csv", "--out", "2.jsonl", "--save-snapshot",
                    "two")
            self.assertEqual(self.lines("1.jsonl") + self.lines("2.jsonl"), self.lines("all.jsonl"))
            self.assertEqual(self.ok("snapshot", "export", "two").out, self.ok("snapshot", "export", "all").out)
        found = [self.json("match", *queries, "--snapshot", file, "--emit", "digest")["queries"] for file in ("two", "all")]
        self.assertEqual(*[[(query["matches"], query["digest"]) for query in whole] for whole in found])
        info = self.json("snapshot", "info", "two")
        self.assertEqual(info["attributes"], "amount decimal(2), channel symbol")
        self.assertEqual((info["edges"], info["allowed_lateness"]), (model, 120 * 10**6))
        self.assertIn(f"edges   {model}; amount decimal(2), channel symbol\nlate    up to 2:00 min", self.ok("snapshot", "info", "two").out)
        other = "events" if model == "keyed" else "keyed"
        again = [*run, "--snapshot", "one", "--updates", "two.csv"]
        self.fails(2, *again, "--edges", other, says=f"the snapshot one was made with --edges {model}")
        self.fails(2, *again, "--attributes", "n:int", says="made with the attributes amount decimal(2), channel symbol")
        self.fails(2, *again, "--vertex-attributes", "n:int", says="made with no attributes")
        self.fails(2, *again, "--allowed-lateness", "1m", says="made with another lateness")

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
