"""The alerting rules of config/alerts.yml, judged by promtool: each fires when it should, and not when all is well.

Skipped (77) without promtool (scripts/setup --dev).
"""

import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import wheels

wheels.use()
import yaml  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
RULES = ROOT / "config/alerts.yml"
HERE = 'job="deltamatch-a",instance="i:9464"'
LABELS = {"job": "deltamatch-a", "instance": "i:9464"}
INFO = {f'deltamatch_build_info{{{HERE},version="0.1.0"}}': "1x60"}


def series(name, labels=""):
    return f"{name}{{{HERE}{',' if labels else ''}{labels}}}"


def running(value):
    return {series("deltamatch_state", 'state="running"'): value, series("deltamatch_state", 'state="standby"'): f"{1}x60"}


def workers(name, *values):
    """A series of two workers."""
    return {f'{name}{{job="deltamatch-a",instance="{host}:9464"}}': value for host, value in zip("ij", values)}


def slot(number, published, lag, host="i"):
    """What a worker exports about a slot."""
    labels = f'job="deltamatch-a",instance="{host}:9464",slot="{number}"'
    return {f"deltamatch_slot_published_batch{{{labels}}}": published, f"deltamatch_slot_lag_batches{{{labels}}}": lag}


# Alert, series by name with their values each minute (promtool's notation), labels and summary of the alert, or None if it must be
# silent. All are evaluated after 40 minutes.
CASES = [
    ("DeltamatchAbsent", {}, {}, "No instance of deltamatch is scraped."),
    ("DeltamatchAbsent", running("1x60"), None, None),
    ("DeltamatchAbsent", running("0x60"), None, None),
    ("DeltamatchInstanceDown", {series("up"): "1x30 0x30"}, LABELS, "i:9464 of deltamatch-a cannot be scraped."),
    ("DeltamatchInstanceDown", {series("up"): "0x30 1x30"}, None, None),
    ("DeltamatchInstanceDown", {series("up"): "1x36 0x30"}, None, None),  # not for long enough
    ("DeltamatchInstanceDown", {'up{job="node",instance="i:9100"}': "0x60"}, None, None),
    ("DeltamatchNotRunning", running("0x60"), {"job": "deltamatch-a"}, "No instance of deltamatch-a works."),
    ("DeltamatchNotRunning", {series("up"): "0x60"}, {"job": "deltamatch-a"}, "No instance of deltamatch-a works."),
    ("DeltamatchNotRunning", {series("up"): "1x60"} | running("1x60"), None, None),
    ("DeltamatchNotRunning", {'up{job="node",instance="i:9100"}': "0x60"}, None, None),
    ("DeltamatchNotRunning", running("0x60") | {'deltamatch_state{job="deltamatch-a",instance="j:9464",state="running"}': "1x60"}, None,
     None),
    ("DeltamatchRestarts", {series("process_start_time_seconds"): "1x20 5x5 9x5 13x30"} | INFO, LABELS,
     "i:9464 of deltamatch-a was started 3 times in 30 minutes."),
    ("DeltamatchRestarts", {series("process_start_time_seconds"): "1x20 5x40"} | INFO, None, None),
    ("DeltamatchRestarts", {series("process_start_time_seconds"): "1x20 5x5 9x5 13x30"}, None, None),  # of another program
    ("DeltamatchOpenFiles", {series("process_open_fds"): "900x60", series("process_max_fds"): "1000x60"} | INFO, LABELS,
     "i:9464 of deltamatch-a has 90% of its files open."),
    ("DeltamatchOpenFiles", {series("process_open_fds"): "700x60", series("process_max_fds"): "1000x60"} | INFO, None, None),
    ("DeltamatchNoStandby", {series("deltamatch_standby_ready"): "0x60", 'deltamatch_build_info{job="deltamatch-a",instance="j:9464"}': "1x60"}
     | INFO, {"job": "deltamatch-a"}, "No standby of deltamatch-a could take over."),
    ("DeltamatchNoStandby", {series("deltamatch_standby_ready"): "0x60", 'deltamatch_standby_ready{job="deltamatch-a",instance="j:9464"}': "1x60",
                             'deltamatch_build_info{job="deltamatch-a",instance="j:9464"}': "1x60"} | INFO, None, None),
    ("DeltamatchNoStandby", {series("deltamatch_standby_ready"): "0x60"} | INFO, None, None),  # there is one instance by intent
    ("DeltamatchNoStandby", {series("deltamatch_standby_ready"): "0x60", series("deltamatch_worker_leads"): "1x60",
                             'deltamatch_build_info{job="deltamatch-a",instance="j:9464"}': "1x60"} | INFO, None, None),  # workers
    ("DeltamatchNoStandby", {series("deltamatch_standby_ready"): "0x60", 'deltamatch_worker_leads{job="deltamatch-b",instance="j:9464"}': "1x60",
                             'deltamatch_build_info{job="deltamatch-a",instance="j:9464"}': "1x60"}
     | INFO, {"job": "deltamatch-a"}, "No standby of deltamatch-a could take over."),  # workers of another application
    ("DeltamatchNoLeader", workers("deltamatch_worker_leads", "1x30 0x30", "0x60"), {"job": "deltamatch-a"},
     "No worker of deltamatch-a leads."),
    ("DeltamatchNoLeader", workers("deltamatch_worker_leads", "1x30 0x30", "0x31 1x29"), None, None),  # another one leads
    ("DeltamatchNoLeader", workers("deltamatch_worker_leads", "1x39 0x30", "0x60"), None, None),  # not for long enough
    ("DeltamatchNoLeader", INFO, None, None),  # no workers
    ("DeltamatchSlotsWait", slot(0, "7x60", "0x20 3x40") | slot(1, "0+1x20 20x40", "0x20 2x40"), {"job": "deltamatch-a"},
     "deltamatch-a does not publish 2 of its slots."),
    ("DeltamatchSlotsWait", slot(0, "7x60", "0x20 3x40") | slot(1, "0+1x60", "2x60"), {"job": "deltamatch-a"},
     "deltamatch-a does not publish 1 of its slots."),
    ("DeltamatchSlotsWait", slot(0, "7x60", "3x60") | slot(0, "9x60", "1x60", "j"), {"job": "deltamatch-a"},
     "deltamatch-a does not publish 1 of its slots."),
    # One is cut off from the brokers, and does not know that the part is published.
    ("DeltamatchSlotsWait", slot(0, "7x60", "3x60") | slot(0, "10x60", "0x60", "j"), None, None),
    ("DeltamatchSlotsWait", slot(0, "0+1x60", "2x60") | slot(1, "0+1x60", "3x60"), None, None),  # busy all the time
    ("DeltamatchSlotsWait", slot(0, "7x60", "0x60") | slot(1, "7x60", "0x60"), None, None),  # nothing comes
    ("DeltamatchSlotsWait", slot(0, "0+1x37 37x30", "2x60"), None, None),  # not for long enough
    ("DeltamatchWrongDigest", workers("deltamatch_wrong_digests_total", "0x30 2x30", "0x30 1x30"), {"job": "deltamatch-a"},
     "deltamatch-a published 2 parts of a graph that differs from that of the leader."),
    ("DeltamatchWrongDigest", workers("deltamatch_wrong_digests_total", "0x60", "0x60"), None, None),
    ("DeltamatchStandbyBehind", {series("deltamatch_standby_behind_seconds"): "0+60x60"}, LABELS,
     "The standby i:9464 of deltamatch-a is 40m 0s behind."),
    ("DeltamatchStandbyBehind", {series("deltamatch_standby_behind_seconds"): "9x60"}, None, None),
    ("DeltamatchShareFails", {series("deltamatch_share_failures_total"): "0+1x60"}, LABELS, "i:9464 of deltamatch-a cannot reach the share."),
    ("DeltamatchShareFails", {series("deltamatch_share_failures_total"): "7x60"}, None, None),
    ("DeltamatchLagGrows", {series("deltamatch_consumer_lag", 'topic="t",partition="0"'): "0+500x60",
                            series("deltamatch_consumer_lag", 'topic="t",partition="1"'): "0+250x60"}, LABELS,
     "deltamatch-a is 30k records behind, and the lag grows."),
    ("DeltamatchLagGrows", {series("deltamatch_consumer_lag", 'topic="t",partition="0"'): "60000-500x60"}, None, None),  # it shrinks
    ("DeltamatchLagGrows", {series("deltamatch_consumer_lag", 'topic="t",partition="0"'): "60000x60"}, None, None),  # it stays
    ("DeltamatchLagGrows", {series("deltamatch_consumer_lag", 'topic="t",partition="0"'): "0+10x60"}, None, None),  # it is small
    ("DeltamatchStuck", {series("deltamatch_consumer_lag", 'topic="t",partition="0"'): "7x60", series("deltamatch_updates_total"): "50x60"},
     LABELS, "deltamatch-a commits nothing, although 7 records wait."),
    ("DeltamatchStuck", {series("deltamatch_consumer_lag", 'topic="t",partition="0"'): "7x60",
                         series("deltamatch_updates_total"): "50+1x60"}, None, None),
    ("DeltamatchStuck", {series("deltamatch_consumer_lag", 'topic="t",partition="0"'): "0x60", series("deltamatch_updates_total"): "50x60"},
     None, None),
    ("DeltamatchPartitionsMissing", {series("deltamatch_input_partitions_missing"): "2x60"}, LABELS,
     "2 partitions or topics of the input of deltamatch-a are missing."),
    ("DeltamatchPartitionsMissing", {series("deltamatch_input_partitions_missing"): "0x60"}, None, None),
    ("DeltamatchRecordsRefused", {series("deltamatch_bad_records_total", 'reason="bad_id"'): "0+5x60",
                                  series("deltamatch_updates_total"): "0+100x60"}, LABELS, "deltamatch-a refuses 5% of its records."),
    ("DeltamatchRecordsRefused", {series("deltamatch_bad_records_total", 'reason="bad_id"'): "0+5x60",
                                  series("deltamatch_updates_total"): "0+1000x60"}, None, None),
    ("DeltamatchRecordsRefused", {series("deltamatch_bad_records_total", 'reason="bad_id"'): "0x60",
                                  series("deltamatch_updates_total"): "7x60"}, None, None),  # nothing comes
    ("DeltamatchDoubtfulReading", {series("deltamatch_doubtful_readings_total", 'code="operation"'): "_x30 1x30"},
     LABELS | {"code": "operation"}, "deltamatch-a reads records in a doubtful way: operation."),
    ("DeltamatchDoubtfulReading", INFO, None, None),
    ("DeltamatchBatchSlow", {series("deltamatch_batch_under_way_seconds"): "0x20 0+60x60"}, LABELS,
     "deltamatch-a has matched one batch for 19m 0s."),
    ("DeltamatchBatchSlow", {series("deltamatch_batch_under_way_seconds"): "0x39 61x20"}, None, None),  # just begun
    ("DeltamatchBatchSlow", {series("deltamatch_batch_under_way_seconds"): "0x60"}, None, None),
    ("DeltamatchQuerySuspended", {series("deltamatch_query_suspended", 'query="ring"'): "1x60"}, LABELS | {"query": "ring"},
     "The query ring of deltamatch-a is suspended."),
    ("DeltamatchQuerySuspended", {series("deltamatch_query_suspended", 'query="ring"'): "1x20 0x40"}, None, None),
    ("DeltamatchTransactionFailed", {series("deltamatch_transactions_total", 'outcome="fenced"'): "0x30 1x30"},
     LABELS | {"outcome": "fenced"}, "A transaction of deltamatch-a ended as fenced."),
    ("DeltamatchTransactionFailed", {series("deltamatch_transactions_total", 'outcome="failed"'): "1x60"}, None, None),  # long ago
    ("DeltamatchTransactionFailed", {series("deltamatch_transactions_total", 'outcome="committed"'): "0+9x60"}, None, None),
    ("DeltamatchSnapshotOld", {series("deltamatch_snapshot_age_seconds"): "3000+60x60", series("deltamatch_batches_total"): "0+1x60"},
     LABELS, "The newest snapshot of deltamatch-a is 1h 30m 0s old."),
    ("DeltamatchSnapshotOld", {series("deltamatch_snapshot_age_seconds"): "3000+60x60", series("deltamatch_batches_total"): "9x60"}, None,
     None),  # no batch, so no snapshot is due
    ("DeltamatchSnapshotOld", {series("deltamatch_snapshot_age_seconds"): "300x60", series("deltamatch_batches_total"): "0+1x60"}, None,
     None),
    ("DeltamatchSnapshotFails", {series("deltamatch_snapshot_failures_total"): "0x20 1x40"}, LABELS,
     "deltamatch-a could not write a snapshot."),
    ("DeltamatchSnapshotFails", {series("deltamatch_snapshot_failures_total"): "0x60"}, None, None),
    ("DeltamatchSinkBehind", {series("deltamatch_sink_undelivered_batches", 'sink="pager"'): "1+10x60"}, LABELS | {"sink": "pager"},
     "The sink pager of deltamatch-a is 301 batches behind or more, and falls back further."),
    ("DeltamatchSinkBehind", {series("deltamatch_sink_undelivered_batches", 'sink="pager"'): "0 3 1 0 2 5 0 1 4 0x60"}, None, None),
    ("DeltamatchSinkBehind", {series("deltamatch_sink_undelivered_batches", 'sink="pager"'): "7x60"}, None, None),  # no further
    ("DeltamatchSinkBehind", {series("deltamatch_sink_undelivered_batches", 'sink="pager"'): " ".join(f"0 {i}" for i in range(30))}, None,
     None),  # it has delivered all in between
    ("DeltamatchSinkFails", {series("deltamatch_sink_undelivered_batches", 'sink="pager"'): "4x60",
                             series("deltamatch_delivery_failures_total", 'sink="pager"'): "0+2x60",
                             series("deltamatch_alerts_delivered_total", 'sink="pager"'): "9x60"}, LABELS | {"sink": "pager"},
     "The sink pager of deltamatch-a takes no alerts."),
    ("DeltamatchSinkFails", {series("deltamatch_sink_undelivered_batches", 'sink="pager"'): "4x60",
                             series("deltamatch_delivery_failures_total", 'sink="pager"'): "0+2x60",
                             series("deltamatch_alerts_delivered_total", 'sink="pager"'): "9+1x60"}, None, None),
    ("DeltamatchSinkFails", {series("deltamatch_sink_undelivered_batches", 'sink="pager"'): "0x60",
                             series("deltamatch_delivery_failures_total", 'sink="pager"'): "7x60",
                             series("deltamatch_alerts_delivered_total", 'sink="pager"'): "9x60"}, None, None),
    ("DeltamatchSinkFails", {series("deltamatch_sink_undelivered_batches", 'sink="pager"'): "4x60",
                             series("deltamatch_delivery_failures_total", 'sink="pager"'): "7x60",
                             series("deltamatch_alerts_delivered_total", 'sink="pager"'): "9x60"}, None, None),  # it takes long
    ("DeltamatchSinkFails", {series("deltamatch_sink_undelivered_batches", 'sink="pager"'): "0x60",
                             series("deltamatch_delivery_failures_total", 'sink="pager"'): "0+2x60",
                             series("deltamatch_alerts_delivered_total", 'sink="pager"'): "9x60"}, None, None),  # it got all in the end
    ("DeltamatchAlertsDropped", {series("deltamatch_alerts_dropped_total", 'sink="pager",reason="given_up"'): "0x30 3x30"},
     LABELS | {"sink": "pager", "reason": "given_up"}, "The sink pager of deltamatch-a gave alerts up."),
    ("DeltamatchAlertsDropped", {series("deltamatch_alerts_dropped_total", 'sink="pager",reason="given_up"'): "3x60",
                                 series("deltamatch_alerts_dropped_total", 'sink="pager",reason="max_messages"'): "0x30 3x30"}, None, None),
    ("DeltamatchAlertsLost", {series("deltamatch_log_events_total", 'level="error",event="alerts are lost with the log, unless the sink already has them"'): "_x30 1x30"},
     LABELS, "deltamatch-a lost a log, and cannot make all alerts again that waited there."),
    ("DeltamatchAlertsLost", {series("deltamatch_log_events_total", 'level="error",event="alerts of a query are lost with the log, because it has changed since"'): "0x30 1x30"},
     LABELS, "deltamatch-a lost a log, and cannot make all alerts again that waited there."),
    ("DeltamatchAlertsLost", {series("deltamatch_log_events_total", 'level="error",event="alerts are lost with the log, unless the sink already has them"'): "1x60",
                              series("deltamatch_log_events_total", 'level="warn",event="log_lost"'): "_x30 1x30"}, None, None),  # long ago
    ("DeltamatchAlertsLeftOut", {series("deltamatch_alerts_dropped_total", 'sink="pager",reason="max_messages"'): "0x30 3x30"},
     LABELS | {"sink": "pager", "reason": "max_messages"}, "The sink pager of deltamatch-a did not show all alerts of a batch."),
    ("DeltamatchAlertsLeftOut", {series("deltamatch_alerts_dropped_total", 'sink="pager",reason="max_messages"'): "3x60",
                                 series("deltamatch_alerts_dropped_total", 'sink="pager",reason="given_up"'): "0x30 3x30"}, None, None),
    ("DeltamatchRecordsShortened", {series("deltamatch_shortened_records_total", 'topic="alerts"'): "_x30 2x30"},
     LABELS | {"topic": "alerts"}, "deltamatch-a shortened 2 records, because alerts does not take them whole."),
    ("DeltamatchRecordsShortened", {series("deltamatch_shortened_records_total", 'topic="alerts"'): "2x20 5x40"}, None, None),
]


def rules():
    """The alerting rules by name."""
    return {rule["alert"]: rule for group in yaml.safe_load(RULES.read_text())["groups"] for rule in group["rules"]}


def promtool_case(alert, inputs, labels, summary):
    rule = rules()[alert]
    expected = []
    if labels is not None:
        expected = [{"exp_labels": labels | rule["labels"],
                     "exp_annotations": {"summary": summary, "description": rule["annotations"]["description"],
                                         "runbook_url": rule["annotations"]["runbook_url"]}}]
    return {"interval": "1m", "name": alert, "input_series": [{"series": name, "values": values} for name, values in inputs.items()],
            "alert_rule_test": [{"eval_time": "40m", "alertname": alert, "exp_alerts": expected}]}


class AlertRules(unittest.TestCase):
    def promtool(self, *arguments):
        done = subprocess.run(["promtool", *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout)

    def test_they_are_rules(self):
        self.promtool("check", "rules", RULES)

    def test_each_fires_when_it_should_and_only_then(self):
        with tempfile.TemporaryDirectory() as directory:
            file = pathlib.Path(directory) / "alerts_test.yml"
            file.write_text(json.dumps({"rule_files": [str(RULES)], "evaluation_interval": "1m",
                                        "tests": [promtool_case(*case) for case in CASES]}))
            self.promtool("test", "rules", file)

    def test_each_is_tried_both_ways(self):
        self.assertEqual({case[0] for case in CASES if case[2] is not None}, set(rules()))
        self.assertEqual({case[0] for case in CASES if case[2] is None}, set(rules()))

    def test_each_says_what_to_do(self):
        page = (ROOT / "docs/guide/operating.md").read_text()
        for name, rule in rules().items():
            with self.subTest(alert=name):
                self.assertIn(rule["labels"]["severity"], ("critical", "warning"))
                self.assertRegex(rule["annotations"]["description"], r"\.$")
                self.assertEqual(rule["annotations"]["runbook_url"], f"docs/guide/operating.md#{name.lower()}")
                self.assertIn(f"\n### {name}\n", page)

    def test_each_metric_is_in_the_reference(self):
        page = (ROOT / "docs/reference/metrics.md").read_text()
        for name, rule in rules().items():
            for metric in set(re.findall(r"\b(?:deltamatch|process)_\w+", rule["expr"])):
                with self.subTest(alert=name, metric=metric):
                    self.assertIsNotNone(re.search(rf"`{metric}(\{{[\w,]+\}})?`", page))


if __name__ == "__main__":
    if shutil.which("promtool") is None:
        print("skipped: promtool is missing; run scripts/setup --dev")
        sys.exit(77)
    unittest.main(verbosity=2)
