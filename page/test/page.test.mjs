// Tests of what the page computes without a browser. Run by tests/page/rebuild.py, or `npm test`.
import assert from "node:assert/strict";
import { test } from "node:test";
import { build } from "esbuild";

async function load(module) {
  const made = await build({ entryPoints: [new URL(`../src/${module}.ts`, import.meta.url).pathname], bundle: true, format: "esm", write: false });
  return import(`data:text/javascript,${encodeURIComponent(made.outputFiles[0].text)}`);
}
const { alertOf, graphOf } = await load("match");
const { read } = await load("json");
const { rate, totals } = await load("service");
const text = await load("text");
const { places, routes, apart, boxAround, radius } = await load("layout");
const { EventParser } = await load("events");

test("numbers keep all their digits, and ids differ by type", () => {
  const json =
    '{"v":2,"id":"0f","query":"q","sign":"+","batch":7,"time":1767614400500000,"bindings":{"a":9007199254740993,"b":"9007199254740993"},' +
    '"edges":[{"source":9007199254740993,"label":"T","target":"9007199254740993","key":"tx","time":1767614400500000,' +
    '"attributes":{"amount":"0.10","hops":9223372036854775807}}],"cause":[0]}';
  const graph = graphOf(alertOf("7.0", json));
  assert.deepEqual(
    graph.vertices.map((vertex) => [vertex.id, vertex.names]),
    [
      ["9007199254740993", ["a"]],
      ['"9007199254740993"', ["b"]],
    ],
  );
  assert.deepEqual(graph.edges[0].attributes, [
    ["amount", "0.10"],
    ["hops", "9223372036854775807"],
  ]);
  assert.equal(graph.edges[0].cause, true);
  assert.equal(graph.keyName, "key");
});

test("counts of matches are exact, whatever their size", () => {
  const status = (appeared) => read(`{"ring":{"appeared":${appeared},"vanished":9007199254740993,"seconds":1.5}}`);
  const samples = ["9223372036854775809", '"340282366920938463463374607431768211455"', '"340282366920938463463374607431768211457"'].map((appeared, at) => ({
    at,
    queries: totals(status(appeared)),
  }));
  const shown = samples.map((sample) => text.count(sample.queries.get("ring").appeared));
  assert.deepEqual(shown, [
    "9,223,372,036,854,775,809",
    "340,282,366,920,938,463,463,374,607,431,768,211,455",
    "340,282,366,920,938,463,463,374,607,431,768,211,457",
  ]);
  assert.equal(text.count(samples[0].queries.get("ring").vanished), "9,007,199,254,740,993");
  assert.equal(rate(samples, 1, (sample) => sample.queries.get("ring").appeared), 2);
  assert.equal(totals(read('{"new":{}}')).get("new").appeared, 0n);
});

test("the vertices of a match are set apart", () => {
  const alert = alertOf("3.0", '{"v":1,"id":"0f","query":"q","sign":"+","batch":3,"time":null,"bindings":{"a":"acct-1","t":["acct-2","acct-3"]},"edges":[],"cause":[]}');
  assert.equal(alert.summary, "a = acct-1, t = acct-2 → acct-3");
});

test("paths of both versions become their steps", () => {
  const one = graphOf(
    alertOf(
      "3.0",
      '{"v":1,"id":"0f","query":"ring","sign":"-","batch":3,"time":null,"bindings":{"a":1,"t":[2,3]},"edges":[[[1,"T",2],[2,"T",3],[3,"T",1]],[1,"U",3]],"cause":[[0,2],1]}',
    ),
  );
  assert.deepEqual(
    one.edges.map((edge) => [edge.place, edge.source, edge.target, edge.cause]),
    [
      ["1.1", "n1", "n2", false],
      ["1.2", "n2", "n3", false],
      ["1.3", "n3", "n1", true],
      ["2", "n1", "n3", true],
    ],
  );
  assert.deepEqual(one.vertices[2].names, ["t[2]"]);
  const two = graphOf(
    alertOf(
      "3.1",
      '{"v":2,"id":"0f","query":"q","sign":"+","batch":3,"time":null,"bindings":{"a":1},"edges":[[{"source":1,"label":"T","target":2,"ordinal":5,"time":null,"attributes":{}}]],"cause":[]}',
    ),
  );
  assert.equal(two.edges[0].place, "1.1");
  assert.equal(two.edges[0].key, "5");
  assert.equal(two.edges[0].time, "");
});

test("names such as __proto__ are names, and what is no alert is refused", () => {
  const alert = alertOf("1.0", '{"v":1,"id":"0f","query":"__proto__","sign":"+","batch":1,"time":null,"bindings":{"__proto__":1,"constructor":2},"edges":[[1,"T",2]],"cause":[]}');
  assert.equal(alert.query, "__proto__");
  assert.equal(graphOf(alert).vertices.length, 2);
  assert.throws(() => alertOf("1.0", "[]"));
  assert.throws(() => alertOf("1.0", "{"));
  assert.match(alertOf("1.0", '{"v":1,"query":"r","batch":3,"partial":"limit","matches":9}').report, /budget/);
});

test("hostile characters are shown", () => {
  assert.equal(text.shown("a\u202eb\u0000\ufeff"), "a\\u202eb\\u0000\\ufeff");
  assert.equal(text.shown("\udc80x\udcff"), "\\x80x\\xff");
  assert.equal(text.shown("<b>é😀"), "<b>é😀");
  assert.equal(text.shortened("0123456789", 10), "0123456789");
  assert.equal(text.shortened("0123456789abc", 10), "012345…abc");
});

test("times are exact and in the zone", () => {
  assert.equal(text.time("1767614400500000", "UTC"), "2026-01-05 12:00:00.500");
  assert.equal(text.time("1767614400000001", "UTC"), "2026-01-05 12:00:00.000001");
  assert.equal(text.time("-1", "UTC"), "1969-12-31 23:59:59.999999");
  assert.equal(text.time("2026-01-05T12:00:00.5Z", "UTC"), "2026-01-05 12:00:00.500");
  assert.equal(text.time("9223372036854775807", "UTC"), "9223372036854775807");
  assert.equal(text.time("soon", "UTC"), "soon");
});

function ring(size, labels = 1) {
  const vertices = Array.from({ length: size }, (_, at) => ({ key: `n${at}`, id: String(at), names: [] }));
  const edges = vertices.flatMap((vertex, at) =>
    Array.from({ length: labels }, (_, label) => ({ place: `${at}.${label}`, source: vertex.key, target: `n${(at + 1) % size}`, label: "T" })),
  );
  return { vertices, edges };
}

test("vertices lie apart, edges that are parallel differ, and the box holds all", () => {
  for (const graph of [ring(1), ring(2, 3), ring(3), ring(6), ring(12), { vertices: ring(8).vertices, edges: [] }]) {
    const at = places(graph, 1.15);
    const points = [...at.values()];
    points.forEach((point, number) => {
      for (const other of points.slice(0, number)) assert.ok(Math.hypot(point.x - other.x, point.y - other.y) > 3 * radius);
    });
    const drawn = routes(graph, at);
    assert.equal(drawn.length, graph.edges.length);
    assert.equal(new Set(drawn.map((route) => route.path)).size, drawn.length);
    const labels = drawn.map((route) => ({ at: { ...route.middle }, reach: { x: 40, y: 20 } }));
    apart(labels, points.map((point) => ({ at: point, reach: { x: radius, y: radius } })));
    const box = boxAround(labels);
    for (const label of labels) assert.ok(label.at.x - 40 >= box.x && label.at.x + 40 <= box.x + box.width);
    assert.deepEqual(places(graph, 1.15), at, "the same graph gives the same picture");
  }
});

test("events are cut wherever the bytes are", () => {
  const bytes = new TextEncoder().encode('retry: 2000\nevent: start\ndata: {"v":1}\n\n:\n\nid: 17.3\ndata: {"é":1}\n\n');
  const whole = new EventParser().take(bytes);
  assert.deepEqual(whole, [
    { id: "", name: "start", data: '{"v":1}' },
    { id: "17.3", name: "message", data: '{"é":1}' },
  ]);
  const parser = new EventParser();
  assert.deepEqual([...bytes].flatMap((byte) => parser.take(Uint8Array.of(byte))), whole);
});
