"""The reference for the program's counts: a graph as sets, and embeddings counted over them.

It is written from the semantics alone, in plain Python. Nothing here knows plans, relations, batches or automorphism chains.
A graph takes updates one at a time. `embeddings` visits all assignments of a small pattern, smallest candidate sets first. It
is fast enough for graphs of some hundred thousand edges, and patterns with some million partial matches.
"""

import collections
import dataclasses
import itertools
import math


class Graph:
    """A graph without self-loops under single updates. The window has the unit of the times. With it, an edge lives while its
    largest insert time since its last deletion is less than the window behind the watermark.
    """

    def __init__(self, directed=True, window=None):
        self.directed, self.window = directed, window
        self.vertex_label = {}  # a missing vertex has the empty label
        self.watermark = None
        self._time = {}  # (source, target, label) -> largest insert time since the last deletion

    def key(self, source, target, label):
        if not self.directed and source > target:
            source, target = target, source
        return source, target, label

    def insert(self, source, target, label="", time=None):
        """Returns False for a self-loop, of which only the time counts."""
        self._see(time)
        if source == target:
            return False
        key = self.key(source, target, label)
        if self.window is None:
            self._time[key] = None
        else:
            self._time[key] = max(time, self._time.get(key, time))
        return True

    def delete(self, source, target, label="", time=None):
        self._see(time)
        if source == target:
            return False
        self._time.pop(self.key(source, target, label), None)
        return True

    def _see(self, time):
        if time is not None and (self.watermark is None or time > self.watermark):
            self.watermark = time

    def edges(self):
        """The live edges, as (source, target, label)."""
        if self.window is None:
            return list(self._time)
        return [key for key, time in self._time.items() if time + self.window > self.watermark]


@dataclasses.dataclass(frozen=True)
class Edge:
    source: int
    target: int
    labels: tuple = ()  # empty: any label
    directed: bool = True


@dataclasses.dataclass(frozen=True)
class Pattern:
    """A query graph. Each entry of `labels` is the tuple of labels that the vertex may have; empty means any. No two of its
    edges may be mapped to one data edge when their vertices are mapped to distinct ones.
    """

    name: str
    labels: tuple
    edges: tuple

    def __post_init__(self):
        for one, other in itertools.combinations(self.edges, 2):
            same = (one.source, one.target) == (other.source, other.target)
            same |= not (one.directed and other.directed) and {one.source, one.target} == {other.source, other.target}
            apart = one.labels and other.labels and not set(one.labels) & set(other.labels)
            assert apart or not same, "two edges of the pattern could be mapped to one data edge"

    def text(self):
        """The query for the program's command line."""
        named = set()

        def vertex(index):  # the first mention has the labels
            first = index not in named
            named.add(index)
            return f"(v{index}{_labels(self.labels[index]) if first else ''})"

        parts = []
        for edge in self.edges:
            source = vertex(edge.source)
            line = f"-[{_labels(edge.labels)}]-" if edge.labels else "--"
            parts.append(source + line + (">" if edge.directed else "") + vertex(edge.target))
        return f"{self.name}=" + ", ".join(parts)

    def automorphisms(self):
        """The number of vertex permutations that keep labels and edges."""
        between = collections.defaultdict(set)  # ordered pair of vertices -> the edges between them
        for edge in self.edges:
            between[edge.source, edge.target].add((edge.labels, "to" if edge.directed else "with"))
            between[edge.target, edge.source].add((edge.labels, "from" if edge.directed else "with"))

        def extend(images):
            vertex = len(images)
            if vertex == len(self.labels):
                return 1
            return sum(extend([*images, image]) for image in range(len(self.labels))
                       if image not in images and self.labels[image] == self.labels[vertex]
                       and all(between.get((v, vertex)) == between.get((images[v], image)) for v in range(vertex)))

        return extend([])


def _labels(labels):
    return ":" + "|".join(f"`{label}`" for label in labels) if labels else ""


def pattern(name, *edges, labels=(), directed=True):
    """A pattern from edges (source, target) or (source, target, edge label, ...). labels[v] is the label of vertex v; None or a
    missing entry means any.
    """
    count = 1 + max(max(e[:2]) for e in edges)
    of_vertex = [() for _ in range(count)]
    for vertex, label in enumerate(labels):
        of_vertex[vertex] = () if label is None else tuple(sorted(label)) if isinstance(label, (set, tuple)) else (label,)
    return Pattern(name, tuple(of_vertex), tuple(Edge(e[0], e[1], tuple(sorted(e[2:])), directed) for e in edges))


def cycle(name, length, *edge_labels, labels=(), directed=True):
    edges = [(v, (v + 1) % length, *edge_labels) for v in range(length)]
    return pattern(name, *edges, labels=labels, directed=directed)


class Reading:
    """What can be read along one query edge from one of its ends. `reached[v]` has the vertices at the other end. `ways[v, u]`
    is the number of data edges between them, if there are several.
    """

    def __init__(self):
        self.reached = collections.defaultdict(set)
        self.ways = {}

    def add(self, one, other):
        if other in self.reached[one]:
            self.ways[one, other] = self.ways.get((one, other), 1) + 1
        else:
            self.reached[one].add(other)


class Index:
    """A graph at one moment, readable by query edge."""

    def __init__(self, graph):
        self.directed = graph.directed
        self.edges = graph.edges()
        self.vertex_label = graph.vertex_label
        self.vertices = {v for edge in self.edges for v in edge[:2]}
        self._read = {}
        self._around = None
        self._bearers = {}

    def bearers(self, labels):
        """The vertices that have one of the labels."""
        if labels not in self._bearers:
            self._bearers[labels] = [v for v in self.vertices if self.bears(v, labels)]
        return self._bearers[labels]

    def around(self):
        """{vertex: all its neighbours, over any label and direction}."""
        if self._around is None:
            self._around = collections.defaultdict(set)
            for source, target, _ in self.edges:
                self._around[source].add(target)
                self._around[target].add(source)
        return self._around

    def bears(self, vertex, labels):
        return not labels or self.vertex_label.get(vertex, "") in labels

    def read(self, edge, forward, labels):
        """Reads along a query edge, forward from its source or back from its target, to vertices that have one of the labels."""
        both = not (self.directed and edge.directed)
        key = (edge.labels, both or forward, both, labels)
        if key not in self._read:
            self._read[key] = reading = Reading()
            for source, target, label in self.edges:
                if edge.labels and label not in edge.labels:
                    continue
                if (both or forward) and self.bears(target, labels):
                    reading.add(source, target)
                if (both or not forward) and self.bears(source, labels):
                    reading.add(target, source)
        return self._read[key]


def embeddings(index, pattern, induced=False):
    """Counts assignments of distinct vertices and of edges. It searches depth first and takes each vertex from those that its
    neighbours reach. Induced embeddings join no two vertices that the pattern does not join. For them, graph and pattern must
    be simple and undirected.
    """
    size = len(pattern.labels)
    neighbours = [[] for _ in range(size)]  # (other vertex, edge, whether the edge comes from the other vertex)
    for edge in pattern.edges:
        neighbours[edge.target].append((edge.source, edge, True))
        neighbours[edge.source].append((edge.target, edge, False))
    rarity = [-len(index.bearers(labels)) for labels in pattern.labels]
    order = [max(range(size), key=lambda v: (len(neighbours[v]), rarity[v]))]
    while len(order) < size:
        order.append(max((v for v in range(size) if v not in order),
                         key=lambda v: (sum(u in order for u, _, _ in neighbours[v]), len(neighbours[v]), rarity[v])))
    around = index.around() if induced else None
    steps, apart = [], []
    for depth, vertex in enumerate(order):
        adjacent = {u for u, _, _ in neighbours[vertex]}
        apart.append([position for position in range(depth) if induced and order[position] not in adjacent])
        steps.append([(order.index(u), index.read(edge, here, pattern.labels[vertex]))
                      for u, edge, here in neighbours[vertex] if u in order[:depth]])
    chosen = []

    def walk(depth):
        sets = [reading.reached.get(chosen[position], frozenset()) for position, reading in steps[depth]]
        candidates = set.intersection(*sorted(sets, key=len)) if all(sets) else set()
        for position in apart[depth]:
            candidates = candidates - around[chosen[position]]
        many = [(chosen[position], reading.ways) for position, reading in steps[depth] if reading.ways]
        if depth == size - 1 and not many:
            return len(candidates) - sum(vertex in candidates for vertex in chosen)
        total = 0
        for vertex in candidates:
            if vertex in chosen:
                continue
            ways = math.prod(table.get((one, vertex), 1) for one, table in many)
            if depth < size - 1:
                chosen.append(vertex)
                ways *= walk(depth + 1)
                chosen.pop()
            total += ways
        return total

    total = 0
    for vertex in index.bearers(pattern.labels[order[0]]):
        chosen.append(vertex)
        total += walk(1)
        chosen.pop()
    return total


def subgraphs(index, pattern):
    """Matches, one per class under the pattern's automorphisms. No automorphism maps an embedding to itself, so all classes have
    the same size.
    """
    count, rest = divmod(embeddings(index, pattern), pattern.automorphisms())
    assert rest == 0
    return count


def triangles(edges):
    """Triangles of the simple undirected graph under the edges (source, target, ...). It uses another method: neighbours of
    higher rank.
    """
    around = collections.defaultdict(set)
    for source, target, *_ in edges:
        if source != target:
            around[source].add(target)
            around[target].add(source)
    rank = {v: i for i, v in enumerate(sorted(around, key=lambda v: len(around[v])))}
    above = {v: {u for u in around[v] if rank[u] > rank[v]} for v in around}
    return sum(len(above[v] & above[u]) for v in above for u in above[v])


def four_cycles(edges):
    """4-cycles of the simple undirected graph under the edges. Counts pairs of paths between two opposite corners; each cycle is
    seen twice.
    """
    around = collections.defaultdict(set)
    for source, target, *_ in edges:
        if source != target:
            around[source].add(target)
            around[target].add(source)
    total = 0
    for one in around:
        ways = collections.Counter(other for middle in around[one] for other in around[middle] if other > one)
        total += sum(n * (n - 1) // 2 for n in ways.values())
    return total // 2
