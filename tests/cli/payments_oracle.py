"""Finds the four patterns of config/patterns in a file of generated payments, by loops over payments in plain Python.

It knows nothing of the program: neither its language nor its files of patterns. Conditions have the names of what decoys miss.
"""

import collections
import csv
import itertools

HOUR = 3600 * 1_000_000
DAY = 24 * HOUR


class Payment:
    """`born` and `gone` are the positions of the records that make and delete it. Amounts are in cents, times in microseconds."""

    def __init__(self, row, born):
        self.key, self.source, self.target, self.label = row["txn_id"], row["source"], row["target"], row["label"]
        units, cents = row["amount"].split(".")
        self.amount = int(units) * 100 + int(cents)
        seconds, micros = row["time"].split(".")
        self.time = int(seconds) * 1_000_000 + int(micros)
        self.born, self.gone = born, None


def read(path):
    """The payments by key, and the time of each record."""
    payments, times = {}, []
    with open(path, encoding="utf-8", newline="") as file:
        for position, row in enumerate(csv.DictReader(file)):
            seconds, micros = row["time"].split(".")
            times.append(int(seconds) * 1_000_000 + int(micros))
            if row["op"] == "+":
                payments[row["txn_id"]] = Payment(row, position)
            else:
                payments[row["txn_id"]].gone = position
    return payments, times


def span(payments):
    times = [payment.time for payment in payments]
    return max(times) - min(times)


def ring(t1, t2, t3):
    return {"out_of_order": t1.time < t2.time < t3.time,
            "too_small": t1.amount > 1000_00,
            "grows": t1.amount >= t2.amount >= t3.amount,
            "loses_too_much": 10 * t2.amount >= 8 * t1.amount and 10 * t3.amount >= 8 * t2.amount,
            "too_slow": span((t1, t2, t3)) < DAY}


def smurfing(t1, t2, t3, t4, out):
    small = (t1, t2, t3, t4)
    total = sum(payment.amount for payment in small)
    return {"out_of_order": all(payment.time < out.time for payment in small),
            "too_small": total > 2000_00,
            "too_large": all(payment.amount < 1000_00 for payment in small),
            "grows": out.amount <= total,
            "loses_too_much": 10 * out.amount >= 9 * total,
            "too_slow": span((*small, out)) < HOUR}


def refund_round_trip(pay, back):
    return {"out_of_order": pay.time < back.time,
            "too_small": pay.amount >= 500_00,
            "loses_too_much": back.amount >= pay.amount,
            "grows": back.amount <= pay.amount,
            "too_slow": span((pay, back)) < DAY}


def fee_chain(t1, t2, t3):
    return {"out_of_order": t1.time < t2.time < t3.time,
            "too_small": t1.amount >= 1000_00,
            "loses_too_little": 10 * t2.amount <= 9 * t1.amount and 10 * t3.amount <= 9 * t2.amount,
            "loses_too_much": 10 * t2.amount >= 8 * t1.amount and 10 * t3.amount >= 8 * t2.amount,
            "too_slow": span((t1, t2, t3)) < DAY}


CONDITIONS = {"ring": ring, "smurfing": smurfing, "refund_round_trip": refund_round_trip, "fee_chain": fee_chain}


def candidates(payments):
    """The payments that lie as in a pattern, as (pattern, payments), whatever their times and amounts. Of smurfing, only those
    that are small and come within the hour before, because all others would be too many."""
    sent, received = collections.defaultdict(list), collections.defaultdict(list)
    for payment in payments:
        sent[payment.label, payment.source].append(payment)
        received[payment.label, payment.target].append(payment)
    for t1 in payments:
        if t1.label == "PAYMENT":
            for back in sent["REFUND", t1.target]:
                if back.target == t1.source:
                    yield "refund_round_trip", (t1, back)
        if t1.label != "TRANSFER":
            continue
        for t2 in sent["TRANSFER", t1.target]:
            if t2.target == t1.source:
                continue
            for t3 in sent["TRANSFER", t2.target]:
                if t3.target == t1.source:
                    yield "ring", (t1, t2, t3)
                elif t3.target != t1.target:
                    yield "fee_chain", (t1, t2, t3)
    for out in payments:
        if out.label != "TRANSFER":
            continue
        small = [payment for payment in received["TRANSFER", out.source]
                 if payment.amount < 1000_00 and 0 < out.time - payment.time < HOUR and payment.source != out.target]
        small.sort(key=lambda payment: payment.source.encode())
        for four in itertools.combinations(small, 4):
            if len({payment.source for payment in four}) == 4:
                yield "smurfing", (*four, out)


def alerts(payments, times):
    """What has to be reported if every record is a batch: (sign, pattern, keys), as counts.

    A match appears with its last payment, if all others still are there. It vanishes with the first charge-back of one of them,
    unless its oldest payment is older than the pattern's time by then."""
    found = collections.Counter()
    for pattern, match in candidates(list(payments.values())):
        if not all(CONDITIONS[pattern](*match).values()):
            continue
        keys = " ".join(payment.key for payment in match)
        gone = min((payment.gone for payment in match if payment.gone is not None), default=None)
        if gone is not None and gone < max(payment.born for payment in match):
            continue
        found["+", pattern, keys] += 1
        if gone is not None and min(payment.time for payment in match) + (HOUR if pattern == "smurfing" else DAY) > times[gone]:
            found["-", pattern, keys] += 1
    return found
