"""Real streams as events. Each record is an edge of its own, with its time. The program and a plain counter of a few loops list
the rings of three edges in order of time, within a span. The counter takes one record at a time and knows no batches.
"""

import collections
import functools
import itertools
import random

import datasets
import streams
import test_bitcoin_otc
import test_collegemsg
import test_darpa1998
import test_email_eu_core
import test_mathoverflow

HOUR = 3_600_000_000
DAY = 24 * HOUR


def rings(records, span, lateness=0, holds=lambda *_: True):
    """Counts each ring as (source, target, time) of its three edges, oldest first. Records are (source, target, time, value).

    A ring is new with its last record, if its oldest time + span + lateness is beyond the largest time so far. `holds` takes
    the values of the edges.
    """
    leaving = collections.defaultdict(list)  # source -> records
    between = collections.defaultdict(list)  # (source, target) -> records
    found = collections.Counter()
    now = None
    for record in records:
        source, target, time, _ = record
        now = time if now is None else max(now, time)
        young = now - span - lateness  # edges of new rings are younger
        if source == target or time <= young:
            continue
        leaving[target] = [edge for edge in leaving[target] if edge[2] > young]
        for second in leaving[target]:
            back = second[1], source
            between[back] = [edge for edge in between[back] if edge[2] > young]
            for third in between[back]:
                turns = (record, second, third), (second, third, record), (third, record, second)
                ring = min(turns, key=lambda edges: edges[0][2])
                oldest, middle, newest = (edge[2] for edge in ring)
                if oldest < middle < newest < oldest + span and holds(*(edge[3] for edge in ring)):
                    found[tuple(edge[:3] for edge in ring)] += 1
        leaving[source].append(record)
        between[source, target].append(record)
    return found


class RingTest(streams.StreamTest):
    WARNED = ("out_of_order",)

    def check(self, args, records, span, *, at_least, where="", holds=lambda *_: True, lateness=0, batches=(8192, 500),
              stdin=b""):
        """`args` are the file and its options, and `where` is the condition that `holds` tests. Counts the rings."""
        text = f"ring=(a)-[t1]->(b)-[t2]->(c)-[t3]->(a) WHERE t1.time < t2.time < t3.time{where} WITHIN {span // 1_000_000}s"
        args = [*args, "--edges", "events", "--query", text]
        expected = rings(records, span, lateness, holds)
        self.assertGreaterEqual(expected.total(), at_least)
        late = ["--allowed-lateness", f"{lateness}us"] if lateness else []
        newest = itertools.accumulate((record[2] for record in records), max)
        disordered = any(record[2] < now - lateness for record, now in zip(records, newest))
        for batch in batches:
            told = self.program("replay", "--updates", *args, *late, "--batch", batch, "--emit", "matches",
                                "--out", "rings.jsonl", stdin=stdin)
            warned = {warning["code"] for warning in told["warnings"]}
            self.assertEqual("out_of_order" in warned, disordered, f"in batches of {batch}")
            query, = told["queries"]
            self.assertEqual((query["new"], query["removed"]), (expected.total(), 0), f"in batches of {batch}")
            self.assertEqual(self.listed(), expected, f"in batches of {batch}")
        in_order = sorted(records, key=lambda record: record[2])  # a whole graph has no order of arrival
        query, = self.program("match", "--graph", *args, stdin=stdin)["queries"]
        self.assertEqual(query["matches"], rings(in_order, span, holds=holds).total(), "in the whole graph")
        return expected.total()

    def listed(self):
        return collections.Counter(tuple((edge["source"], edge["target"], edge["time"]) for edge in alert["edges"])
                                   for alert in self.lines("rings.jsonl"))


class TimeRings(RingTest):
    def test_collegemsg(self):
        self.check([datasets.path(test_collegemsg.FILE)], plain(test_collegemsg), DAY, at_least=9_850, batches=(8192, 500, 1))

    def test_collegemsg_with_messages_that_come_late(self):
        """Each message comes up to 12 hours late. As much lateness, if it is allowed, brings all rings again."""
        draw = random.Random(1)
        records = sorted(plain(test_collegemsg), key=lambda record: record[2] + draw.randrange(12 * HOUR))
        self.write("late.txt", text(records))
        found = [self.check(["late.txt"], records, DAY, lateness=lateness, at_least=1) for lateness in (0, 6 * HOUR, 12 * HOUR)]
        self.assertLess(found[0], found[1])
        self.assertEqual(found[2], 9_850)

    def test_mathoverflow(self):
        """Hundreds of records are years late, and two rings lack them."""
        records = plain(test_mathoverflow)
        self.write("stream.txt", text(records))
        self.check(["stream.txt"], records, DAY, at_least=3_650)

    def test_bitcoin_otc(self):
        args = [datasets.path(test_bitcoin_otc.FILE), "--columns", "source=from,target=to,rating=feature,time=time",
                "--attributes", "rating:int"]
        records = [(*edge, int(rating)) for *edge, rating in plain(test_bitcoin_otc)]
        self.check(args, records, 30 * DAY, where=" AND t1.rating > 0 AND t2.rating > 0 AND t3.rating > 0",
                   holds=lambda *ratings: min(ratings) > 0, at_least=1_806)
        self.check(args, records, 30 * DAY, where=" AND t1.rating < t2.rating AND t3.rating <= 2 * t2.rating",
                   holds=lambda first, second, third: first < second and third <= 2 * second, at_least=633)

    def test_darpa1998(self):
        """The first 300,000 connections. Times are whole minutes, so most edges have the time of others."""
        head = datasets.unzip(test_darpa1998.ARCHIVE, test_darpa1998.MEMBER).splitlines(keepends=True)[:300_000]
        records = []
        for line in head:
            source, target, when, attack = line.decode().rstrip("\n").split(",")
            records.append((source, target, minute(when), attack))
        args = ["-", "--format", "csv", "--columns", test_darpa1998.COLUMNS, "--time-format", test_darpa1998.FORM]
        self.check(args, records, HOUR, at_least=6_132, stdin=b"".join(head))


class RestartingTimes(RingTest):
    WARNED = (*RingTest.WARNED, *test_email_eu_core.EmailEuCore.WARNED)

    def test_email_eu_core(self):
        """Times restart twice, so a stream and a whole graph have different rings."""
        self.check([datasets.path(test_email_eu_core.FILE)], plain(test_email_eu_core), DAY, at_least=6_789)


class Windows(streams.StreamTest):
    def test_rings_of_collegemsg_do_not_depend_on_batches(self):
        """A second message between two people only lengthens the life of their edge."""
        news, counts = collections.Counter(), set()
        alive = {}  # edge -> time of its last message
        leaving = collections.defaultdict(set)
        for source, target, now, _ in plain(test_collegemsg):
            for edge in [edge for edge, time in itertools.takewhile(lambda item: item[1] <= now - DAY, alive.items())]:
                del alive[edge]
                leaving[edge[0]].discard(edge[1])
            fresh = (source, target) not in alive
            alive.pop((source, target), None)  # the order is that of the times
            alive[source, target] = now
            leaving[source].add(target)
            for third in leaving[target] if fresh else ():
                if (third, source) in alive:
                    ring = source, target, third
                    news[min(ring[i:] + ring[:i] for i in range(3))] += 1
        self.assertEqual((news.total(), len(news)), (833, 782))
        for size in (1, 7, 1000, 8192, 100_000):
            told = self.program("replay", "--updates", datasets.path(test_collegemsg.FILE), "--window", "24h", "--batch", size,
                                "--query", "ring=(a)-->(b)-->(c)-->(a)", "--emit", "matches", "--out", "rings.jsonl")
            self.assertEqual(told["queries"][0]["new"], 833, f"in batches of {size}")
            found = collections.Counter(tuple(match["bindings"][name] for name in "abc") for match in self.lines("rings.jsonl")
                                        if match["sign"] == "+")
            self.assertEqual(found, news, f"in batches of {size}")
            counts.add(told["queries"][0]["removed"])
        self.assertEqual(counts, {833})


minute = functools.cache(test_darpa1998.microseconds)


def plain(module):
    """The records of another test's stream, with the label as value."""
    return [(source, target, time, label) for _, source, target, label, time in module.records()]


def text(records):
    return "".join(f"{source} {target} {time // 1_000_000}\n" for source, target, time, _ in records)


if __name__ == "__main__":
    streams.main()
