"""Records that cannot be read, or that the graph refuses: each is reported once, and none affects another."""

import json
import re
import time

from harness import edge, main, ROOT, ServiceTest

GOOD = [edge(1, 2), edge(2, 3), edge(3, 1)]
BAD = [(b"k1", b"{]"), (b"", b'{"source":7}'), (b"k3", edge(5, 6, time="soon")), (b"k4", b'\xff\xfe not utf-8 \x00')]


class BadRecords(ServiceTest):
    def setUp(self):
        super().setUp()
        self.broker.create(self.input)
        self.mixed = [GOOD[0], BAD[0], GOOD[1], BAD[1], BAD[2], GOOD[2], BAD[3], (b"gone", None)]

    def check_letters(self, letters):
        """(offset, reason) of each refused record."""
        self.assertEqual(letters, [(1, "malformed"), (3, "wrong_arity"), (4, "bad_time"), (6, "malformed")])

    def test_dead_letters_carry_the_original_and_where_it_was(self):
        self.config(input__on_error="dead-letter", input__dead_letters={"topic": self.letters})
        service = self.start()
        self.broker.produce(self.input, self.mixed)
        service.wait_committed({f"{self.input}[0]": 8})
        self.assertEqual(sum(service.metric("deltamatch_dead_letters_total").values()), 4)
        self.assertEqual(service.metric("deltamatch_bad_records_total")['{reason="bad_time"}'], 1)
        self.assertEqual(service.stop(), 0)
        letters = self.broker.consume(self.letters)
        for (_, _, key, value, headers), (wanted_key, wanted) in zip(letters, BAD):
            self.assertEqual((key, value), (wanted_key, wanted))
            self.assertEqual(headers[b"__connect.errors.topic"], self.input.encode())
            self.assertEqual(headers[b"__connect.errors.partition"], b"0")
            self.assertTrue(headers[b"__connect.errors.exception.message"])
        self.check_letters([(int(headers[b"__connect.errors.offset"]), headers[b"__connect.errors.exception.class.name"].decode())
                            for *_, headers in letters])
        self.assertEqual(len(self.alert_lines()), 1)

    def test_dead_letters_in_a_file(self):
        file = self.dir / "letters.jsonl"
        self.config(input__on_error="dead-letter", input__dead_letters={"file": str(file)})
        service = self.start()
        self.broker.produce(self.input, self.mixed)
        service.wait_committed({f"{self.input}[0]": 8})
        self.assertEqual(service.stop(), 0)
        letters = [json.loads(line) for line in file.read_text().splitlines()]
        self.check_letters([(letter["offset"], letter["reason"]) for letter in letters])
        self.assertEqual([letter["record"].encode("utf-8", "surrogateescape") for letter in letters], [value for _, value in BAD])
        self.assertEqual(len(self.alert_lines()), 1)

    def test_a_restart_does_not_dead_letter_twice(self):
        self.config(input__on_error="dead-letter", input__dead_letters={"topic": self.letters})
        for round_ in range(3):
            service = self.start()
            self.broker.produce(self.input, [BAD[0]])
            service.wait_committed({f"{self.input}[0]": round_ + 1})
            service.kill()
        self.assertEqual(len(self.broker.consume(self.letters)), 3)

    def test_skipped_records_are_counted(self):
        self.config(input__on_error="skip")
        service = self.start()
        self.broker.produce(self.input, self.mixed)
        service.wait_committed({f"{self.input}[0]": 8})
        self.assertEqual(sum(service.metric("deltamatch_bad_records_total").values()), 4)
        told = [event for event in service.events() if event["event"] == "records are refused"]
        self.assertTrue(told and all(event["level"] == "warn" and event["topic"] == self.input for event in told), service.log())
        self.assertIn(f"{self.input}[0] at offset ", told[0]["example"])
        self.assertEqual(service.stop(), 0)
        self.assertEqual(len(self.alert_lines()), 1)

    def fails_at(self, offset, reason):
        """Checks that it stops before the record, says what can be done, and has the exit code for which no supervisor restarts
        it.
        """
        service = self.start(ready=False)
        self.assertEqual(service.ended(), 65, service.log())
        for told in (f"{self.input}[0] at offset {offset}: {reason}: ", "set input.on_error to skip or dead-letter",
                     "change how its topic is read", "the next start ends here again"):
            self.assertIn(told, service.log())
        self.assertEqual(self.marks()[-1]["ends"][self.input]["0"], offset)

    def test_fail_commits_what_stands_before_and_goes_on_once_it_is_mended(self):
        self.config()
        self.broker.produce(self.input, GOOD[:2] + [b"{]"] + [edge(4, [])] + GOOD[2:])
        self.fails_at(2, "malformed")
        self.fails_at(2, "malformed")  # the record is still there
        self.config(input__on_error="skip", input__max_refused=1)
        service = self.start()
        service.wait_committed({f"{self.input}[0]": 5})
        self.assertEqual(service.stop(), 0)
        self.assertEqual(len(self.alert_lines()), 1)

    def test_the_shipped_unit_does_not_start_again_at_a_record_that_stops_the_service(self):
        unit = (ROOT / "config" / "deltamatch.service").read_text()
        self.assertRegex(unit, r"(?m)^Restart=on-failure$")
        (codes,) = re.findall(r"(?m)^RestartPreventExitStatus=(.*)$", unit)
        self.assertEqual(codes.split(), ["2", "65", "78"])

    def test_starting_again_at_such_a_record_changes_nothing(self):
        self.config()
        self.broker.produce(self.input, GOOD + [b"{]"])
        self.fails_at(3, "malformed")
        before = self.marks()[-1]
        for _ in range(3):
            self.fails_at(3, "malformed")
        self.assertEqual(self.marks()[-1]["ends"], before["ends"])
        self.assertEqual(len(self.alert_lines()), 1)

    def test_one_way_on_is_to_keep_the_record_aside_and_to_fail_at_the_next_one(self):
        self.config()
        self.broker.produce(self.input, GOOD[:2] + [b"{]"] + GOOD[2:])
        self.fails_at(2, "malformed")
        self.config(input__on_error="dead-letter", input__dead_letters={"topic": self.letters})
        service = self.start()
        service.wait_committed({f"{self.input}[0]": 4})
        self.assertEqual(service.stop(), 0)
        self.assertEqual([letter[3] for letter in self.broker.consume(self.letters)], [b"{]"])
        self.assertEqual(len(self.alert_lines()), 1)
        self.config()
        self.broker.produce(self.input, [b"[}"])
        self.fails_at(4, "malformed")

    def test_the_other_way_on_is_to_read_the_record_as_it_is_meant(self):
        ahead = edge(3, 1, time=int((time.time() + 30 * 86_400) * 1e6))
        self.config()
        self.broker.produce(self.input, GOOD[:2] + [ahead])
        self.fails_at(2, "bad_time")
        self.config(input__max_ahead="none")
        service = self.start()
        service.wait_committed({f"{self.input}[0]": 3})
        self.assertEqual(service.stop(), 0)
        self.assertEqual(len(self.alert_lines()), 1)

    def test_a_start_graph_with_a_bad_record_ends_with_that_code_too(self):
        (self.dir / "seed.csv").write_text("source,target,time\n1,2,3\n4,5,soon\n")
        self.config(graph__start={"files": [{"path": str(self.dir / "seed.csv")}]})
        service = self.start(ready=False)
        self.assertEqual(service.ended(), 65, service.log())
        self.assertIn("seed.csv:3: bad_time: ", service.log())
        self.assertIn("say how times are written with time_unit or time_format, else correct the record", service.log())
        self.assertNotIn("on-error", service.log())

    def test_not_ready_while_most_of_the_last_records_are_refused(self):
        self.config(input__on_error="skip")
        service = self.start()
        self.broker.produce(self.input, [b"{]"] * 4)
        service.wait_committed({f"{self.input}[0]": 4})
        self.assertEqual(service.get("/readyz")[0], 200)  # so few records say little
        self.broker.produce(self.input, GOOD + [edge(i, i + 1) for i in range(100, 147)])
        service.wait_committed({f"{self.input}[0]": 54})
        self.broker.produce(self.input, [b"{]"] * 46)
        service.wait_committed({f"{self.input}[0]": 100})
        self.assertEqual(service.get("/readyz")[0], 200)  # exactly half is not more than half
        self.broker.produce(self.input, [b'{"source":7}'])
        service.wait_committed({f"{self.input}[0]": 101})
        code, why = service.get("/readyz")
        self.assertEqual(code, 503)
        for told in ("51 of the last 101 records were refused, more than input.max_refused (0.5)", f"{self.input}[0] at offset 100: wrong_arity"):
            self.assertIn(told, why)
        self.assertEqual(service.status()["refused"]["records"], 51)
        self.assertEqual(service.status()["refused"]["of"], 101)
        self.assertAlmostEqual(service.metric("deltamatch_refused_share")[""], 51 / 101, places=5)
        self.assertEqual(service.get("/livez")[0], 200)
        self.broker.produce(self.input, [edge(7, 8)])
        service.wait_committed({f"{self.input}[0]": 102})
        self.assertEqual(service.get("/readyz")[0], 200)
        self.assertEqual([event["event"] for event in service.events() if "refused" in event.get("event", "") and event["event"] != "records are refused"],
                         ["too many records are refused", "the share of refused records is allowed again"])
        self.assertEqual(service.stop(), 0)

    def test_the_share_that_may_be_refused_can_be_set(self):
        self.config(input__on_error="skip", input__max_refused=1)
        service = self.start()
        self.broker.produce(self.input, [b"{]"] * 5)
        service.wait_committed({f"{self.input}[0]": 5})
        self.assertEqual(service.get("/readyz")[0], 200)
        self.assertEqual(service.stop(), 0)

    def test_doubtful_readings_are_told_once(self):
        self.config(graph__window="24h", input__max_ahead="none")
        service = self.start()
        seconds = [edge(f"v{i}", f"v{i + 1}", time=1_700_000_000 + i) for i in range(4)]  # json expects microseconds
        self.broker.produce(self.input, seconds + [edge("7", 8, time=1_700_000_004)])
        service.wait_committed({f"{self.input}[0]": 5})
        self.broker.produce(self.input, [edge(7, "8", time=1_700_000_005 + i) for i in range(20)])
        service.wait_committed({f"{self.input}[0]": 25})
        told = [event for event in service.events() if event.get("event") == "doubtful_reading"]
        self.assertEqual(sorted((event["code"], event["where"]) for event in told),
                         [("ids_of_two_kinds", f"{self.input}[0] at offset 5"), ("time_unit", f"{self.input}[0] at offset 0")])
        for event in told:
            self.assertIn({"time_unit": "time_unit: s reads them so", "ids_of_two_kinds": "ids: string reads both"}[event["code"]],
                          event["remedy"])
        self.assertEqual(sorted(w["code"] for w in service.status()["warnings"]), ["ids_of_two_kinds", "time_unit"])
        self.assertEqual(service.metric("deltamatch_doubtful_readings_total"), {'{code="ids_of_two_kinds"}': 1.0, '{code="time_unit"}': 1.0})
        self.assertEqual(service.stop(), 0)

    def test_topics_without_times_are_told_if_a_query_reads_times(self):
        self.config(graph__edges="events", queries=[{"name": "pair", "pattern": "(a)-[t]->(b)-[u]->(c) WHERE t.time < u.time"}])
        service = self.start()
        untimed = [edge(f"v{i}", f"v{i + 1}") for i in range(100)]
        self.broker.produce(self.input, untimed)
        service.wait_committed({f"{self.input}[0]": 100})
        self.broker.produce(self.input, untimed)
        service.wait_committed({f"{self.input}[0]": 200})
        self.assertEqual([(w["code"], w["where"], w["remedy"]) for w in service.status()["warnings"]],
                         [("time_absent", "all topics", "columns: {time: NAME} says which column or field holds it")])
        self.assertEqual(service.stop(), 0)

    def test_what_is_stated_is_not_doubtful(self):
        self.config(graph__window="24h", input__topics=[{"name": self.input, "format": "json", "time_unit": "us", "ids": "string"}])
        service = self.start()
        self.broker.produce(self.input, [edge("7", 8, time=i) for i in range(4)] + [edge(7, "8", time=9)])
        service.wait_committed({f"{self.input}[0]": 5})
        self.assertEqual(service.status()["warnings"], [])
        self.assertEqual(service.stop(), 0)

    def test_fail_where_the_graph_refuses(self):
        self.config()
        self.broker.produce(self.input, GOOD + [edge(7, 8, source_label="A"), edge(7, 9, source_label="B"), edge(5, 6)])
        self.fails_at(4, "label_conflict")
        self.assertEqual(len(self.alert_lines()), 1)

    def test_a_self_loop_stops_nothing(self):
        self.config()
        service = self.start()
        self.broker.produce(self.input, [edge(1, 1), GOOD[0], edge(9, 9, op="-"), *GOOD[1:]])
        service.wait_committed({f"{self.input}[0]": 5})
        self.assertEqual(service.metric("deltamatch_ignored_updates_total")['{cause="self_loop"}'], 2)
        self.assertEqual(sum(service.metric("deltamatch_bad_records_total").values()), 0)
        self.assertEqual(service.status()["graph"]["vertices"], 3)
        service.kill()
        service = self.start()  # recovers from the log
        self.assertEqual(service.status()["graph"]["vertices"], 3)
        self.assertEqual(service.stop(), 0)
        self.assertEqual(len(self.alert_lines()), 1)

    def change_events(self, on_error, **more):
        columns = {"source": "s", "target": "t", "source_label": "sl", "target_label": "tl"}
        self.config(input__topics=[{"name": self.input, "format": "json", "envelope": "debezium", "columns": columns}],
                    input__on_error=on_error, queries=[{"name": "edge", "pattern": "(a)-->(b)", "sinks": ["alerts"]}], **more)

    REPLACED = [json.dumps({"op": "c", "after": {"s": 1, "t": 2, "sl": "A"}}).encode(),
                json.dumps({"op": "c", "after": {"s": 1, "t": 9}}).encode(),
                json.dumps({"op": "u", "before": {"s": 1, "t": 2}, "after": {"s": 1, "t": 5, "sl": "B"}}).encode()]

    def test_a_record_of_two_updates_is_not_half_applied(self):
        self.change_events("dead-letter", input__dead_letters={"topic": self.letters})
        service = self.start()
        self.broker.produce(self.input, self.REPLACED)
        service.wait_committed({f"{self.input}[0]": 3})
        self.assertEqual(service.status()["graph"]["edges"], 2)
        service.kill()
        service = self.start()  # recovers from the log
        self.assertEqual(service.status()["graph"]["edges"], 2)
        self.assertEqual(service.stop(), 0)
        (*_, letter, _), = self.broker.consume(self.letters)
        self.assertEqual(letter, self.REPLACED[2])
        self.assertEqual([json.loads(line)["sign"] for line in self.alert_lines()], ["+", "+"])

    def test_fail_stops_before_a_record_of_two_updates(self):
        self.change_events("fail")
        self.broker.produce(self.input, self.REPLACED)
        self.fails_at(2, "label_conflict")
        self.assertEqual(len(self.alert_lines()), 2)
        (self.dir / "state").rename(self.dir / "lost")
        self.change_events("skip")
        service = self.start()
        service.wait_committed({f"{self.input}[0]": 3})
        self.assertEqual(service.status()["graph"]["edges"], 2)
        self.assertEqual(service.stop(), 0)
        self.assertEqual(len(self.alert_lines()), 2)

    def test_a_dead_letter_may_be_as_long_as_a_record(self):
        self.config(input__on_error="dead-letter", input__dead_letters={"topic": self.letters})
        service = self.start()
        broken = b'{"source":1,"target":2,"note":"' + b"x" * 1_020_000
        self.broker.produce(self.input, [broken, *GOOD])
        service.wait_committed({f"{self.input}[0]": 4})
        self.assertEqual(service.stop(), 0)
        (*_, letter, headers), = self.broker.consume(self.letters)
        self.assertEqual(letter, broken)
        self.assertNotIn(b"deltamatch.length", headers)
        self.assertEqual(len(self.alert_lines()), 1)

    def test_a_dead_letter_that_its_topic_does_not_take_is_cut_short(self):
        self.broker.create(self.letters, max_message_bytes=50_000)
        self.config(input__on_error="dead-letter", input__dead_letters={"topic": self.letters})
        service = self.start()
        broken = [b"{" + bytes([65 + i]) * size for i, size in enumerate((60_000, 300, 70_000, 30_000, 30_000))]
        self.broker.produce(self.input, [*[(b"k" * 10_000, record) for record in broken], *GOOD])
        service.wait_committed({f"{self.input}[0]": 8})
        self.assertEqual(service.metric("deltamatch_shortened_records_total"), {f'{{topic="{self.letters}"}}': 2.0})
        self.assertEqual(service.stop(), 0)
        letters = self.broker.consume(self.letters)
        self.assertEqual([letter[3] for letter in letters],
                         [record[:4096] if len(record) > 50_000 else record for record in broken])
        self.assertEqual([letter[4].get(b"deltamatch.length") for letter in letters], [b"60001", None, b"70001", None, None])
        self.assertEqual([letter[4].get(b"deltamatch.key.length") for letter in letters], [b"10000", None, b"10000", None, None])
        self.assertEqual([len(letter[2]) for letter in letters], [4096, 10_000, 4096, 10_000, 10_000])
        self.assertEqual(len(self.alert_lines()), 1)

    def test_long_ids_and_labels_are_refused(self):
        self.config(input__on_error="dead-letter", input__dead_letters={"topic": self.letters},
                    queries=[{"name": "edge", "pattern": "(a)-->(b)", "sinks": ["alerts"]}])
        service = self.start()
        self.broker.produce(self.input, [edge("z" * 1024, 2), edge("z" * 1025, 2), edge(1, "z" * 900_000), edge(1, 2, label="l" * 1025)])
        service.wait_committed({f"{self.input}[0]": 4})
        self.assertEqual(service.stop(), 0)
        reasons = [headers[b"__connect.errors.exception.class.name"] for *_, headers in self.broker.consume(self.letters)]
        self.assertEqual(reasons, [b"bad_id", b"bad_id", b"too_long"])
        self.assertEqual(len(self.alert_lines()), 1)

    def test_an_alert_that_its_topic_does_not_take_leaves_a_stub(self):
        self.broker.create(self.alerts, max_message_bytes=2000)
        file = self.dir / "alerts.jsonl"
        self.config(sinks={"alerts": {"type": "kafka", "topic": self.alerts}, "file": {"type": "file", "path": str(file)}},
                    queries=[{"name": "edge", "pattern": "(a)-->(b)", "sinks": ["alerts", "file"]}])
        service = self.start()
        updates = [edge("long" * 250, "b"), *[edge(i, i + 1) for i in range(200)], edge("long" * 250, "c")]
        self.broker.produce(self.input, updates)
        service.wait_committed({f"{self.input}[0]": 202})
        self.assertEqual(service.stop(), 0)
        whole = {json.loads(line)["id"]: line for line in file.read_text().splitlines()}
        told = self.alert_lines()
        self.assertEqual((len(whole), len(told)), (202, 202))
        stubs = [json.loads(line) for line in told if "too_large" in line]
        self.assertEqual(len(stubs), 2)
        for stub in stubs:
            alert = json.loads(whole[stub["id"]])
            self.assertEqual(stub.pop("too_large"), len(whole[stub["id"]]))
            self.assertEqual(stub, {key: alert[key] for key in ("v", "id", "query", "sign", "batch", "time")})
        for line in told:
            if "too_large" not in line:
                self.assertEqual(line, whole[json.loads(line)["id"]])

    def test_a_record_beyond_the_limit_is_too_long(self):
        self.config(input__on_error="dead-letter", input__dead_letters={"topic": self.letters}, input__max_record="1KiB")
        service = self.start()
        self.broker.produce(self.input, [b"x" * 5000, *GOOD])
        service.wait_committed({f"{self.input}[0]": 4})
        self.assertEqual(service.stop(), 0)
        (*_, headers), = self.broker.consume(self.letters)
        self.assertEqual(headers[b"__connect.errors.exception.class.name"], b"too_long")
        self.assertEqual(len(self.alert_lines()), 1)


if __name__ == "__main__":
    main()
