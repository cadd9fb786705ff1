"""Says what was found in generated payments, and compares it with what was planted.

usage: demo_digest.py FOLDER     with report.json, alerts.jsonl (of `replay`), planted.csv (of `generate payments --truth`)

Exits with 1 unless the alerts are exactly those of the planted patterns. Each must appear once, with its payments and the time of
the last one. If the truth says that it was recalled by a charge-back, it must vanish once. An alert for anything else is wrong,
and so is one for a decoy, which misses one condition of its pattern. Of a pattern that is not planted, alerts are counted only.
"""

import collections
import csv
import datetime
import json
import pathlib
import sys

NAMED = 5  # wrong alerts and missed patterns that are named, of each kind
SHOWN = ("ring", "smurfing")  # patterns of which the first match is shown


def when(microseconds):
    return datetime.datetime.fromtimestamp(microseconds / 1e6, datetime.timezone.utc).strftime("%Y-%m-%d %H:%M:%S")


def identity(pattern, keys):
    return pattern, frozenset(keys)


def edges_of(alert):
    """The edges of a match in order. The steps of a path stand in a list of their own."""
    return [step for edge in alert["edges"] for step in (edge if isinstance(edge, list) else [edge])]


def keys_of(alert):
    return [str(edge["key"]) for edge in edges_of(alert)]


def read_truth(path):
    """The rows of the truth by pattern and keys."""
    with open(path, encoding="utf-8", newline="") as file:
        return {identity(row["pattern"], row["keys"].split()): row for row in csv.DictReader(file)}


def read_alerts(path):
    with open(path, encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def judge(truth, alerts):
    """Counts by pattern, the wrong alerts as (reason, alert), and the rows of what was missed."""
    counts = collections.defaultdict(collections.Counter)
    due = collections.Counter()
    planted = {pattern for pattern, _ in truth}
    for known, row in truth.items():
        counts[row["pattern"]][row["kind"]] += 1
        if row["kind"] == "planted":
            due["+", known] += 1
            if row["recalled"]:
                due["-", known] += 1
                counts[row["pattern"]]["recalled"] += 1
    wrong = []
    for alert in alerts:
        if alert["query"] not in planted:
            counts[alert["query"]]["found" if alert["sign"] == "+" else "vanished"] += 1
            continue
        known = identity(alert["query"], keys_of(alert))
        row = truth.get(known)
        count = counts[alert["query"]]
        if row is None or row["kind"] != "planted":
            reason = "not planted" if row is None else f"a decoy, {row['misses']}"
        elif due[alert["sign"], known] == 0:
            reason = "reported twice" if alert["sign"] == "+" else "nothing was charged back"
        elif alert["time"] != int(row["closes"]):
            reason = f"it closed at {when(int(row['closes']))}"
        else:
            due[alert["sign"], known] -= 1
            count["found" if alert["sign"] == "+" else "vanished"] += 1
            continue
        count["wrong"] += 1
        wrong.append((reason, alert))
    missed = [(sign, truth[known]) for sign, known in due.elements()]
    return counts, wrong, missed


def show_counts(counts):
    columns = ["planted", "found", "wrongly reported", "decoys", "charged back", "vanished"]
    print("pattern".ljust(18) + "".join(column.rjust(len(column) + 3) for column in columns))
    for pattern, count in sorted(counts.items()):
        names = ("planted", "found", "wrong", "decoy", "recalled", "vanished")
        known = names if count["planted"] + count["decoy"] > 0 else ("found", "vanished")
        cells = [f"{count[name]:,}" if name in known else "-" for name in names]
        print(pattern.ljust(18) + "".join(cell.rjust(len(column) + 3) for cell, column in zip(cells, columns)))


def count_of(row):
    """How many payments were planted for the count of a pattern."""
    number = len(row["counted"].split()) if row else 0
    return f", with {number} payments that count" if number else ""


def show_payments(alert):
    """A match as a table: who paid whom, how much and when."""
    rows = [("when", "from", "to", "amount", "key")]
    for edge in sorted(edges_of(alert), key=lambda edge: edge["time"]):
        units, cents = edge["attributes"]["amount"].split(".")
        rows.append((when(edge["time"]), str(edge["source"]), str(edge["target"]), f"{int(units):,}.{cents}", str(edge["key"])))
    widths = [max(map(len, column)) for column in zip(*rows)]
    for row in rows:
        print("  " + "  ".join(cell.rjust(width) if column == 3 else cell.ljust(width)
                               for column, (cell, width) in enumerate(zip(row, widths))).rstrip())


def show(truth, alerts):
    """Prints how alerts compare with the truth. Returns whether they are what they must be."""
    counts, wrong, missed = judge(truth, alerts)
    show_counts(counts)
    for pattern in SHOWN:
        for alert in [alert for alert in alerts if alert["query"] == pattern and alert["sign"] == "+"][:1]:
            row = truth.get(identity(pattern, keys_of(alert)))
            print(f"\nthe first {pattern}{', planted as ' + row['name'] if row else ''}{count_of(row)}:")
            show_payments(alert)
    for reason, alert in wrong[:NAMED]:
        print(f"\nwrongly reported ({alert['sign']}): {alert['query']} {' '.join(keys_of(alert))}: {reason}")
        show_payments(alert)
    for sign, row in missed[:NAMED]:
        print(f"\nmissed ({sign}): {row['name']}, payments {row['keys']}")
    planted = sum(count["planted"] for count in counts.values())
    known = [count for count in counts.values() if count["planted"] + count["decoy"] > 0]
    found = sum(count["found"] for count in known)
    decoys = sum(count["decoy"] for count in known)
    vanished = sum(count["vanished"] for count in known)
    print(f"\nfound {'≠' if missed else '='} planted: {found:,} of {planted:,}; wrongly reported: {len(wrong):,}, beside {decoys:,} "
          f"decoys; vanished by a charge-back: {vanished:,}")
    return not wrong and not missed and planted > 0


def main(folder):
    report = json.loads((folder / "report.json").read_text(encoding="utf-8"))
    seconds = report["seconds"]
    busy = sum(seconds[step] for step in ("apply", "estimate", "cache", "match", "settle"))
    print(f"\n{report['updates']:,} payments in {report['batches']:,} batches: {report['updates'] / seconds['total']:,.0f} a second "
          f"from file to alerts,\n{report['updates'] / busy:,.0f} a second in the engine "
          f"({seconds['apply']:.1f} s apply, {seconds['match']:.1f} s match, {seconds['settle']:.1f} s settle)\n")
    return 0 if show(read_truth(folder / "planted.csv"), read_alerts(folder / "alerts.jsonl")) else 1


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(main(pathlib.Path(sys.argv[1])))
