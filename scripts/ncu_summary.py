#!/usr/bin/env python3
"""Sums up what ncu reports of several launches (--csv --page raw --print-units base), as one JSON line.

usage: ncu_summary.py CSV [KEY=VALUE ...]      CSV: ncu's output; other text around the table is skipped

Rates are over the time of all launches together. Shares are averages weighted by it. Exits with 1 if the file has no launch.
"""

import csv
import json
import re
import sys

TIME = "gpu__time_duration.sum"  # nanoseconds
BYTES = {"dram_gb_s": "dram__bytes.sum", "pcie_read_gb_s": "pcie__read_bytes.sum", "pcie_write_gb_s": "pcie__write_bytes.sum"}
PERCENT = {"occupancy_percent": "sm__warps_active.avg.pct_of_peak_sustained_active",
           "issue_active_percent": "smsp__issue_active.avg.pct_of_peak_sustained_active"}
# The average number of warps of a scheduler in a state whenever one issues.
STATE = re.compile(r"smsp__average_warps_issue_stalled_(\w+?)_per_issue_active\.ratio")


def launches_of(path):
    """By launch, metrics by name as numbers. What is not a number is left out."""
    with open(path, encoding="utf-8", errors="replace", newline="") as file:
        rows = csv.reader(line for line in file if line.startswith('"'))
        head, launches = None, []
        for row in rows:
            if row[0] == "ID":
                head = row
            elif head is not None and len(row) == len(head) and row[0].isdigit():
                metrics = {}
                for name, text in zip(head, row):
                    try:
                        metrics[name] = float(text.replace(",", ""))
                    except ValueError:
                        continue
                if metrics.get(TIME, 0) > 0:
                    launches.append(metrics)
        return launches


def summary_of(launches):
    nanoseconds = sum(launch[TIME] for launch in launches)

    def weighted(name):
        if any(name not in launch for launch in launches):
            return None
        return sum(launch[name] * launch[TIME] for launch in launches) / nanoseconds

    result = {"launches": len(launches), "seconds": nanoseconds / 1e9}
    for key, name in BYTES.items():
        if all(name in launch for launch in launches):
            result[key] = round(sum(launch[name] for launch in launches) / nanoseconds, 2)
    for key, name in PERCENT.items():
        if (value := weighted(name)) is not None:
            result[key] = round(value, 2)
    states = {match[1]: weighted(name) for name in launches[0] if (match := STATE.fullmatch(name))}
    states = {state: warps for state, warps in states.items() if warps}
    total = sum(states.values())
    # A warp that is selected issues. All others wait for what the state names.
    result["warps_percent"] = {state: round(100 * warps / total, 1) for state, warps in sorted(states.items(), key=lambda item: -item[1])}
    result["missing"] = [key for key in (*BYTES, *PERCENT) if key not in result] + ([] if states else ["warps_percent"])
    return result


def main():
    if len(sys.argv) < 2 or any("=" not in word for word in sys.argv[2:]):
        print(__doc__, file=sys.stderr)
        return 2
    launches = launches_of(sys.argv[1])
    line = {"kind": "profile", **dict(word.split("=", 1) for word in sys.argv[2:])}
    if launches:
        line.update(summary_of(launches))
    else:
        line["trouble"] = "no launch was profiled"
    print(json.dumps(line))
    return 0 if launches else 1


if __name__ == "__main__":
    sys.exit(main())
