"""Three workers, each behind a network of its own, which is cut and mended: the alerts are those of a replay, each once.

The networks are namespaces of this machine, so it needs root and the program ip. Each has a pair of virtual cards, one of which
hangs on a bridge. The broker listens at the bridge, too.
"""

import contextlib
import os
import random
import shutil
import socket
import subprocess
import time
import uuid

from harness import Broker, main
from test_workers import WorkersTest

PATIENCE = 10  # seconds until a worker that says nothing is gone
SESSION = 6  # seconds until a leader that says nothing is gone


def ip(*arguments, check=True):
    return subprocess.run(["ip", *arguments], capture_output=True, text=True, check=check)


def free_ports(count):
    with contextlib.ExitStack() as held:
        sockets = [held.enter_context(socket.socket()) for _ in range(count)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]


class Network(WorkersTest):
    names = "abc"

    def find_broker(self):
        if os.geteuid() != 0 or shutil.which("ip") is None:
            self.skipTest("needs root and the program ip, to make networks")
        self.tag = uuid.uuid4().hex[:6]
        self.net = f"10.{random.randrange(64, 128)}.{random.randrange(256)}"
        self.bridge = f"dmb{self.tag}"
        self.addCleanup(self.remove_networks)
        if ip("link", "add", self.bridge, "type", "bridge", check=False).returncode != 0:
            self.skipTest("networks cannot be made here")
        ip("addr", "add", f"{self.net}.1/24", "dev", self.bridge)
        ip("link", "set", self.bridge, "up")
        for number, name in enumerate(self.names):
            space = self.space(name)
            if ip("netns", "add", space, check=False).returncode != 0:
                self.skipTest("network namespaces cannot be made here")
            ip("link", "add", self.card(name), "type", "veth", "peer", "name", "eth0", "netns", space)
            ip("link", "set", self.card(name), "master", self.bridge, "up")
            ip("-n", space, "addr", "add", f"{self.host(name)}/24", "dev", "eth0")
            ip("-n", space, "link", "set", "eth0", "up")
            ip("-n", space, "link", "set", "lo", "up")
        near, far, controller = free_ports(3)
        listeners = f"PLAINTEXT://127.0.0.1:{near},NET://{self.net}.1:{far}"
        broker = Broker(self.dir / "broker", **{
            "listeners": f"{listeners},CONTROLLER://127.0.0.1:{controller}",
            "advertised_listeners": listeners,
            "controller_quorum_voters": f"1@127.0.0.1:{controller}",
            "listener_security_protocol_map": "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT,NET:PLAINTEXT"}, port=near)
        self.addCleanup(broker.stop)
        self.far = f"{self.net}.1:{far}"
        return broker

    def space(self, name):
        return f"dm{self.tag}{name}"

    def card(self, name):
        return f"dmv{self.tag}{name}"

    def host(self, name):
        return f"{self.net}.{2 + self.names.index(name)}"

    def remove_networks(self):
        for name in self.names:
            ip("netns", "del", self.space(name), check=False)
        ip("link", "del", self.bridge, check=False)

    def begin(self, name, ready=True, **changes):
        config = self.worker(name, http__listen=f"{self.host(name)}:0",
                             **{"kafka__bootstrap.servers": self.far, "kafka__session.timeout.ms": str(SESSION * 1000)}, **changes)
        return self.start(config, ready=ready, log=name + ".log", wrapper=["ip", "netns", "exec", self.space(name)])

    def cut_off(self, name):
        ip("link", "set", self.card(name), "down")

    def bring_back(self, name):
        ip("link", "set", self.card(name), "up")

    def published(self, worker):
        return worker.status().get("worker", {}).get("published", 0)

    def goes_on(self, worker):
        """Further batches are published."""
        before = self.published(worker)
        worker.wait(lambda: self.published(worker) > before + 5, "further batches", 90)

    def test_workers_are_cut_off_and_come_back(self):
        self.broker.create(self.input, 2)
        workers = {name: self.begin(name) for name in self.names}
        a, b, c = (workers[name] for name in self.names)
        end = self.produce_on(random.Random(9), 2)
        a.wait(lambda: sorted(self.owners(a)) == ["a", "b", "c"], "three workers with slots")
        leader = next(name for name in self.names if workers[name].status()["worker"]["leads"])
        followers = [name for name in self.names if name != leader]

        # One that follows is cut off. The others take over what it has, and go on.
        away, stays = followers
        self.cut_off(away)
        workers[leader].wait(lambda: away not in self.owners(workers[leader]), "other owners of its slots", 60)
        self.goes_on(workers[leader])
        self.bring_back(away)
        workers[leader].wait(lambda: away in self.owners(workers[leader]), "slots of the one that is back", 60)
        self.assertTrue(workers[away].alive(), workers[away].log())

        # A cut that is shorter than its patience costs nobody a slot.
        before = self.owners(workers[leader])
        self.cut_off(stays)
        time.sleep(PATIENCE / 4)
        self.bring_back(stays)
        self.goes_on(workers[leader])
        self.assertEqual(self.owners(workers[leader]), before)

        # The leader is cut off. Another one leads. The old one leads no more, which it learns from its group or from a fence.
        self.cut_off(leader)
        other = workers[stays]
        other.wait(lambda: leader not in self.owners(other), "a new leader that takes over", 90)
        self.goes_on(other)
        self.bring_back(leader)
        old = workers[leader]
        other.wait(lambda: not old.alive() or "worker_leads_no_more" in old.log(), "the end of the old leadership", 60)
        if not old.alive():
            self.assertEqual(old.ended(), 1, old.log())
            self.assertIn("another instance leads the workers now", old.log())
            workers[leader] = self.begin(leader)
        other.wait(lambda: sorted(self.owners(other)) == ["a", "b", "c"], "three workers again", 60)

        # One after the other is started anew, as for an upgrade.
        for name in self.names:
            self.assertEqual(workers[name].stop(), 0, workers[name].log())
            workers[name] = self.begin(name)
            seen = workers[self.names[0]]
            seen.wait(lambda seen=seen: sorted(self.owners(seen)) == ["a", "b", "c"], "three workers with slots", 90)

        end()
        self.wait_published(workers["a"])
        self.stop_all(*workers.values())
        self.check_logs()
        self.assertGreater(len(self.check_alerts()), 100)
        changes = {change for cut in self.cuts() for change in ("moves", "take_overs") if cut[change]}
        self.assertEqual(changes, {"moves", "take_overs"})


if __name__ == "__main__":
    main()
