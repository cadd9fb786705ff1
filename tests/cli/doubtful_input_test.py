"""Readings that may not be what was meant. Every command that reads records reports them on standard error and in --json, with
place and remedy. If the reading is plain, there is no warning."""

import json

import harness
from harness import TRIANGLE

RING = "R=(a)-[:T]->(b)-[:T]->(c)-[:T]->(a)"
EDGE = "e=(a)-->(b)"
DAY = 86_400


def csv(times, header="source,target,label,time"):
    ends = ["A,B", "B,C", "C,A"]
    return header + "\n" + "".join(f"{ends[i % 3]},T,{time}\n" for i, time in enumerate(times))


def jsonl(times):
    ends = [("A", "B"), ("B", "C"), ("C", "A")]
    return "".join(json.dumps({"source": ends[i % 3][0], "target": ends[i % 3][1], "label": "T", "time": time}) + "\n"
                   for i, time in enumerate(times))


def tsv(times):
    ends = ["A\tB", "B\tC", "C\tA"]
    return "".join(f"+\t{ends[i % 3]}\tT\t{time}\n" for i, time in enumerate(times))


TEN_DAYS_APART_IN_MS = [1_700_000_000_000, 1_700_864_000_000, 1_701_728_000_000]
SECONDS_100_APART_IN_MS = [1_700_000_000_000, 1_700_000_100_000, 1_700_000_200_000]
ONE_AHEAD = ("source,target,label,time\nA,B,T,1700000000\ndev,x,T,2015360000\nB,C,T,1700000060\nC,A,T,1700000120\n")


class Doubts(harness.CliTest):
    def doubtful(self, *args, code=0):
        """Runs a command with warnings, which must be the same on standard error. Returns the object and its warnings."""
        outcome = self.run_program(*args, "--json")
        self.assertEqual(outcome.code, code, outcome)
        result = json.loads(outcome.out)
        told = [line for line in outcome.err.splitlines() if line.startswith("deltamatch: warning: ")]
        listed = [w for w in result["warnings"] if w["code"] != "refused"]
        self.assertEqual(len(told), len(listed), outcome)
        for line, warning in zip(told, listed):
            self.assertTrue(line.startswith(f"deltamatch: warning: {warning['where']}: {warning['what']}"), outcome)
            self.assertTrue(line.endswith(warning["remedy"]), outcome)
            self.assertTrue(warning["remedy"] and warning["where"] and warning["count"] >= 1, warning)
        return result, result["warnings"]

    def replay_of(self, name, content, *args):
        self.write(name, content)
        result, warnings = self.doubtful("replay", "--updates", name, "--query", RING, *args)
        return (result["queries"][0]["new"], result["queries"][0]["removed"]), warnings

    def silent(self, name, content, *args, query=RING):
        self.write(name, content)
        result = self.json("replay", "--updates", name, "--query", query, *args)
        self.assertEqual(result["warnings"], [])
        return result["queries"][0]["new"], result["queries"][0]["removed"]


class TimeUnits(Doubts):
    def test_times_in_milliseconds_are_named_with_the_unit_that_fits(self):
        for name, content, first, today, right in [
            ("ten.jsonl", jsonl(TEN_DAYS_APART_IN_MS), "ten.jsonl:1", 1, 0),
            ("near.csv", csv(SECONDS_100_APART_IN_MS), "near.csv:2", 0, 1),
            ("near.tsv", tsv(SECONDS_100_APART_IN_MS), "near.tsv:1", 0, 1),
        ]:
            with self.subTest(name):
                counts, (warning,) = self.replay_of(name, content, "--window", "24h")
                self.assertEqual(counts[0], today)
                self.assertEqual((warning["code"], warning["where"], warning["count"]), ("time_unit", first, 3))
                self.assertIn("as milliseconds they would lie about 2023", warning["what"])
                self.assertIn("--time-unit ms reads them so", warning["remedy"])
                self.assertEqual(self.silent(name, content, "--window", "24h", "--time-unit", "ms")[0], right)

    def test_every_unit_that_is_taken_for_another(self):
        for unit, option, scale in [("seconds", "s", 1), ("milliseconds", "ms", 10**3), ("microseconds", "us", 10**6),
                                    ("nanoseconds", None, 10**9)]:
            for name, form, usual in [("u.csv", csv, "s"), ("u.jsonl", jsonl, "us")]:
                times = [(1_700_000_000 + i) * scale for i in range(3)]
                with self.subTest(unit=unit, name=name):
                    if option == usual:
                        self.silent(name, form(times))
                        continue
                    if scale >= 10**6 and usual == "s":  # beyond 64 bits of microseconds
                        self.write(name, form(times))
                        self.fails(1, "replay", "--updates", name, "--query", RING, reports=True,
                                   says=["u.csv:2: bad_time: ", f"if it is in {unit} ", "give --time-unit us"])
                        continue
                    _, (warning,) = self.replay_of(name, form(times))
                    self.assertIn(f"as {unit} they would lie about 2023", warning["what"])
                    self.assertIn(f"--time-unit {option}" if option else "divide them by 1000", warning["remedy"])
                    self.silent(name, form(times), "--time-unit", usual)  # an option that states the unit is believed

    def test_times_are_not_converted_unasked(self):
        self.write("t.csv", csv(SECONDS_100_APART_IN_MS))
        self.run_program("replay", "--updates", "t.csv", "--query", RING, "--emit", "matches", "--out", "m.jsonl")
        self.assertEqual(self.lines("m.jsonl")[0]["time"], 1_700_000_200_000 * 10**6)

    def test_the_median_decides_not_a_few_times(self):
        plain = [1_700_000_000 + i for i in range(20)]
        _, (warning,) = self.replay_of("most.csv", csv(plain[:1] + [1_700_000_000_000 + i for i in range(200)]), "--max-ahead", "none")
        self.assertEqual((warning["code"], warning["where"]), ("time_unit", "most.csv:2"))
        self.silent("one.csv", csv(plain + [1_700_000_000_000] + plain), "--max-ahead", "none")

    def test_times_of_two_units_are_told_whichever_is_the_rarer(self):
        plain = [1_700_000_000 + i for i in range(40)]
        other = [1_700_000_000_000 + i for i in range(9)]
        none = ["--max-ahead", "none"]
        for name, times, first, count, what, args in [
                ("few.csv", csv(plain + other + plain), "few.csv:42", 9, "as seconds; 9 of 89 sampled fit as milliseconds; "
                 "all are read as seconds", none),
                ("most.csv", csv(plain[:5] + other), "most.csv:2", 5, "as milliseconds; 5 of 14 sampled fit as seconds; "
                 "all are read as seconds", none),
                ("few.jsonl", jsonl([time * 10**6 for time in plain] + plain[:2]), "few.jsonl:41", 2,
                 "as microseconds; 2 of 42 sampled fit as seconds", []),
                ("zeros.tsv", tsv([0] * 9 + plain + [0]), "zeros.tsv:1", 10, "but 10 of 50 are 0, the beginning of 1970",
                 [])]:
            with self.subTest(name):
                _, (warning,) = self.replay_of(name, times, *args)
                self.assertEqual((warning["code"], warning["where"], warning["count"]), ("mixed_times", first, count))
                self.assertIn("most times fit year 2023 ", warning["what"])
                self.assertIn(what, warning["what"])
                unit = "us" if name.endswith("jsonl") else "s"
                self.assertIn(f"--time-unit {unit} says that all are", warning["remedy"])
                self.silent(name, times, "--time-unit", unit, *args)
        # Dates before 1990 do not suggest another unit.
        self.silent("old.csv", csv([200_000_000 + 40_000_000 * i for i in range(40)]), "--max-ahead", "none")

    def test_edges_without_times_among_others_with_them(self):
        _, (warning,) = self.replay_of("s.csv", csv([1_700_000_000, "", 1_700_000_060, ""]))
        self.assertEqual((warning["code"], warning["where"], warning["count"]), ("empty_times", "s.csv:3", 2))
        self.assertIn("2 of 4 edges are inserted without a time", warning["what"])
        self.silent("few.csv", csv([1_700_000_000 + i if i % 15 else "" for i in range(60)]))
        self.silent("none.csv", csv([""] * 4))
        deletes = "op,source,target,label,time\n" + "".join(f"{op},{i},{i + 1},T,{time}\n" for op, time in (("+", 1_700_000_000), ("-", ""))
                                                         for i in range(9))
        self.silent("deletes.csv", deletes)
        # Under a window they are refused, and reported as refused.
        self.write("s.csv", csv([1_700_000_000, "", 1_700_000_060, ""]))
        self.fails(1, "replay", "--updates", "s.csv", "--query", RING, "--window", "24h", reports=True, says="s.csv:3: missing_time")

    def test_a_unit_that_is_stated_is_not_doubted_but_times_that_do_not_fit_are_refused(self):
        # Times before 1970 and after 2100.
        for times in ([-3_000_000_000 + i for i in range(3)], [9_000_000_000 + i for i in range(3)], [0, 0, 0]):
            self.silent("s.csv", csv(times), "--time-unit", "s")
        limit = 9_223_372_036_854  # in seconds: 64 bits of microseconds
        for unit, per_second in (("s", 1), ("ms", 10**3), ("us", 10**6)):
            for sign in (1, -1):
                with self.subTest(unit=unit, sign=sign):
                    self.silent("s.csv", csv([sign * limit * per_second]), "--time-unit", unit)
                    self.write("s.csv", csv([sign * (limit + 1) * per_second]))
                    self.fails(1, "replay", "--updates", "s.csv", "--query", RING, "--time-unit", unit, reports=True,
                               says="s.csv:2: bad_time: ")

    def test_every_command_that_reads_records_tells(self):
        self.write("g.csv", csv(SECONDS_100_APART_IN_MS))
        for args in (["match", "--graph", "g.csv", "--query", EDGE], ["motifs", "--graph", "g.csv", "-k", 3],
                     ["cliques", "--graph", "g.csv"], ["quasi-cliques", "--graph", "g.csv", "-k", 3, "--density", "0.9"],
                     ["replay", "--graph", "g.csv", "--updates", "/dev/null", "--query", EDGE]):
            _, (warning,) = self.doubtful(*args)
            self.assertEqual((warning["code"], warning["where"]), ("time_unit", "g.csv:2"))
            self.assertIn("--graph-time-unit ms" if args[0] == "replay" else "--time-unit ms", warning["remedy"])
        for args in (["explain", "--graph", "g.csv", "--query", EDGE], ["convert", "g.csv", "g.dmu", "--to", "binary"],
                     ["explain", "--graph", "g.csv", "--query", EDGE, "--analyze"],
                     ["convert", "g.csv", "g.dmg", "--to", "graph", "--times"]):
            outcome = self.run_program(*args)
            self.assertEqual(outcome.code, 0, outcome)
            self.assertTrue(outcome.err.startswith("deltamatch: warning: g.csv:2: times are read as seconds"), outcome)
            self.assertEqual(outcome.err.count("\n"), 1, outcome)

    def test_times_from_a_zero_of_their_own_matter_to_a_window_that_nothing_leaves(self):
        ticks = csv(range(3))
        self.silent("ticks.csv", ticks)
        self.silent("ticks.csv", ticks, "--batch-span", "1s")
        _, (warning,) = self.replay_of("ticks.csv", ticks, "--window", "24h")
        self.assertEqual(warning["code"], "time_unit")
        self.assertIn("less than the window of 24 hours", warning["what"])
        self.silent("ticks.csv", ticks, "--window", "24h", "--time-unit", "s")
        self.silent("days.csv", csv([0, 82_800, 86_340, 87_000]), "--window", "24h")  # these may be seconds

    def test_written_times_state_their_unit(self):
        self.silent("old.csv", csv(["1970-01-01", "1970-01-02", "1970-01-03"]))
        self.silent("old.csv", csv(["1970/01/01", "1970/01/02", "1970/01/03"]), "--time-format", "%Y/%m/%d")

    def test_each_input_is_told_of_once(self):
        self.write("a.csv", csv(SECONDS_100_APART_IN_MS * 50))
        self.write("b.csv", csv(SECONDS_100_APART_IN_MS))
        _, warnings = self.doubtful("replay", "--updates", "a.csv", "--updates", "b.csv", "--query", RING, "--batch", 2)
        self.assertEqual([(w["where"], w["count"]) for w in warnings], [("a.csv:2", 150), ("b.csv:2", 3)])


class TimesAhead(Doubts):
    def test_one_time_far_ahead_does_not_end_the_window(self):
        rows = ONE_AHEAD.splitlines()[1:]
        forms = {
            "ahead.csv": ONE_AHEAD,
            "ahead.tsv": "".join("+\t" + row.replace(",", "\t") + "\n" for row in rows),
            "ahead.jsonl": "".join(json.dumps({"source": s, "target": t, "label": l, "time": int(time) * 10**6}) + "\n"
                                   for s, t, l, time in (row.split(",") for row in rows)),
        }
        for name, content in forms.items():
            for batch in (1, 2, 7, 8192):
                with self.subTest(name=name, batch=batch):
                    counts, (warning,) = self.replay_of(name, content, "--window", "24h", "--batch", batch)
                    self.assertEqual(counts, (1, 0))
                    self.assertEqual((warning["code"], warning["where"]), ("time_ahead", f"{name}:{3 if name == 'ahead.csv' else 2}"))
                    self.assertIn("2033-11-11T", warning["what"])
                    self.assertIn("--max-ahead none", warning["remedy"])
            counts, (warning,) = self.replay_of(name, content, "--window", "24h", "--max-ahead", "none")
            self.assertEqual((counts, warning["code"], warning["count"]), ((0, 0), "late", 2))

    def test_as_many_ahead_as_not_are_told_by_what_is_late(self):
        rows = [(1_700_000_000 + 60 * i) * (1000 if i % 2 else 1) for i in range(300)]
        content = "source,target,time\n" + "".join(f"a{i},a{i + 1},{time}\n" for i, time in enumerate(rows))
        _, warnings = self.replay_of("late.csv", content, "--window", "24h")
        self.assertEqual([(w["code"], w["where"], w["count"]) for w in warnings],
                         [("mixed_times", "late.csv:3", 150), ("late", "late.csv", 149)])
        few = [1_700_000_000 + 60 * i - (3 * DAY if i % 20 == 19 else 0) for i in range(300)]
        self.silent("few.csv", "source,target,time\n" + "".join(f"a{i},a{i + 1},{time}\n" for i, time in enumerate(few)),
                    "--window", "24h", query=RING)

    def test_several_among_a_hundred_move_nothing_wherever_they_stand(self):
        plain = [1_700_000_000 + 60 * i for i in range(300)]
        places = {"spread": [20, 40, 55, 70, 90], "in a row": [100, 101, 102, 103, 104], "many in a row": list(range(100, 120)), "more in a row": list(range(100, 140)),
                  "at the beginning": [0, 1, 2, 3, 4], "at the end": [295, 296, 297, 298, 299], "at both": [0, 7, 150, 298, 299],
                  "a third": list(range(1, 300, 3))}
        for name, bad in places.items():
            for factor in (1000, 10**6):
                for args in ([], ["--batch", 1], ["--batch", 7]):
                    with self.subTest(name=name, factor=factor, args=args):
                        content = csv([time * (factor if i in bad else 1) for i, time in enumerate(plain)])
                        self.write("s.csv", content)
                        result, warnings = self.doubtful("replay", "--updates", "s.csv", "--query", RING, "--window", "24h", "--on-error",
                                                         "skip", *args)
                        if factor == 1000:
                            self.assertEqual([(w["code"], w["count"]) for w in warnings if w["code"] != "mixed_times"],
                                             [("time_ahead", len(bad))])
                        self.assertEqual(result["ignored"]["late"], 0)
        # If they are less than a century ahead, a quarter of the records confirm each other: they may belong to one event.
        for length, told in ((24, ["time_ahead"]), (27, [])):
            days = [time + (20 * DAY if 100 <= i < 100 + length else 0) for i, time in enumerate(plain)]
            _, warnings = self.replay_of("s.csv", csv(days), "--window", "400d")
            self.assertEqual([w["code"] for w in warnings], told)
        years = [time + (400 * DAY if i in (150, 151, 200) else 0) for i, time in enumerate(plain)]
        _, (warning,) = self.replay_of("s.csv", csv(years), "--window", "24h")
        self.assertEqual((warning["code"], warning["where"], warning["count"]), ("time_ahead", "s.csv:152", 3))

    def test_streams_out_of_order_are_not_ahead(self):
        spread = [1_600_000_000 + DAY // 4 * (i * 7919 % 365) for i in range(400)]
        none = ["--window", f"{400}d"]
        self.silent("shuffled.csv", csv(spread), *none)
        self.silent("reverse.csv", csv([1_600_000_000 - DAY * i for i in range(300)]), *none)
        # A source lags by days, with as many records as the other one.
        self.silent("two.csv", csv([1_600_000_000 + 60 * i - (i % 2) * 5 * DAY for i in range(300)]), *none)
        # After a pause, some earlier records are still to come.
        after = [1_600_000_000 + i for i in range(100)] + [1_600_000_000 + 40 * DAY + i - (i % 5 == 0) * 40 * DAY for i in range(200)]
        self.silent("pause.csv", csv(after), "--window", "400d")

    def test_the_edge_is_kept_and_lives_by_its_own_time(self):
        ahead = 1_700_000_000 + 10 * DAY
        rows = [("x", "y", ahead)] + [(f"a{i}", f"b{i}", 1_700_000_000 + 60 * i) for i in range(120)]
        later = [("p", "q", ahead + DAY // 2), ("r", "s", ahead + DAY - 1), ("t", "u", ahead + DAY)]
        base = "".join(f"{s} {t} {time}\n" for s, t, time in rows)
        options = ["--format", "snap", "--ids", "string", "--window", "24h", "--batch", 1, "--max-ahead", "7d"]
        # x y lives until the watermark reaches its time plus a day. A single time at the end is ahead too. Two confirm each other.
        for more, times_ahead, edges, removed in [(0, 1, 121, 0), (1, 2, 122, 0), (2, 1, 3, 120), (3, 1, 3, 121)]:
            with self.subTest(more):
                self.write("s.txt", base + "".join(f"{s} {t} {time}\n" for s, t, time in later[:more]))
                result, (warning,) = self.doubtful("replay", "--updates", "s.txt", "--query", EDGE, *options)
                self.assertEqual((warning["code"], warning["where"], warning["count"]), ("time_ahead", "s.txt:1", times_ahead))
                self.assertEqual((result["graph"]["edges"], result["queries"][0]["removed"]), (edges, removed))

    def test_times_that_go_on_are_not_ahead(self):
        weekly = csv([1_600_000_000 + 7 * DAY * i for i in range(300)])
        self.silent("weekly.csv", weekly, "--window", "24h")
        after_a_pause = csv([1_600_000_000 + i for i in range(50)] + [1_600_000_000 + 40 * DAY + i for i in range(50)])
        self.silent("pause.csv", after_a_pause, "--window", "24h")
        self.silent("one.csv", csv([1_700_000_000]), "--window", "24h")
        self.silent("two.csv", csv([1_600_000_000, 1_700_000_000]), "--window", "24h")

    def test_more_than_three_quarters_of_a_hundred_records_that_fall_back_are_needed(self):
        base = 1_700_000_000
        for behind, told in [(50, 0), (75, 0), (76, 1), (100, 1), (101, 1)]:
            # After the leap, this many records fall back. Then the stream continues from the time of the leap.
            times = [base] * 10 + [base + 30 * DAY] + [base + 60] * behind + [base + 30 * DAY + 60] * 150
            self.write("s.csv", csv(times))
            with self.subTest(behind):
                _, warnings = self.doubtful("replay", "--updates", "s.csv", "--query", RING, "--window", "24h")
                self.assertEqual([(w["code"], w["where"]) for w in warnings], [("time_ahead", "s.csv:12")] * told)

    def test_one_far_ahead_at_the_end_of_the_input(self):
        times = [1_700_000_000 + 3600 * i for i in range(200)]
        counts, (warning,) = self.replay_of("s.csv", csv(times + [times[-1] + 40 * DAY]), "--window", "1h")
        self.assertEqual((warning["code"], warning["where"]), ("time_ahead", "s.csv:202"))
        self.silent("s.csv", csv(times + [times[-1] + DAY]), "--window", "1h")

    def test_the_remedy_for_what_is_ahead_names_a_limit_that_helps(self):
        plain = [1_700_000_000 + 60 * i for i in range(120)]
        for days in (2, 10, 300):
            for at in (0, 60, 119):
                times = plain[:at] + [plain[at] + days * DAY] + plain[at:]
                _, (warning,) = self.replay_of("s.csv", csv(times))
                limit = warning["remedy"].split("--max-ahead ")[1].split(",")[0]
                self.assertIn(int(limit.rstrip("d")), (days, days + 1, days + 2))
                self.assertEqual(self.replay_of("s.csv", csv(times), "--max-ahead", limit)[1], [])
        _, warnings = self.replay_of("s.csv", csv(plain[:60] + [1000 * plain[60]] + plain[60:]))
        self.assertIn("may lie ahead: --max-ahead none for no limit", [w for w in warnings if w["code"] == "time_ahead"][0]["remedy"])

    def test_limits_of_what_is_ahead(self):
        def ahead(by, *args):
            times = [1_700_000_000 + i for i in range(50)]
            self.write("s.csv", csv(times[:20] + [times[0] + 200 + by] + times[20:]))
            return len(self.doubtful("replay", "--updates", "s.csv", "--query", RING, *args)[1])
        self.assertEqual([ahead(DAY - 300), ahead(DAY)], [0, 1])
        self.assertEqual([ahead(DAY, "--max-ahead", "2d"), ahead(3 * DAY, "--max-ahead", "2d"), ahead(3 * DAY, "--max-ahead", "none")],
                         [0, 1, 0])
        self.fails(2, "replay", "--updates", "s.csv", "--query", RING, "--max-ahead", "soon", says="--max-ahead: 'soon' is not a duration")

    def test_several_ahead_are_one_warning_with_a_count(self):
        times = []
        for i in range(300):
            times.append(1_700_000_000 + i)
            if i in (50, 100, 150):
                times.append(1_700_000_000 + 3 * DAY * (200 - i))
        _, (warning,) = self.replay_of("s.csv", csv(times), "--window", "24h")
        self.assertEqual((warning["code"], warning["where"], warning["count"]), ("time_ahead", "s.csv:53", 3))

    def test_cuts_count_the_same_records(self):
        self.write("s.csv", ONE_AHEAD)
        self.write("cuts.txt", "3\n0\n2\n")
        result, warnings = self.doubtful("replay", "--updates", "s.csv", "--query", RING, "--window", "24h", "--cuts", "cuts.txt",
                                         "--batches", "b.jsonl")
        self.assertEqual([b["updates"] for b in self.lines("b.jsonl")], [2, 0, 2])
        self.assertEqual((result["queries"][0]["new"], warnings[0]["code"]), (1, "time_ahead"))

    def test_refused_records_stand_where_they_stood(self):
        rows = ONE_AHEAD.splitlines(keepends=True)
        self.write("s.csv", "".join(rows[:3]) + "bad\n" + "".join(rows[3:]))
        base = ["replay", "--updates", "s.csv", "--query", RING, "--window", "24h"]
        result, warnings = self.doubtful(*base, "--on-error", "dead-letter", "--dead-letters", "d.jsonl")
        self.assertEqual((result["queries"][0]["new"], [w["code"] for w in warnings]), (1, ["time_ahead"]))
        self.assertEqual([(letter["position"], letter["record"]) for letter in self.lines("d.jsonl")], [(4, "bad")])
        outcome = self.run_program(*base)
        self.assertEqual(outcome.code, 1)
        self.assertIn("s.csv:4: wrong_arity", outcome.err)


class Deletions(Doubts):
    HEADER = "op,source,target,label\n"

    def stream(self, deletions):
        return self.HEADER + "".join(f"+,{i},{i + 100},T\n" for i in range(20)) + "".join(f"-,{s},{t},{l}\n" for s, t, l in deletions)

    def test_most_of_them_delete_nothing(self):
        for name, deletions in (("swapped", [(i + 100, i, "T") for i in range(9)]), ("other label", [(i, i + 100, "U") for i in range(9)]),
                                ("other ids", [(f"x{i}", i + 100, "T") for i in range(9)]),
                                ("five of nine", [(i if i > 4 else i + 200, i + 100, "T") for i in range(9)])):
            for batch in (1, 7, 8192):
                with self.subTest(name=name, batch=batch):
                    _, (warning,) = self.replay_of("s.csv", self.stream(deletions), "--batch", batch)
                    count = 5 if name == "five of nine" else 9
                    self.assertEqual((warning["code"], warning["where"], warning["count"]), ("absent_deletes", "s.csv", count))
                    self.assertIn(f"{count} of 9 deletions name edges or vertices that do not exist", warning["what"])
                    self.assertIn("that source and target are not swapped", warning["remedy"])

    def test_nothing_is_told_if_they_are_few_or_undo_what_is_inserted(self):
        for deletions in ([(i if i > 3 else i + 200, i + 100, "T") for i in range(9)], [(i, i + 100, "T") for i in range(9)],
                          [(i + 100, i, "T") for i in range(1)], [(i, i + 100, "T") for i in range(9)] * 2):
            for batch in (1, 7, 8192):
                with self.subTest(deletions=deletions, batch=batch):
                    self.silent("s.csv", self.stream(deletions), "--batch", batch)
        swapped = self.stream([(i + 100, i, "T") for i in range(9)])
        self.silent("s.csv", swapped, "--undirected", query="e=(a)--(b)")

    def test_in_a_start_graph_too(self):
        self.write("g.csv", self.stream([(i + 100, i, "T") for i in range(9)]))
        _, (warning,) = self.doubtful("match", "--graph", "g.csv", "--query", EDGE)
        self.assertEqual((warning["code"], warning["count"]), ("absent_deletes", 9))


class Ids(Doubts):
    QUOTED_AND_BARE = ('{"source":"1","target":2,"label":"T"}\n{"source":2,"target":3,"label":"T"}\n'
                       '{"source":3,"target":1,"label":"T"}\n')

    def test_ids_both_quoted_and_bare(self):
        counts, (warning,) = self.replay_of("ids.jsonl", self.QUOTED_AND_BARE)
        self.assertEqual(counts, (0, 0))
        self.assertEqual((warning["code"], warning["where"], warning["count"]), ("ids_of_two_kinds", "ids.jsonl:3", 1))
        self.assertIn('the text "1" and as the number 1', warning["what"])
        self.assertIn("--ids string", warning["remedy"])
        for kind in ("string", "integer"):
            self.assertEqual(self.silent("ids.jsonl", self.QUOTED_AND_BARE, "--ids", kind), (1, 0))

    def test_the_number_first_or_the_text(self):
        for lines in (['{"vertex":7}', '{"source":"7","target":"x"}'], ['{"source":"x","target":"-7"}', '{"vertex":-7}']):
            self.write("ids.jsonl", "\n".join(lines) + "\n")
            _, (warning,) = self.doubtful("match", "--graph", "ids.jsonl", "--query", EDGE)
            self.assertEqual(warning["where"], "ids.jsonl:2")

    def test_quoted_in_one_file_and_bare_in_another(self):
        self.write("labels.csv", "vertex,label\n1,A\n2,A\n3,A\n")
        self.write("more.jsonl", '{"source":"2","target":"1"}\n')
        labelled = "f=(a:A)-->(b:A)"
        for args in (["replay", "--labels", "labels.csv", "--updates", "more.jsonl"],
                     ["match", "--labels", "labels.csv", "--graph", "more.jsonl"]):
            result, (warning,) = self.doubtful(*args, "--query", labelled)
            self.assertEqual((warning["code"], warning["where"]), ("ids_of_two_kinds", "more.jsonl"))
            self.assertIn("the id 1 is a text here and a number in labels.csv", warning["what"])
            for kind in ("string", "integer"):
                found = self.json(*args, "--query", labelled, "--ids", kind)
                self.assertEqual((found["warnings"], found["queries"][0].get("new", found["queries"][0].get("matches"))), ([], 1))
        self.write("more.jsonl", '{"source":2,"target":1}\n')
        self.assertEqual(self.json("replay", "--labels", "labels.csv", "--updates", "more.jsonl", "--query", labelled)["warnings"], [])

    def test_ids_that_do_not_look_alike(self):
        self.silent("ids.jsonl", '{"source":"007","target":7}\n{"source":"7a","target":8}\n{"source":"9","target":"10"}\n', query="(a)-->(b)")

    def test_quotes_of_csv_say_nothing(self):
        self.silent("ids.csv", 'source,target,label\n"1",2,T\n2,"3",T\n3,1,T\n')
        self.assertEqual(self.silent("ids.csv", 'source,target,label\n"1",2,T\n2,"3",T\n3,1,T\n'), (1, 0))

    def test_binary_records_of_both_kinds(self):
        self.write("ids.jsonl", self.QUOTED_AND_BARE)
        self.run_program("convert", "ids.jsonl", "ids.dmu", "--to", "binary")
        _, (warning,) = self.doubtful("replay", "--updates", "ids.dmu", "--query", RING)
        self.assertEqual((warning["code"], warning["where"]), ("ids_of_two_kinds", "ids.dmu: record 3"))


class Weights(Doubts):
    def test_a_third_column_of_weights_is_named(self):
        for name, weights in {"mixed": ["1", "0.5", "7"], "scores": ["10", "-3", "1"], "fractions": ["0.1", "0.2", "0.3"],
                              "ones": ["1", "1", "1"]}.items():
            self.write("w.txt", "".join(f"{i} {(i + 1) % 3} {weight}\n" for i, weight in enumerate(weights)))
            for args in (["replay", "--updates", "w.txt", "--window", "24h"], ["replay", "--updates", "w.txt"],
                         ["match", "--graph", "w.txt"]):
                with self.subTest(name=name, args=args):
                    result, (warning,) = self.doubtful(*args, "--query", TRIANGLE)
                    self.assertEqual((warning["code"], warning["where"]), ("weight_as_time", "w.txt:1"))
                    self.assertIn("column 3", warning["what"])
                    self.assertIn("--columns source,target,- leaves it out", warning["remedy"])
                    for columns in ("source,target,-", "source,target,time"):
                        self.assertNotIn("weight_as_time", [w["code"] for w in self.doubtful(
                            *args, "--query", TRIANGLE, "--columns", columns, "--on-error", "skip", "--max-refused", 1)[1]])

    def test_a_fourth_column_of_tsv(self):
        _, (warning,) = self.replay_of("w.tsv", "+\tA\tB\tT\t0.5\n+\tB\tC\tT\t0.25\n+\tC\tA\tT\t3\n")
        self.assertEqual(warning["code"], "weight_as_time")
        self.assertIn("--columns source,target,label,-", warning["remedy"])

    def test_steps_in_order_are_times(self):
        self.silent("steps.txt", "1 2 0\n2 3 1\n3 1 1\n1 4 2\n", query=TRIANGLE)

    def test_times_are_no_weights(self):
        self.silent("t.txt", "1 2 1700000000.5\n2 3 1699999999\n3 1 1700000001\n", query=TRIANGLE)


if __name__ == "__main__":
    harness.main()
