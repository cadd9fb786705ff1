"""One configuration runs as several applications, the shards. Each reads its part of the partitions, so it has its part of the
tenants. All alerts together are those of a replay of everything.
"""

import collections
import json
import random
import time

from harness import edge, main, program, ServiceTest

SHARDS = 2
PARTITIONS = 4
TENANTS = 10
FENCE = {"kafka__session.timeout.ms": "6000"}


class ShardsTest(ServiceTest):
    def setUp(self):
        super().setUp()
        self.base = self.app

    def shard(self, number, ready=True, name="", **changes):
        """Starts an instance of a shard. `name` tells instances of one shard apart."""
        directory = str(self.dir / ("state" + name))
        config = self.config(f"shards{name}.yaml", **{"shards__count": SHARDS, "state__directory": directory, **changes})
        return self.start(config, ready, log=f"shard-{number}{name}.log", arguments=["--shard", str(number)])

    def produce(self, draw, count, deletes=0.2):
        """Edges within each tenant, with the tenant as the key."""
        records = []
        for _ in range(count):
            tenant = draw.randrange(TENANTS)
            source, target = draw.sample(range(12), 2)
            ends = [f"t{tenant}/{vertex}" for vertex in (source, target)]
            records.append((f"t{tenant}".encode(), edge(*ends, "-" if draw.random() < deletes else "+")))
        self.broker.produce(self.input, records)

    def marks(self):
        """Also those of workers."""
        marks = [record.get("mark", record) for record in self.commit_records()]
        self.assertEqual([mark["batch"] for mark in marks], list(range(len(marks))), "commit records are not contiguous")
        return marks

    def ends(self):
        """How many records each partition has."""
        return collections.Counter(partition for partition, *_ in self.broker.consume(self.input))

    def wait_read(self, *instances, timeout=120):
        """Waits until these instances, each of its own shard, have committed all that is there."""
        ends = self.ends()
        for instance in instances:
            number = instance.status()["shard"]["number"]
            own = {f"{self.input}[{p}]": end for p, end in ends.items() if p % SHARDS == number}
            instance.wait_committed(own, timeout)
            self.assertEqual(set(instance.status()["partitions"]), {f"{self.input}[{p}]" for p in range(number, PARTITIONS, SHARDS)})

    def check_all(self):
        """Compares the alerts of each shard with a replay of its batches, and those of all with a replay of everything."""
        records = self.broker.consume(self.alerts)
        net = collections.Counter()
        tenants = {}
        for number in range(SHARDS):
            header = f"{number} of {SHARDS}".encode()
            lines = [value.decode() for _, _, _, value, headers in records if headers[b"deltamatch.shard"] == header]
            self.app = f"{self.base}-{number}"
            self.check_alerts(lines=lines)
            self.assertGreater(len(lines), 20)
            for alert in map(json.loads, lines):
                net[alert["id"]] += 1 if alert["sign"] == "+" else -1
                names = {vertex.split("/")[0] for vertex in alert["bindings"].values()}
                self.assertEqual(len(names), 1, "a match has edges of two tenants")
                self.assertEqual(tenants.setdefault(names.pop(), number), number, "a tenant is in two shards")
        self.app = self.base
        self.assertEqual(len(records), sum(1 for *_, headers in records if b"deltamatch.shard" in headers))
        self.assertEqual(set(tenants.values()), set(range(SHARDS)))
        everything = self.dir / "everything.jsonl"
        everything.write_bytes(b"".join(value + b"\n" for *_, value, _ in self.broker.consume(self.input)))
        out = self.dir / "everything-alerts.jsonl"
        program("replay", "--updates", everything, "--format", "jsonl", "--query", "ring=(a)-->(b)-->(c)-->(a)", "--emit", "matches",
                "--out", out)
        whole = collections.Counter()
        for alert in map(json.loads, out.read_text().splitlines()):
            whole[alert["id"]] += 1 if alert["sign"] == "+" else -1
        self.assertEqual(+net, +whole)
        self.assertGreater(len(+whole), 50)

    def refused(self, what, number=0, **changes):
        instance = self.shard(number, ready=False, **changes)
        self.assertEqual(instance.ended(), 78, instance.log())
        self.assertIn(what, self.why(instance))

    @staticmethod
    def why(instance):
        """Why the instance has ended. Before there is a log, that is a plain text."""
        reasons = [event["why"] for event in instance.events() if event["event"] == "the service ends"]
        return reasons[-1] if reasons else instance.log()


class Shards(ShardsTest):
    def test_shards_together_find_what_one_instance_finds(self):
        self.broker.create(self.input, PARTITIONS)
        draw = random.Random(1)
        shards = [self.shard(number) for number in range(SHARDS)]
        self.produce(draw, 1500)
        self.wait_read(*shards)
        for number, shard in enumerate(shards):
            self.assertEqual(shard.status()["application"], f"{self.base}-{number}")
            self.assertEqual(shard.status()["shard"], {"number": number, "count": SHARDS, "of": self.base})
            self.assertEqual(shard.metric("deltamatch_shard"), {f'{{count="{SHARDS}",number="{number}"}}': 1})
            self.assertIn((f"{self.base}-{number}", str(number)),
                          [(event.get("application"), event.get("number")) for event in shard.events() if event["event"] == "shard"])
            self.assertTrue((self.dir / "state" / f"shard-{number}" / "state.json").exists())
        # One is stopped and one is killed; both go on where they were.
        self.assertEqual(shards[0].stop(), 0, shards[0].log())
        shards[1].kill()
        self.produce(draw, 500)
        shards = [self.shard(number) for number in range(SHARDS)]
        self.produce(draw, 500)
        self.wait_read(*shards)
        for shard in shards:
            self.assertEqual(shard.stop(), 0, shard.log())
        self.check_all()

    def test_a_standby_of_a_shard_takes_over(self):
        self.broker.create(self.input, PARTITIONS)
        draw = random.Random(2)
        share = {"state__share__path": str(self.dir / "shared"), "state__snapshot_every": "1s"}
        owner = self.shard(0, **FENCE, **share)
        other = self.shard(1, **share)
        standby = self.shard(0, ready=False, name="-standby", **FENCE, **share)
        standby.wait(lambda: standby.status().get("state") == "standby", "the standby")
        self.produce(draw, 800)
        self.wait_read(owner, other)
        for shard in (owner, other):  # in one folder, by the names of the applications
            shard.wait(lambda: shard.status()["share"]["published"] > 1, "a shared snapshot")
        for number in range(SHARDS):
            self.assertGreater(len(list((self.dir / "shared").glob(f"{self.base}-{number}*"))), 0)
        owner.kill()
        self.produce(draw, 800)
        standby.wait_ready()
        self.wait_read(standby, other)
        for shard in (standby, other):
            self.assertEqual(shard.stop(), 0, shard.log())
        self.check_all()

    def test_each_shard_may_have_workers(self):
        self.broker.create(self.input, PARTITIONS)
        draw = random.Random(3)
        workers = [self.shard(number, name=name, workers__slots=2, workers__name=name.strip("-"), state__snapshot_every="1s")
                   for number, name in ((0, "-a"), (1, "-a"), (0, "-b"))]
        workers[0].wait(lambda: len({slot["worker"] for slot in workers[0].status()["worker"]["slots"]}) == 2, "two workers with slots")
        self.produce(draw, 1500)
        self.wait_read(*workers)
        for worker in workers:
            worker.wait(lambda: worker.status()["worker"]["published"] == worker.status()["worker"]["cut"], "publication")
        for worker in workers:
            self.assertEqual(worker.stop(), 0, worker.log())
        self.check_all()

    def test_what_does_not_fit_is_refused(self):
        self.broker.create(self.input, PARTITIONS)
        self.refused("there are no shards", shards__count=None)
        self.refused(f"there is no shard {SHARDS}, as --shard says", number=SHARDS)
        nameless = self.start(self.config(shards__count=SHARDS), ready=False)
        self.assertEqual(nameless.ended(), 78)
        self.assertIn("shards: the configuration is for several shards", nameless.log())
        self.assertIn("add --shard N, with N from 0 to 1", nameless.log())
        odd = self.input + "-odd"
        self.broker.create(odd, 3)
        self.refused(f'"{odd}": the topic has 3 partitions, which is no multiple of the 2 shards',
                     name="-odd", application=self.base + "-odd", input__topics=[{"name": self.input}, {"name": odd}])
        whole = self.start(self.config())
        self.assertEqual(whole.stop(), 0)
        self.refused("this is the state directory of an application without shards", name="")
        self.refused(f"the application {self.base} has 0 batches without shards", name="-late")
        # The number of shards stays.
        other = {"application": self.base + "-n"}
        self.assertEqual(self.shard(1, name="-own", **other).stop(), 0)
        self.assertEqual(self.shard(0, name="-own", **other).stop(), 0)
        self.refused("made as shard 1 of 2, not as shard 1 of 4", number=1, name="-own", shards__count=4, **other)
        self.refused("made as shard 1 of 2, not as shard 1 of 4", number=1, name="-new", shards__count=4, standby__warm=False, **other)
        self.refused("made as shard 0 of 2, not as shard 0 of 4", number=3, name="-new", shards__count=4, **other)  # a new number
        whole = self.start(self.config(state__directory=str(self.dir / "state-own"), **other), ready=False)
        self.assertEqual(whole.ended(), 78)
        self.assertIn("shards have their state directories in this folder", whole.log())

    def test_partitions_may_be_added_in_multiples_only(self):
        self.broker.create(self.input, PARTITIONS)
        draw = random.Random(4)
        shards = [self.shard(number, input__refresh_every="500ms") for number in range(SHARDS)]
        # Nothing is deleted: in the replay of everything, records of a tenant come by partition.
        self.produce(draw, 500, deletes=0)
        self.wait_read(*shards)
        self.grow(6)
        for number, shard in enumerate(shards):
            shard.wait(lambda: f"{self.input}[{4 + number}]" in shard.status().get("partitions", {}), "the new partition")
        self.produce(draw, 1000, deletes=0)  # tenants are in other partitions now, of the same shards
        for number, shard in enumerate(shards):
            shard.wait_committed({f"{self.input}[{p}]": end for p, end in self.ends().items() if p % SHARDS == number})
        self.grow(7)
        for shard in shards:
            self.assertEqual(shard.ended(), 78, shard.log())
            self.assertIn(f'"{self.input}": the topic has 7 partitions, which is no multiple of the 2 shards', self.why(shard))
            self.assertIn("give the topic 8 partitions", self.why(shard))
        self.refused("the topic has 7 partitions")
        self.check_all()

    def grow(self, partitions):
        self.broker.tool("org.apache.kafka.tools.TopicCommand", "--alter", "--topic", self.input, "--partitions", partitions)
        time.sleep(1)  # until producers see them

    def test_a_record_without_a_key_is_told(self):
        self.broker.create(self.input, PARTITIONS)
        shard = self.shard(1)
        self.broker.produce(self.input, [edge(1, 2)], partition=1)
        shard.wait_committed({f"{self.input}[1]": 1})
        told = [event for event in shard.events() if event["event"] == "record_without_key"]
        self.assertEqual([event["partition"] for event in told], [f"{self.input}[1]"])
        self.assertEqual(shard.stop(), 0)


if __name__ == "__main__":
    main()
