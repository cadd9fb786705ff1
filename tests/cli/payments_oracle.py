"""Finds the patterns of config/patterns in a file of generated payments, by loops over payments in plain Python.

It knows nothing of the program: neither its language nor its files of patterns. Conditions have the names of what decoys miss.
"""

import collections
import csv

HOUR = 3600 * 1_000_000
DAY = 24 * HOUR
SENDERS = 10


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


def ring(steps, _counted):
    pairs = list(zip(steps, steps[1:]))
    return {"out_of_order": all(t.time < u.time for t, u in pairs),
            "too_small": steps[0].amount > 1000_00,
            "grows": all(t.amount >= u.amount for t, u in pairs),
            "loses_too_much": all(10 * u.amount >= 8 * t.amount for t, u in pairs),
            "too_slow": span(steps) < DAY,
            "too_short": len(steps) >= 3,
            "too_long": len(steps) <= 6}


def smurfing(edges, counted):
    """A condition is missed if there would be enough senders without it, or else if there are too few of them in any case."""
    (out,) = edges
    tests = {"out_of_order": lambda t: t.time < out.time,
             "too_slow": lambda t: abs(out.time - t.time) < HOUR,
             "too_small": lambda t: t.amount > 500_00,
             "too_large": lambda t: t.amount < 1000_00}

    def senders(without=None):
        return [t.source for t in counted if all(test(t) for name, test in tests.items() if name != without)]

    holds = len(set(senders())) >= SENDERS
    result = {name: holds or len(set(senders(name))) < SENDERS for name in tests}
    result["sender_twice"] = holds or len(senders()) < SENDERS
    result["too_few"] = holds or not all(result.values())
    return result


def refund_round_trip(edges, _counted):
    pay, back = edges
    return {"out_of_order": pay.time < back.time,
            "too_small": pay.amount >= 500_00,
            "loses_too_much": back.amount >= pay.amount,
            "grows": back.amount <= pay.amount,
            "too_slow": span(edges) < DAY}


def fee_chain(edges, _counted):
    t1, t2, t3 = edges
    return {"out_of_order": t1.time < t2.time < t3.time,
            "too_small": t1.amount >= 1000_00,
            "loses_too_little": 10 * t2.amount <= 9 * t1.amount and 10 * t3.amount <= 9 * t2.amount,
            "loses_too_much": 10 * t2.amount >= 8 * t1.amount and 10 * t3.amount >= 8 * t2.amount,
            "too_slow": span(edges) < DAY}


def unpaid_refund(edges, counted):
    """Of what was paid, only that counts which is not charged back in the end."""
    (back,) = edges
    return {"too_small": back.amount >= 500_00,
            "paid": not any(pays(payment, back) and payment.gone is None and back.time - payment.time < DAY for payment in counted)}


def pays(payment, back):
    """Whether a payment is one for which a refund may be, however old it is."""
    return (payment.source, payment.target) == (back.target, back.source) and payment.amount >= back.amount and payment.time < back.time


CONDITIONS = {"ring": ring, "smurfing": smurfing, "refund_round_trip": refund_round_trip, "fee_chain": fee_chain,
              "unpaid_refund": unpaid_refund}


class Index:
    """Payments by label and source, and by label and target."""

    def __init__(self, payments):
        self.sent, self.received = collections.defaultdict(list), collections.defaultdict(list)
        for payment in payments:
            self.sent[payment.label, payment.source].append(payment)
            self.received[payment.label, payment.target].append(payment)


def rings(index, steps):
    """The rings of 3 to 6 payments that begin with these. Those in which the next payment fits the last one, as all others would
    be too many."""
    if len(steps) >= 3 and steps[-1].target == steps[0].source:
        yield tuple(steps)
    if len(steps) == 6:
        return
    passed = {payment.target for payment in steps}
    for after in index.sent["TRANSFER", steps[-1].target]:
        if after.target not in passed and steps[0].source not in passed and steps[-1].time < after.time < steps[0].time + DAY \
                and 10 * steps[-1].amount >= 10 * after.amount >= 8 * steps[-1].amount:
            yield from rings(index, [*steps, after])


def candidates(payments, index):
    """The payments that lie as in a pattern without counts, as (pattern, payments), whatever their times and amounts. Of rings,
    fewer."""
    for t1 in payments:
        if t1.label == "PAYMENT":
            for back in index.sent["REFUND", t1.target]:
                if back.target == t1.source:
                    yield "refund_round_trip", (t1, back)
        if t1.label != "TRANSFER":
            continue
        for steps in rings(index, [t1]):
            yield "ring", steps
        for t2 in index.sent["TRANSFER", t1.target]:
            if t2.target == t1.source:
                continue
            for t3 in index.sent["TRANSFER", t2.target]:
                if t3.target not in (t1.source, t1.target):
                    yield "fee_chain", (t1, t2, t3)


def counting_candidates(payments, index):
    """The payments that may be matches of a pattern that counts, as (pattern, payment, what counts, what must hold of it)."""
    for payment in payments:
        if payment.label == "TRANSFER":
            counted = [t for t in index.received["TRANSFER", payment.source]
                       if 500_00 < t.amount < 1000_00 and 0 < payment.time - t.time < HOUR]
            if len({t.source for t in counted}) >= SENDERS:
                yield "smurfing", payment, counted, lambda alive: len({t.source for t in alive}) >= SENDERS
        if payment.label == "REFUND" and payment.amount >= 500_00:
            counted = [paid for paid in index.sent["PAYMENT", payment.target] if pays(paid, payment)]
            yield "unpaid_refund", payment, counted, lambda alive: not alive


def turns(payment, counted, holds, times):
    """The signs that a match of one payment gets. A payment counts for a day, and growing old alone turns nothing."""
    def is_match(position, now):
        return holds([t for t in counted if t.born <= position and (t.gone is None or t.gone > position) and t.time + DAY > now])

    if is_match(payment.born, times[payment.born]):
        yield "+"
    records = {position for t in counted for position in (t.born, t.gone) if position is not None and position > payment.born}
    for position in sorted(records):
        if (payment.gone is not None and position > payment.gone) or payment.time + DAY <= times[position]:
            return
        before, now = times[position - 1], times[position]
        after = is_match(position, now)
        if is_match(position - 1, before) != after and is_match(position - 1, now) != after:
            yield "+" if after else "-"
    if payment.gone is not None and payment.time + DAY > times[payment.gone] and is_match(payment.gone - 1, times[payment.gone - 1]):
        yield "-"


def alerts(payments, times):
    """What has to be reported if every record is a batch: (sign, pattern, keys), as counts.

    A match appears with its last payment, if all others still are there. It vanishes with the first charge-back of one of them,
    unless its oldest payment is a day old by then. Where a pattern counts, records turn it while its own payment is not that old."""
    found = collections.Counter()
    index = Index(payments.values())
    for pattern, match in candidates(list(payments.values()), index):
        if not all(CONDITIONS[pattern](match, ()).values()):
            continue
        keys = " ".join(payment.key for payment in match)
        gone = min((payment.gone for payment in match if payment.gone is not None), default=None)
        if gone is not None and gone < max(payment.born for payment in match):
            continue
        found["+", pattern, keys] += 1
        if gone is not None and min(payment.time for payment in match) + DAY > times[gone]:
            found["-", pattern, keys] += 1
    for pattern, payment, counted, holds in counting_candidates(payments.values(), index):
        for sign in turns(payment, counted, holds, times):
            found[sign, pattern, payment.key] += 1
    return found
