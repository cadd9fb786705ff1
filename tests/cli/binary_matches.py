"""Reads files of matches in the binary format. It relies only on the description in docs/reference/formats.md."""

import struct

MAGIC = b"\x8fDMMTC\r\n"
SHORTFALLS = {0: None, 1: "limit", 2: "timeout", 3: "stopped"}


class Bytes:
    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, count):
        if self.at + count > len(self.data):
            raise ValueError(f"cut short at byte {len(self.data)}")
        self.at += count
        return self.data[self.at - count:self.at]

    def byte(self):
        return self.take(1)[0]

    def number(self):
        value = shift = 0
        while True:
            byte = self.byte()
            value |= (byte & 0x7f) << shift
            shift += 7
            if byte < 0x80:
                return value

    def signed(self):
        value = self.number()
        return -(value >> 1) - 1 if value & 1 else value >> 1

    def text(self):
        return self.take(self.number()).decode("utf-8", "surrogateescape")

    def id(self):
        return self.text() if self.byte() == 1 else self.signed()

    def value(self, kind, scale):
        """The value of an attribute, as in the JSON form."""
        if kind == 1:
            digits = self.signed()
            text = str(abs(digits)).rjust(scale + 1, "0")
            return ("-" if digits < 0 else "") + (f"{text[:-scale]}.{text[-scale:]}" if scale else text)
        return {0: self.signed, 2: lambda: struct.unpack(">d", self.take(8))[0], 3: lambda: self.byte() == 1, 4: self.text,
                5: self.signed}[kind]()

    def edge(self, ids, labels, model, attributes):
        """An edge of version 2."""
        edge = {"source": ids[self.number()], "label": labels[self.number()], "target": ids[self.number()]}
        edge["key" if model == 1 else "ordinal"] = self.id() if model == 1 else self.number()
        edge["time"] = self.signed() if self.byte() == 1 else None
        edge["attributes"] = {name: self.value(kind, scale) for name, kind, scale in attributes if self.byte() == 1}
        return edge


def fold(row, ids, paths):
    """Puts the steps of paths into lists, as the JSON form does."""
    first = {edge: (name, steps, vertex) for name, edge, steps, vertex in paths}
    edges, place, at = [], {}, 0
    while at < len(row["edges"]):
        name, steps, vertex = first.get(at, (None, 1, 0))
        place.update({at + step: [len(edges), step] if name else len(edges) for step in range(steps)})
        edges.append(row["edges"][at:at + steps] if name else row["edges"][at])
        if name:
            row["bindings"][name] = ids[vertex:vertex + steps - 1]
        at += steps
    row["edges"], row["cause"] = edges, [place[edge] for edge in row["cause"]]


def read(data):
    """Returns matches, as the objects of the JSON form, and ends, as (query, matches, shortfall)."""
    source = Bytes(data)
    if source.take(8) != MAGIC or (version := source.byte()) not in (1, 2):
        raise ValueError("not a file of matches, or of another version")
    model = source.byte() if version == 2 else 0
    attributes = [(source.text(), source.byte(), source.byte()) for _ in range(source.number())] if version == 2 else []
    queries, labels, matches, ends, paths = [], [], [], [], {}
    while source.at < len(data):
        kind = source.byte()
        if kind == 1:
            name = source.text()
            queries.append((name, [source.text() for _ in range(source.number())], source.number()))
        elif kind == 6:
            query = source.number()
            paths[query] = [(source.text(), source.number(), source.number(), source.number()) for _ in range(source.number())]
        elif kind == 2:
            labels.append(source.text())
        elif kind == 3:
            flags = source.byte()
            query = source.number()
            name, names, edges = queries[query]
            row = {"v": version, "id": source.take(16).hex(), "query": name, "sign": "-" if flags & 1 else "+", "batch": source.number(),
                   "time": source.signed() if flags & 2 else None}
            ids = [source.id() for _ in names]
            row["bindings"] = {name: vertex for name, vertex in zip(names, ids) if name}
            if version == 1:
                row["edges"] = [[ids[source.number()], labels[source.number()], ids[source.number()]] for _ in range(edges)]
            else:
                row["edges"] = [source.edge(ids, labels, model, attributes) for _ in range(edges)]
            row["cause"] = [source.number() for _ in range(source.number())]
            fold(row, ids, paths.get(query, []))
            matches.append(row)
        elif kind == 4:
            ends.append((queries[source.number()][0], source.number(), SHORTFALLS[source.byte()]))
        else:
            raise ValueError(f"a record of unknown kind {kind} at byte {source.at - 1}")
    return matches, ends
