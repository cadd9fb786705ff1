"""The patterns of docs/guide/patterns-to-copy.md: each finds what is planted for it, and no decoy."""

import json
import pathlib
import re

import harness

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs/guide/patterns-to-copy.md"
HEAD = "source,target,label,amount,time\n"


def transfers(*rows):
    """(source, target, amount, minute) as rows of a CSV file. The label is TRANSFER unless a fifth value names it."""
    return HEAD + "".join(f"{row[0]},{row[1]},{row[4] if len(row) > 4 else 'TRANSFER'},{row[2]},{row[3] * 60}\n"
                          for row in sorted(rows, key=lambda row: row[3]))


def fan(names, minute, amount=50):
    return [(name, "hub", amount, minute + number) for number, name in enumerate(names)]


TEN = [f"s{number}" for number in range(10)]
# By heading: the file, and how many matches of each pattern of the section appear in it.
CASES = {
    "Does money come back to where it began?": (transfers(
        ("a", "b", 2000, 0), ("b", "c", 1800, 10), ("c", "a", 1700, 20),
        ("k", "l", 2000, 0), ("l", "m", 1000, 10), ("m", "k", 900, 20),  # too much is kept
        ("p", "q", 2000, 0), ("q", "r", 1900, 1000), ("r", "p", 1800, 2000)), [1]),  # too long
    "Do two accounts pay each other?": (transfers(
        ("a", "b", 100, 0), ("b", "a", 98, 30), ("c", "d", 100, 0), ("d", "c", 60, 30), ("e", "f", 100, 0), ("f", "e", 100, 90)), [1]),
    "Does an account pass money on at once?": (transfers(
        ("a", "m", 600, 0), ("m", "b", 590, 5), ("c", "n", 600, 0), ("n", "d", 590, 15), ("e", "o", 100, 0), ("o", "f", 100, 5)), [1]),
    "Is money layered through several accounts?": (transfers(
        ("a", "b", 1000, 0), ("b", "c", 850, 10), ("c", "d", 700, 20), ("k", "l", 1000, 0), ("l", "m", 990, 10), ("m", "n", 850, 20)), [1]),
    "Do many pay one account?": (transfers(*fan(TEN, 0), *[(name, "other", 50, 10 * number) for number, name in enumerate(TEN)]), [1, 10]),
    "Does one account pay many?": (transfers(
        *[("hub", name, 50, number) for number, name in enumerate(TEN)], *[("slow", name, 50, 10 * number) for number, name in enumerate(TEN)]),
        [1, 10, 210 + 55]),  # four of the ten; within an hour, slow pays six
    "Does an amount come in small parts?": (transfers(
        ("a", "b", 950, 0), ("a", "b", 960, 30), ("a", "b", 990, 60), ("c", "d", 950, 0), ("c", "d", 1000, 30), ("c", "d", 990, 60)), [1]),
    "Does money spread and gather again?": (transfers(
        *[("a", name, 10, number) for number, name in enumerate("bcd")], *[(name, "z", 9, 10 + number) for number, name in enumerate("bcd")],
        *[("k", name, 10, number) for number, name in enumerate("lm")], *[(name, "y", 9, 10 + number) for number, name in enumerate("lm")]), [1]),
    "Is this the first payment between two accounts?": (transfers(
        ("a", "b", 6000, 10), ("c", "d", 20, 0), ("c", "d", 6000, 10), ("e", "f", 100, 10)), [1]),
    "Does a shop refund what nobody paid?": (transfers(
        ("ann", "shop", 100, 0, "PAYMENT"), ("shop", "ann", 100, 10, "REFUND"), ("shop", "bob", 100, 10, "REFUND")), [1]),
    "Was a payment not answered in time?": (transfers(
        ("ann", "shop", 600, 0, "PAYMENT"), ("shop", "ann", 0, 3, "CONFIRMATION"), ("bob", "shop", 600, 0, "PAYMENT"),
        ("cy", "shop", 10, 100, "PAYMENT")), [1]),
}


def sections():
    """{heading: its patterns}. A pattern is an indented block that begins with a parenthesis."""
    found = {}
    for part in PAGE.read_text().split("\n## ")[1:]:
        heading, text = part.split("\n", 1)
        blocks = re.findall(r"(?:^    .*\n)+", text, re.MULTILINE)
        patterns = [block for block in blocks if block.lstrip().startswith("(")]
        if patterns:
            found[heading] = patterns
    return found


class PatternsToCopy(harness.CliTest):
    def test_each_finds_what_was_planted(self):
        self.assertEqual(list(sections()), list(CASES), "each section has a case, and each case a section")
        for heading, patterns in sections().items():
            rows, expected = CASES[heading]
            self.write("payments.csv", rows)
            for number, (pattern, wanted) in enumerate(zip(patterns, expected, strict=True)):
                self.write("it.pattern", pattern)
                for batch in (1, 1000):
                    with self.subTest(heading, pattern=number, batch=batch):
                        report = self.json("replay", "--updates", "payments.csv", "--edges", "events", "--attributes", "amount:decimal(2)",
                                           "--time-unit", "s", "--query", "it.pattern", "--batch", batch)
                        self.assertEqual(report["queries"][0]["new"], wanted)

    def test_an_alert_of_many_has_the_time_of_the_payment_that_meets_the_count(self):
        for heading, turn in (("Do many pay one account?", lambda a, b: (a, b)), ("Does one account pay many?", lambda a, b: (b, a))):
            many = [(*turn(name, "hub"), 50, number) for number, name in enumerate([*TEN, "s10", "s11"])]
            self.write("payments.csv", transfers(*many, ("ann", "bob", 7, 3), ("ann", "bob", 7, 40)))
            self.write("it.pattern", sections()[heading][0])
            for batch in (1, 4, 1000):
                with self.subTest(heading, batch=batch):
                    self.ok("replay", "--updates", "payments.csv", "--edges", "events", "--attributes", "amount:decimal(2)", "--time-unit", "s",
                            "--query", "it.pattern", "--batch", batch, "--emit", "matches", "--out", "it.jsonl")
                    (alert,) = [json.loads(line) for line in self.read("it.jsonl").splitlines()]
                    self.assertEqual(alert["time"], 9 * 60 * 1_000_000)
                    self.assertIn("s9", alert["bindings"].values())


if __name__ == "__main__":
    harness.main()
