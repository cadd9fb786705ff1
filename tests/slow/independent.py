"""networkx's matcher, for graphs of some thousand edges. It shares no code with the program or the reference."""

import unittest

try:
    import networkx
    from networkx.algorithms.isomorphism import DiGraphMatcher, GraphMatcher
except ImportError:
    networkx = None


def embeddings(graph, pattern):
    """Counts embeddings of a pattern without edge labels, in a graph without parallel edges."""
    kind = networkx.DiGraph if graph.directed else networkx.Graph
    data, query = kind(), kind()
    for source, target, _ in graph.edges():
        assert not data.has_edge(source, target), "parallel edges"
        data.add_edge(source, target)
    for vertex in data:
        data.nodes[vertex]["label"] = graph.vertex_label.get(vertex, "")
    for vertex, labels in enumerate(pattern.labels):
        query.add_node(vertex, labels=labels)
    for edge in pattern.edges:
        assert edge.directed == graph.directed and not edge.labels
        query.add_edge(edge.source, edge.target)
    matcher = (DiGraphMatcher if graph.directed else GraphMatcher)(
        data, query, node_match=lambda one, other: not other["labels"] or one["label"] in other["labels"])
    return sum(1 for _ in matcher.subgraph_monomorphisms_iter())


def check(test, told, graph, patterns, start=None):
    """Checks that a replay's embeddings are those of its final graph. `start` gives the number of embeddings per pattern before
    the replay.
    """
    if networkx is None:
        raise unittest.SkipTest("networkx is missing: install python3-networkx (scripts/setup --dev does)")
    for query, pattern in zip(told["queries"], patterns, strict=True):
        before = start[pattern.name] if start else 0
        test.assertEqual(before + query["new"] - query["removed"], embeddings(graph, pattern), pattern.name)
