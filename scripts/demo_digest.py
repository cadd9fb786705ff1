"""Says what a replay of generated payments found, and compares it with what was planted.

usage: demo_digest.py FOLDER     with report.json, alerts.jsonl (of `replay`), planted.csv (of `generate payments --truth`)

Exits with 1 unless the matches of every planted kind are exactly the planted ones. Each must be reported in the batch in which
it closed. It must be reported again in the batch in which it expired or was charged back.
"""

import collections
import csv
import datetime
import json
import pathlib
import sys

SHOWN = 6


def when(microseconds):
    return datetime.datetime.fromtimestamp(microseconds / 1e6, datetime.timezone.utc).strftime("%Y-%m-%d %H:%M:%S")


def read_alerts(path, kinds):
    """The alerts of planted kinds by sign, as (kind, vertices) in stream order with the time of their batch.

    Also the times of all batches that reported something."""
    alerts, times = {"+": [], "-": []}, set()
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            alert = json.loads(line)
            times.add(alert["time"])
            if alert["query"] in kinds:
                alerts[alert["sign"]].append(((alert["query"], *alert["bindings"].values()), alert["time"]))
    return alerts, sorted(times)


def compare(title, found, expected):
    """Prints how two multisets differ. Returns whether they are equal."""
    found, expected = collections.Counter(found), collections.Counter(expected)
    for word, difference in (("not planted", found - expected), ("missed", expected - found)):
        for kind, *vertices in list(difference.elements())[:5]:
            print(f"  {title}, {word}: {kind} {' '.join(vertices)}")
    return found == expected


def punctual(title, alerts, due, times):
    """Prints alerts that came in a late batch: not the first one whose time reaches the time at which they were due.

    Returns whether there are none. Records of one time may be spread over two batches."""
    before = dict(zip(times, [0, *times]))
    stray = [(pattern, time) for pattern, time in alerts if pattern in due and not before[time] <= due[pattern] <= time]
    for (kind, *vertices), time in stray[:5]:
        print(f"  {title}, in the wrong batch: {kind} {' '.join(vertices)} at {when(time)}, due {when(due[kind, *vertices])}")
    return not stray


def main(folder):
    report = json.loads((folder / "report.json").read_text(encoding="utf-8"))
    with open(folder / "planted.csv", encoding="utf-8", newline="") as file:
        rows = [((row["kind"], *row["vertices"].split()), row) for row in csv.DictReader(file)]
    planted = [pattern for pattern, _ in rows]
    closes = {pattern: int(row["closes"]) for pattern, row in rows}
    vanishes = {pattern: int(row["vanishes"]) for pattern, row in rows if row["end"] != "alive"}
    kinds = {pattern[0] for pattern in planted}
    alerts, times = read_alerts(folder / "alerts.jsonl", kinds)

    seconds = report["seconds"]
    busy = sum(seconds[step] for step in ("apply", "estimate", "cache", "match", "settle"))
    print(f"\n{report['updates']:,} updates in {report['batches']:,} batches: {report['updates'] / seconds['total']:,.0f} updates/s "
          f"from file to alerts,\n{report['updates'] / busy:,.0f} updates/s in the engine "
          f"({seconds['apply']:.1f} s apply, {seconds['match']:.1f} s match, {seconds['settle']:.1f} s settle)\n")

    print(f"{'pattern':<16}{'new':>12}{'removed':>12}{'planted':>10}")
    for query in report["queries"]:
        count = sum(pattern[0] == query["name"] for pattern in planted) if query["name"] in kinds else "-"
        print(f"{query['name']:<16}{query['new']:>12,}{query['removed']:>12,}{count:>10}")

    print("\nthe first rings, when they closed and who is in them")
    rings = [alert for alert in alerts["+"] if alert[0][0].startswith("ring")]
    for (kind, *accounts), time in rings[:SHOWN]:
        print(f"  {when(time)}  {kind}  {' → '.join([*accounts, accounts[0]])}")

    appeared = compare("new", [pattern for pattern, _ in alerts["+"]], planted)
    vanished = compare("removed", [pattern for pattern, _ in alerts["-"]], list(vanishes))
    in_time = punctual("new", alerts["+"], closes, times) & punctual("removed", alerts["-"], vanishes, times)
    print(f"\nfound {'=' if appeared else '≠'} planted: {len(alerts['+'])} of {len(planted)}; "
          f"vanished {'=' if vanished else '≠'} expired or charged back: {len(alerts['-'])}; "
          f"each in its batch: {'yes' if in_time else 'no'}")
    return 0 if appeared and vanished and in_time and planted else 1


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(main(pathlib.Path(sys.argv[1])))
