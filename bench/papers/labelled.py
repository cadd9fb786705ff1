"""Labelled graphs, and queries that random walks cut out of them, for the benchmarks of whole graphs. Standard library only."""

import gzip
import itertools
import lzma
import random
import re

from harness import script

SHAPES = ["dense", "sparse", "path", "tree", "cycle"]
SPECS = "chung-lu:VERTICES:EDGES[:LABELS[:MAX-DEGREE]], rmat:SCALE:EDGE-FACTOR[:LABELS]"
OPEN = {".xz": lzma.open, ".gz": gzip.open, ".jlg": gzip.open}


class Graph:
    """An undirected graph in memory, and in a file if the program reads it."""

    def __init__(self, name, path, labels, neighbours):
        self.name, self.path, self.labels, self.neighbours = name, path, labels, neighbours
        self.vertices = sorted(neighbours)
        self.edges = sum(map(len, neighbours.values())) // 2

    def query(self, draw, size, shape):
        """A subgraph of one shape, as text in t/v/e.

        Dense and sparse ones are induced. Their mean degree is at least 3 or below 3, if the graph has such. Paths, trees and
        cycles have the edges that the walk took."""
        for attempt in range(100000):
            seen, walked = self._walk(draw, size)
            if len(seen) < size:
                continue
            edges = walked
            if shape == "cycle":
                if seen[0] not in self.neighbours[seen[-1]]:
                    continue
                edges = [*walked, (size - 1, 0)]
            if shape in ("path", "cycle") and walked != list(itertools.pairwise(range(size))):
                continue
            if shape in ("dense", "sparse"):
                edges = [(i, j) for i in range(size) for j in range(i) if seen[j] in self.neighbours[seen[i]]]
                if (2 * len(edges) >= 3 * size) != (shape == "dense") and attempt < 5000:
                    continue
            lines = [f"t {size} {len(edges)}", *(f"v {i} {self.labels[v]}" for i, v in enumerate(seen)), *(f"e {i} {j}" for i, j in edges)]
            return "\n".join(lines) + "\n"
        raise script.Refused(f"{self.name}: no walk makes a {shape} query of {size} vertices")

    def _walk(self, draw, size):
        """The vertices that a walk meets, in that order, and the edges that it took there, as positions among these vertices.

        The vertices are fewer than `size` if the walk gets nowhere."""
        at = draw.choice(self.vertices)
        seen, walked = [at], []
        for _ in range(100 * size):
            if len(seen) == size:
                break
            before, at = at, draw.choice(self._sorted(at))
            if at not in seen:
                walked.append((seen.index(before), len(seen)))
                seen.append(at)
        return seen, walked

    def _sorted(self, vertex):
        if isinstance(self.neighbours[vertex], set):
            self.neighbours[vertex] = sorted(self.neighbours[vertex])
        return self.neighbours[vertex]


def read(path):
    """Reads a graph: t/v/e with labels, jlg, or rows of two vertices; plain, .xz or .gz. Without labels all are 0."""
    labels, neighbours = {}, {}
    with OPEN.get(path.suffix, open)(path, "rt") as file:
        for line in file:
            kind, *fields = re.split(r"[\s,]+", line.strip())
            if kind == "v":
                labels[int(fields[0])] = fields[1]
                continue
            ends = fields[:2] if kind == "e" else [kind, *fields]
            if kind == "t" or len(ends) != 2 or not all(end.isdecimal() for end in ends):
                continue  # a heading
            one, other = map(int, ends)
            if one != other:
                neighbours.setdefault(one, set()).add(other)
                neighbours.setdefault(other, set()).add(one)
    return Graph(path.name.split(".")[0], path, labels or dict.fromkeys(neighbours, "0"), neighbours)


def generated(options, spec, folder):
    """Lets the program make the graph that SPECS describes, with equally frequent labels."""
    kind, size, edges, *rest = spec.split(":")
    labels, *largest = rest or ["1"]
    arguments = {"chung-lu": ["--vertices", size, "--edges", edges], "rmat": ["--scale", size, "--edge-factor", edges]}[kind]
    if largest:
        arguments += ["--max-degree", largest[0]]
    path = folder / (spec.replace(":", "-") + ".graph")
    script.Run([script.program(options), "generate", kind, *arguments, "--vertex-labels", labels, "--edge-labels", 0,
                 "--insertions", 0, "--graph", path])
    return read(path)


def relabelled(graph, count, folder):
    """The same graph in a file of its own, with `count` labels drawn at random. The i-th has a share in proportion to 1/i."""
    draw = random.Random(count)
    vertices = sorted(graph.labels)
    drawn = draw.choices(range(count), weights=[1 / (i + 1) for i in range(count)], k=len(vertices))
    labels = {vertex: str(label) for vertex, label in zip(vertices, drawn)}
    path = folder / f"{graph.name}-{count}.graph"
    with path.open("w") as file:
        file.write(f"t {len(vertices)} {graph.edges}\n")
        file.writelines(f"v {vertex} {label}\n" for vertex, label in labels.items())
        file.writelines(f"e {one} {other}\n" for one, others in graph.neighbours.items() for other in others if one < other)
    return Graph(graph.name, path, labels, graph.neighbours)
