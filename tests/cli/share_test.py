"""replay --share: the shares of a stream are together what one run finds."""

import random

import harness

FAN = "fan=(s:Account)-[t:PAYS]->(hub:Account) ALERT ONCE PER (hub) EVERY 1h"
RING = "ring=(a)-[t:PAYS WHERE t.time > prev(t).time]->{2,4}(a) WITHIN 2h"
MANY = "many=(hub) WHERE COUNT { (s)-[:PAYS]->(hub) } >= 3"
TRIANGLES = "triangles=(a)-->(b)-->(c)-->(a)"
WAITS = "waits=(a)-[t:PAYS]->(b) WHERE NOT EXISTS { (b)-[u:PAYS]->(a) WHERE u.time <= t.time + 10m } EMIT FINAL"
HEAD = "op,source,target,label,source_label,target_label,time\n"


class Share(harness.CliTest):
    def setUp(self):
        super().setUp()
        draw = random.Random(7)
        rows, live = [], []
        for number in range(400):
            if live and draw.random() < 0.15:
                op, (source, target) = "-", live.pop(draw.randrange(len(live)))
            else:
                op, (source, target) = "+", draw.sample(range(13), 2)
                live.append((source, target))
            rows.append(f"{op},{source},{target},PAYS,Account,Account,{number * 30}\n")
        self.write("s.csv", HEAD + "".join(rows))
        self.args = ["replay", "--edges", "events", "--time-unit", "s", "--updates", "s.csv", "--batch", 50]
        for query in (FAN, RING, MANY, TRIANGLES, WAITS):
            self.args += ["--query", query]

    def listed(self, *args):
        result = self.json(*self.args, "--emit", "matches", "--out", "o.jsonl", *args)
        lines = self.read("o.jsonl").splitlines()
        return result, lines

    def test_shares_are_together_the_whole(self):
        whole, expected = self.listed()
        self.assertNotIn("share", whole)
        for query in whole["queries"]:
            self.assertGreater(query["new"], 0, query)
        self.assertGreater(whole["queries"][0]["suppressed"], 0)
        self.assertGreater(whole["queries"][4]["waiting"], 0)
        for of in (1, 2, 3, 7):
            found, some = [], 0
            sums = [dict.fromkeys(("new", "removed", "suppressed", "waiting"), 0) for _ in whole["queries"]]
            for number in range(1, of + 1):
                result, lines = self.listed("--share", f"{number}/{of}", "--threads", 1 + number % 2)
                self.assertEqual(result["share"], f"{number}/{of}")
                self.assertEqual(result["digest"], whole["digest"])
                self.assertEqual(result["ignored"], whole["ignored"])
                some += 0 < len(lines) < len(expected)
                found += lines
                for query, total in zip(result["queries"], sums):
                    for key in total:
                        total[key] += query.get(key, 0)
            self.assertEqual(sorted(found), sorted(expected), of)
            self.assertEqual(some, of if of > 1 else 0, "each share has some of the matches")
            for query, total in zip(whole["queries"], sums):
                self.assertEqual(total, {key: query.get(key, 0) for key in total}, (of, query["name"]))

    def test_counts_alone_add_up(self):
        whole = self.json(*self.args)
        parts = [self.json(*self.args, "--share", f"{number}/3") for number in (1, 2, 3)]
        for index, query in enumerate(whole["queries"]):
            for key in ("new", "removed"):
                self.assertEqual(sum(part["queries"][index][key] for part in parts), query[key], (query["name"], key))

    def test_shares_go_on_from_a_whole_snapshot(self):
        lines = self.read("s.csv").splitlines(keepends=True)
        self.write("first.csv", "".join(lines[:201]))
        self.write("rest.csv", HEAD + "".join(lines[201:]))
        queries = self.args[self.args.index("--query"):]
        self.ok("replay", "--edges", "events", "--time-unit", "s", "--updates", "first.csv", "--batch", 50, "--save-snapshot", "half.dms", *queries)
        args = ["replay", "--snapshot", "half.dms", "--time-unit", "s", "--updates", "rest.csv", "--batch", 50, *queries]
        whole = self.json(*args, "--emit", "digest")
        self.assertEqual(whole["digest"], self.json(*self.args)["digest"])
        parts = [self.json(*args, "--share", f"{number}/4") for number in range(1, 5)]
        for index, query in enumerate(whole["queries"]):
            for key in ("new", "removed", "suppressed", "waiting"):
                self.assertEqual(sum(part["queries"][index].get(key, 0) for part in parts), query.get(key, 0), (query["name"], key))

    def test_the_table_says_which_share_it_is(self):
        self.assertIn("\nshare    2 of 3: the matches are those of this share only\n", self.ok(*self.args, "--share", "2/3").out)
        self.assertNotIn("share", self.ok(*self.args).out)

    def test_what_is_no_share_is_refused(self):
        for text in ("0/3", "4/3", "1/0", "2", "1/", "/3", "a/3", "1/3/4", "1/4097", "-1/3"):
            self.fails(2, *self.args, f"--share={text}", says=["--share: ", "such as 2/3"])

    def test_a_snapshot_with_a_share_of_a_memory_is_refused(self):
        self.fails(2, *self.args, "--share", "2/3", "--save-snapshot", "x.dms", says=["--save-snapshot", "ALERT ONCE of fan"])
        plain = ["replay", "--updates", "s.csv", "--query", TRIANGLES, "--save-snapshot", "x.dms"]
        shared = self.json(*plain, "--share", "2/3")
        info = self.json("snapshot", "info", "x.dms")
        self.assertEqual(info["digest"], shared["digest"])
        self.ok(*self.args, "--share", "1/1", "--save-snapshot", "y.dms")


if __name__ == "__main__":
    harness.main()
