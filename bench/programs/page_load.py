#!/usr/bin/env python3
"""What open pages and REST calls cost the service.

It measures the updates a second from Kafka to a committed batch, without and with pages, in turn. A page reads the stream of
alerts and asks for /status and /v1/queries as often as the live page does. Besides, there are REST calls.

usage: page_load.py [--build build/release] [--updates 3000000] [--rounds 5] [--pages 50] [--calls 20] [--slow 0] [--out FILE]

Prints a JSON object for each run and one with the medians; with --out, it also appends them there. Each run checks
that all updates are committed and that no page was refused or cut off. Each page got all alerts, up to those that it was told
it missed. `cpu_seconds` is the processor time of the service, which other load on the machine changes less than the
rate. --slow adds pages that open the stream and read nothing; they may be cut off.
"""

import argparse
import asyncio
import contextlib
import json
import os
import pathlib
import socket
import statistics
import subprocess
import sys
import threading
import time
import uuid

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from service_load import Bench, RARE  # noqa: E402

POLLS = {"/status": 3.0, "/v1/queries": 15.0}  # seconds, as the page does


class Pages:
    """Clients in a thread of their own."""

    def __init__(self, address, pages, calls, slow):
        host, port = address.rsplit(":", 1)
        self.host, self.port = host, int(port)
        self.pages, self.calls = pages, calls
        self.answers, self.failures = 0, []
        self.alerts, self.missed, self.left_out = [0] * pages, [0] * pages, [0] * pages
        self.cpu = 0.0
        self.ready = False  # until then, the service may say that it stands by
        self.slow = [self.deaf() for _ in range(slow)]
        self.loop = asyncio.new_event_loop()
        self.thread = threading.Thread(target=self.run)
        self.open = threading.Semaphore(0)
        self.thread.start()
        for _ in range(pages):
            if not self.open.acquire(timeout=30):
                raise RuntimeError(f"a page could not open its stream: {self.failures[:3]}")

    def deaf(self):
        """Opens the stream and reads nothing."""
        client = socket.socket()
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        client.connect((self.host, self.port))
        client.sendall(b"GET /v1/alerts HTTP/1.1\r\nHost: localhost\r\n\r\n")
        return client

    def run(self):
        begin = time.thread_time()
        self.loop.run_until_complete(self.work())
        self.cpu = time.thread_time() - begin

    async def work(self):
        self.ending = asyncio.Event()
        tasks = [asyncio.create_task(self.page(number)) for number in range(self.pages)]
        tasks += [asyncio.create_task(self.poll(path, every, number / max(self.pages, 1)))
                  for number in range(self.pages) for path, every in POLLS.items()]
        if self.calls:
            tasks.append(asyncio.create_task(self.call()))
        await self.ending.wait()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def page(self, number):
        try:
            reader, writer = await asyncio.open_connection(self.host, self.port)
            writer.write(b"GET /v1/alerts HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n\r\n")
            head = await reader.readuntil(b"\r\n\r\n")
            if b" 200 " not in head.split(b"\r\n")[0]:
                raise RuntimeError(head.decode())
            self.open.release()
            rest = b""
            while data := await reader.read(1 << 16):
                *events, rest = (rest + data).split(b"\n\n")
                for event in events:
                    if event.startswith(b"id:"):
                        self.alerts[number] += 1
                    elif b"event: missed" in event:
                        self.missed[number] += json.loads(event[event.index(b"{"):])["alerts"]
                    elif b"event: left-out" in event:
                        self.left_out[number] += json.loads(event[event.index(b"{"):])["alerts"]
            if not self.ending.is_set():
                raise RuntimeError("the stream ended")
        except (OSError, RuntimeError, asyncio.IncompleteReadError) as error:
            self.failures.append(f"page {number}: {error}")

    async def ask(self, path):
        try:
            reader, writer = await asyncio.open_connection(self.host, self.port)
            writer.write(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
            answer = await reader.read()
            writer.close()
            if b" 200 " not in answer[:20] and (self.ready or b" 503 " not in answer[:20]):
                raise RuntimeError(answer[:200].decode(errors="replace"))
            self.answers += 1
        except (OSError, RuntimeError) as error:
            self.failures.append(f"{path}: {error}")

    async def poll(self, path, every, share):
        await asyncio.sleep(every * share)  # pages were not all opened at once
        while True:
            await asyncio.gather(self.ask(path), asyncio.sleep(every))

    async def call(self):
        while True:
            await asyncio.gather(self.ask("/v1/queries"), asyncio.sleep(1 / self.calls))

    def close(self):
        self.loop.call_soon_threadsafe(self.ending.set)
        self.thread.join()
        for client in self.slow:
            client.close()


def cpu_of(process):
    fields = pathlib.Path(f"/proc/{process.pid}/stat").read_text(encoding="utf-8").rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def measure(bench, topic, arguments, with_pages):
    name = "pages" + uuid.uuid4().hex[:6]
    queries = {**RARE, "pair": "(a)-[:TRANSFER]->(b)-[:TRANSFER]->(c)"} if arguments.alerts == "many" else RARE
    service = bench.service(name, input={"topics": [{"name": topic, "format": "json"}]},
                            queries=[{"name": query, "pattern": pattern, "sinks": ["alerts"]} for query, pattern in queries.items()])
    service.wait(lambda: service.get("/livez")[0] == 200, "answer")
    pages = Pages(service.url.removeprefix("http://"), arguments.pages, arguments.calls, arguments.slow) if with_pages else None
    service.wait_ready()
    if pages:
        pages.ready = True
    start, before, cpu = time.monotonic(), service.status().get("updates", 0), cpu_of(service.process)
    service.wait_committed({f"{topic}[0]": arguments.updates}, 900)
    seconds, cpu = time.monotonic() - start, cpu_of(service.process) - cpu
    status = service.status()
    figures = {"pages": arguments.pages if pages else 0, "updates_per_second": round((arguments.updates - before) / seconds),
               "seconds": round(seconds, 2), "cpu_seconds": round(cpu, 2), "alerts": status["alerts"]["published"]}
    if pages:
        time.sleep(1)
        pages.close()
        told = service.status()["alerts"]
        assert not pages.failures, pages.failures[:5]
        assert told["refused_streams"] == 0 and told["cut_off"] <= arguments.slow, told
        for number in range(arguments.pages):
            got = pages.alerts[number] + pages.missed[number] + pages.left_out[number]
            assert got == status["alerts"]["published"], (number, got, status["alerts"])
        figures |= {"calls": pages.answers, "calls_per_second": round(pages.answers / seconds, 1), "clients_cpu_seconds": round(pages.cpu, 2),
                    "alerts_per_page": statistics.median(pages.alerts), "cut_off": told["cut_off"]}
    assert service.stop() == 0
    subprocess.run(["rm", "-rf", bench.state / name], check=False)
    bench.tell("run", **figures)
    return figures


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=str(pathlib.Path(__file__).resolve().parents[2] / "build" / "release"))
    parser.add_argument("--updates", type=int, default=3_000_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--pages", type=int, default=50)
    parser.add_argument("--calls", type=int, default=20, help="REST calls a second")
    parser.add_argument("--slow", type=int, default=0, help="clients that open the stream and read nothing")
    parser.add_argument("--alerts", choices=("few", "many"), default="few", help="many: a query whose alerts are as many as the updates")
    parser.add_argument("--state", help="folder for the state directories")
    parser.add_argument("--out", default="")
    arguments = parser.parse_args()
    bench = Bench(arguments)
    with contextlib.closing(bench):
        topic = "load" + uuid.uuid4().hex[:6]
        bench.fill(topic, arguments.updates)
        measure(bench, f"{topic}-in", arguments, False)  # warms up; not counted
        runs = {False: [], True: []}
        for number in range(arguments.rounds):
            for with_pages in (False, True) if number % 2 == 0 else (True, False):
                runs[with_pages].append(measure(bench, f"{topic}-in", arguments, with_pages))
        median = {each: {key: statistics.median(run[key] for run in runs[each]) for key in ("updates_per_second", "cpu_seconds")} for each in runs}
        ratios = [with_pages["updates_per_second"] / without["updates_per_second"] for without, with_pages in zip(runs[False], runs[True])]
        bench.tell("pages", rounds=arguments.rounds, pages=arguments.pages, calls=arguments.calls, without=median[False], with_pages=median[True],
                   rate_lost=round(1 - median[True]["updates_per_second"] / median[False]["updates_per_second"], 4),
                   rate_lost_in_rounds=[round(1 - ratio, 4) for ratio in ratios],
                   cpu_added=round(median[True]["cpu_seconds"] / median[False]["cpu_seconds"] - 1, 4))


if __name__ == "__main__":
    main()
