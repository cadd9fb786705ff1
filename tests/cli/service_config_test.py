"""deltamatch validate --config says what would run, or what is wrong. (tests/unit/config has the corpus of broken configurations.)"""

import os
import pathlib
import unittest.mock

import harness

CONFIG = pathlib.Path(__file__).parents[2] / "config"
LEAST = """application: app
state: {directory: state}
kafka: {bootstrap.servers: 'localhost:9092'}
input: {topics: [{name: payments}]}
sinks: {alerts: {type: kafka, topic: alerts}}
queries: [{name: ring, pattern: (a)-->(b)-->(c)-->(a)}]
"""


class ServiceConfig(harness.CliTest):
    def test_the_reference_is_valid_and_starts_nothing(self):
        said = self.ok("validate", "--config", CONFIG / "service.yaml").out
        for line in ["application  fraud-alerts", "input        payments: json", "input        ^atm-[a-z]+$: csv",
                     "sink         alerts: the topic fraud.alerts", "sink         pager: the webhook https://pager.example",
                     "budget       mutual: up to 30s, up to 1,000,000 matches, then suspend",
                     "edges        keyed; amount decimal(2)",
                     "query        ring: 3 to 6 vertices, 3 to 6 edges, to alerts, archive",
                     "http         127.0.0.1:9464"]:
            self.assertIn(line, said.splitlines())
        self.assertEqual(os.listdir(self.dir), [])

    def test_what_would_run(self):
        self.write("service.yaml", LEAST)
        self.assertEqual(self.ok("validate", "--config", "service.yaml").out, """\
application  app
input        payments: json
bad records  fail
graph        directed, no window
batch        up to 8,192 updates, up to 100ms
state        state
sink         alerts: the topic alerts
query        ring: 3 vertices, 3 edges, to alerts
http         127.0.0.1:9464
""")

    def test_shards_and_workers_are_shown(self):
        self.write("service.yaml", LEAST + "shards: {count: 4}\nworkers: {slots: 16}\n")
        lines = self.ok("validate", "--config", "service.yaml", "--shard", 3).out.splitlines()
        self.assertEqual(lines[:3], ["application  app-3", "shard        3 of 4: the partitions 3, 7, 11 and so on of each topic",
                                     "workers      16 slots, ends itself after a hang of 10m"])
        self.assertIn("state        state/shard-3", lines)
        self.assertEqual(self.ok("validate", "--config", "service.yaml").out.splitlines()[0], "application  app-0")
        self.fails(78, "validate", "--config", "service.yaml", "--shard", 4,
                   says="7: shards.count: there is no shard 4, as --shard says; shards are numbered from 0 to 3")
        self.fails(78, "run", "--config", "service.yaml",
                   says="service.yaml: shards: the configuration is for several shards, and which one runs here is not said; add --shard N, with N from 0 to 3")
        self.fails(2, "validate", "--query", "q=(a)-->(b)", "--shard", 1, says="--shard: only a configuration has shards")
        self.write("service.yaml", LEAST)
        self.fails(78, "run", "--config", "service.yaml", "--shard", 0, says="shards: the command line has --shard, but there are no shards")

    def test_allowed_lateness_is_told_and_needs_a_query_with_a_time(self):
        graph = "graph: {edges: events, allowed_lateness: 5m}\n"
        self.write("service.yaml", LEAST + graph)
        self.fails(78, "validate", "--config", "service.yaml",
                   says="7: graph.allowed_lateness: no query has WITHIN, EMIT FINAL or ALERT ONCE, so no record can come too late for one; end a pattern "
                        "with WITHIN TIME, or leave it out")
        self.write("service.yaml", LEAST.replace("(c)-->(a)", "(c)-->(a) WITHIN 1h") + graph)
        self.assertIn("graph        directed, edges kept 65m because of WITHIN, allowed lateness 5m\nedges        events\n",
                      self.ok("validate", "--config", "service.yaml").out)

    def test_how_long_edges_are_kept(self):
        within = LEAST.replace("(c)-->(a)", "(c)-->(a) WITHIN 1d")
        two = within.replace("queries: [", 'queries: [{name: other, pattern: (a)-->(b)}, ')
        for text, kept in [(within + "graph: {edges: events}\n", "edges kept 1d because of WITHIN"),
                           (two + "graph: {edges: events}\n", "no window"),
                           (within + "graph: {edges: events, window: 2d}\n", "window 2d")]:
            with self.subTest(kept=kept):
                self.write("service.yaml", text)
                self.assertIn(f"graph        directed, {kept}\n", self.ok("validate", "--config", "service.yaml").out)

    def test_folders_that_cannot_be_made(self):
        self.write("service.yaml", LEAST.replace("state: {directory: state}", "state: {directory: none/state, share: {path: none/share}}"))
        self.fails(78, "validate", "--config", "service.yaml",
                   says=["state.directory: this cannot be made, because there is no directory none; make that directory, or correct the path"])
        for share in ("share", "mounted/later"):
            self.write("service.yaml", LEAST.replace("state: {directory: state}", f"state: {{directory: state, share: {{path: {share}}}}}"))
            self.ok("validate", "--config", "service.yaml")
        self.assertEqual(os.listdir(self.dir), ["service.yaml"])

    def test_a_run_that_fails_says_so_once(self):
        (self.dir / "state").mkdir()
        (self.dir / "state" / "lock").mkdir()
        for form, told in (("text", "error the service ends why="), ("json", '"event":"the service ends"')):
            self.write("service.yaml", LEAST + f"log: {{format: {form}}}\n")
            outcome = self.run_program("run", "--config", "service.yaml")
            self.assertEqual(outcome.code, 1, outcome)
            self.assertEqual(outcome.err.count("the state directory cannot be locked"), 1, outcome)
            self.assertIn(told, outcome.err)

    def test_a_window_that_is_shorter_than_a_match(self):
        text = LEAST.replace("(c)-->(a)", "(c)-->(a) WITHIN 1d")
        self.write("service.yaml", text + "graph: {edges: events, window: 1h}\n")
        outcome = self.run_program("validate", "--config", "service.yaml")
        self.assertEqual(outcome.code, 0, outcome)
        self.assertEqual(outcome.err, "deltamatch: warning: service.yaml:7: graph.window: edges live for the window of 1h only, and "
                         "matches of the query ring may span 1d; make the window as long, or leave it out\n")
        self.write("service.yaml", text + "graph: {edges: events, window: 1d}\n")
        self.ok("validate", "--config", "service.yaml")

    def test_the_model_of_edges_that_a_query_needs_is_named_by_its_key(self):
        text = LEAST.replace("(c)-->(a)", "(c)-->(a) WITHIN 1d")
        for graph in ("", "graph: {edges: simple}\n"):
            self.write("service.yaml", text + graph)
            outcome = self.fails(78, "validate", "--config", "service.yaml",
                                 says="the graph's edges are 'simple'; choose graph.edges: keyed or graph.edges: events")
            self.assertNotIn("--edges", outcome.err)
        for graph in ("{edges: foo}", "{edges: foo, attributes: {amount: int}}"):
            self.write("service.yaml", text + f"graph: {graph}\n")
            outcome = self.fails(78, "validate", "--config", "service.yaml")
            self.assertEqual(outcome.err, "deltamatch: service.yaml:7: graph.edges: 'foo' is not a choice; choose one of "
                             "simple|keyed|events\n")

    def test_only_a_replay_orders_by_time(self):
        self.write("service.yaml", LEAST + "graph: {window: 1h, order: time}\n")
        self.fails(78, "validate", "--config", "service.yaml", says="7: graph.order: the service takes records as they come; leave it out")
        self.write("service.yaml", LEAST + "graph: {window: 1h, order: arrival}\n")
        self.ok("validate", "--config", "service.yaml")

    def test_budgets_are_told_with_what_becomes_of_a_query_beyond_them(self):
        queries = [("ring", "budget: {matches: 1}, "), ("pair", "budget: {time: 1500ms, then: stop}, "), ("free", "")]
        text = LEAST.partition("queries:")[0] + "queries:\n" + "".join(
            f"  - {{name: {name}, {own}pattern: (a)-->(b)-->(a)}}\n" for name, own in queries)
        for common, told in [("", ["ring: up to 1 match, then suspend", "pair: up to 1500ms, then stop"]),
                             ("budget: {time: 30s, matches: 1000000}\n",
                              ["ring: up to 30s, up to 1 match, then suspend", "pair: up to 1500ms, up to 1,000,000 matches, then stop",
                               "free: up to 30s, up to 1,000,000 matches, then suspend"])]:
            with self.subTest(common):
                self.write("service.yaml", text + common)
                said = self.ok("validate", "--config", "service.yaml").out.splitlines()
                self.assertEqual([line for line in said if line.startswith("budget")], [f"budget       {line}" for line in told])

    def test_every_problem_is_told_at_once(self):
        self.write("service.yaml", LEAST + "batch: {max_update: 5}\nlog: {level: loud}\nhttp: {listen: here}\n")
        outcome = self.fails(78, "validate", "--config", "service.yaml")
        self.assertEqual(outcome.err.splitlines(), [
            "deltamatch: service.yaml:7: batch.max_update: this key does not exist; did you mean max_updates?",
            "service.yaml:8: log.level: 'loud' is not a choice; choose one of trace|debug|info|warn|error",
            "service.yaml:9: http.listen: 'here' is not an address with a port; write e.g. 127.0.0.1:9464, or off"])

    def test_a_pattern_is_pointed_at(self):
        self.write("service.yaml", LEAST.replace("(c)-->(a)", "(c)-->(a"))
        self.fails(78, "validate", "--config", "service.yaml", says=[
            "deltamatch: service.yaml:6: queries[0].pattern:1:21: expected ')', but the text ends",
            "\n  (a)-->(b)-->(c)-->(a\n" + " " * 22 + "^\n"])

    def test_files_are_looked_for_beside_the_configuration(self):
        self.write("etc/patterns/ring.pattern", "(a)-->(b)-->(a)")
        self.write("etc/service.yaml", LEAST.replace("{name: ring, pattern: (a)-->(b)-->(c)-->(a)}", "{directory: patterns}"))
        self.assertIn("query        ring: 2 vertices", self.ok("validate", "--config", "etc/service.yaml").out)

    def test_variables_come_from_the_environment(self):
        self.write("service.yaml", LEAST + "batch:\n  max_updates: ${DELTAMATCH_TEST_UPDATES}\n")
        self.fails(78, "validate", "--config", "service.yaml",
                   says="service.yaml:8: batch.max_updates: the variable DELTAMATCH_TEST_UPDATES is not set")
        with unittest.mock.patch.dict(os.environ, {"DELTAMATCH_TEST_UPDATES": "77"}):
            self.assertIn("up to 77 updates", self.ok("validate", "--config", "service.yaml").out)

    def test_no_secret_is_told(self):
        self.write("password", "hunter2\n")
        self.write("service.yaml", LEAST.replace("{bootstrap.servers", "{sasl.password: {file: password}, bootstrap.servers"))
        outcome = self.ok("validate", "--config", "service.yaml")
        self.assertNotIn("hunter2", outcome.out + outcome.err)

    def test_what_is_unused_is_a_warning(self):
        self.write("service.yaml", LEAST.replace("sinks: {", "sinks: {other: {type: stdout}, ")
                   .replace("pattern:", "sinks: [alerts], pattern:"))
        outcome = self.run_program("validate", "--config", "service.yaml")
        self.assertEqual(outcome.code, 0, outcome)
        self.assertEqual(outcome.err, "deltamatch: warning: service.yaml:5: sinks.other: no query uses this sink; "
                                      "add it to the sinks of a query\n")

    def test_files_that_cannot_be_read(self):
        self.fails(78, "validate", "--config", "none.yaml", says="none.yaml: the configuration cannot be read; check the path")
        self.fails(78, "validate", "--config", ".", says="the configuration cannot be read")
        self.write("empty.yaml", "")
        self.fails(78, "validate", "--config", "empty.yaml", says="empty.yaml: there is no configuration in it")

    def test_run_says_the_same_without_starting(self):
        self.write("service.yaml", LEAST + "batch: {max_update: 5}\n")
        said = self.fails(78, "validate", "--config", "service.yaml").err
        self.assertEqual(self.fails(78, "run", "--config", "service.yaml").err, said)
        self.assertEqual(os.listdir(self.dir), ["service.yaml"])

    def test_wrong_usage(self):
        self.write("service.yaml", LEAST)
        base = ["validate", "--config", "service.yaml"]
        self.fails(2, "validate", says="there is nothing to check")
        self.fails(2, *base, "--query", harness.TRIANGLE, says="excludes")
        self.fails(2, "run", says="--config is required")
        self.assertRegex(self.ok("run", "--help").out, r"Usage: deltamatch run(.|\n)*Examples:\n  deltamatch")
        for option in [["--undirected"], ["--mode", "homomorphism"], ["--count", "embeddings"]]:
            self.fails(2, *base, *option, says="the configuration says this for its queries")


if __name__ == "__main__":
    harness.main()
