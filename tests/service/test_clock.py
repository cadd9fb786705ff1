"""A wall clock that steps back delays nothing, because every timed wait uses the steady clock."""

import shutil
import subprocess
import unittest

import harness
from harness import RING, edge, main, ServiceTest

BY_THE_WALL_CLOCK = {"pthread_cond_timedwait", "pthread_mutex_timedlock", "pthread_rwlock_timedrdlock", "pthread_rwlock_timedwrlock",
                     "sem_timedwait", "mtx_timedlock", "cnd_timedwait"}


class Clock(ServiceTest):
    def run_with(self, clock, rings):
        self.broker.create(self.input)
        file = self.dir / "alerts.jsonl"
        self.config(sinks={"alerts": {"type": "kafka", "topic": self.alerts}, "file": {"type": "file", "path": str(file)}},
                    queries=[{"name": "ring", "pattern": RING, "sinks": ["alerts", "file"]}], state__snapshot_every="1s")
        service = self.start_preloaded("DELTAMATCH_STEPPING_CLOCK_LIBRARY", DELTAMATCH_CLOCK=clock).wait_ready()
        for ring in range(rings):
            self.broker.produce(self.input, [edge(3 * ring + a, 3 * ring + b) for a, b in ((0, 1), (1, 2), (2, 0))])
            service.wait_committed({f"{self.input}[0]": 3 * (ring + 1)}, timeout=60)
        self.assertEqual(service.stop(), 0)
        self.assertEqual(len(self.check_alerts()), rings)
        self.assertEqual(sorted(file.read_text().splitlines()), sorted(self.alert_lines()))
        self.assertNotIn("wall_clock", service.log_path.read_text())

    def test_waits_that_were_reckoned_before_a_step_back_end_in_time(self):
        self.run_with("ahead", 5)

    def test_steps_to_and_fro_do_not_matter(self):
        self.run_with("stepping", 15)


class Symbols(unittest.TestCase):
    def test_the_program_calls_no_wait_that_goes_by_the_wall_clock(self):
        if shutil.which("nm") is None:
            self.skipTest("nm is missing")
        told = subprocess.run(["nm", "--dynamic", "--undefined-only", harness.PROGRAM], capture_output=True, text=True, check=True).stdout
        names = {line.split()[-1].split("@")[0] for line in told.splitlines()}
        self.assertIn("pthread_cond_clockwait", names)
        self.assertEqual(names & BY_THE_WALL_CLOCK, set())


if __name__ == "__main__":
    main()
