// Places the vertices of a match in the plane, and says how its edges run.
import { forceCollide, forceLink, forceManyBody, forceSimulation, forceX, forceY } from "d3-force";
import type { Edge, Graph } from "./match";

export const radius = 19;

export interface Point {
  x: number;
  y: number;
}

interface Node extends Point {
  key: string;
}

/** A place for each vertex, by its key; the middle of all has y = 0. The same graph gives the same places. O(vertices + edges) per step. */
export function places(graph: Graph, stretch: number): Map<string, Point> {
  const count = graph.vertices.length;
  const order = around(graph);
  const nodes: Node[] = order.map((key, at) => {
    const angle = (2 * Math.PI * at) / Math.max(count, 1) - Math.PI / 2;
    const wide = 60 * Math.max(1.5, count / 2);
    return { key, x: wide * Math.cos(angle) * stretch, y: wide * Math.sin(angle) };
  });
  const links = graph.edges
    .filter((edge) => edge.source !== edge.target)
    .map((edge) => ({ source: edge.source, target: edge.target }));
  forceSimulation(nodes)
    .force(
      "link",
      forceLink<Node, { source: string | Node; target: string | Node }>(links)
        .id((node) => node.key)
        .distance(175)
        .strength(0.7),
    )
    .force("charge", forceManyBody().strength(-1400))
    .force("collide", forceCollide(70))
    .force("x", forceX(0).strength(0.05))
    .force("y", forceY(0).strength(0.05 * stretch * stretch))
    .stop()
    .tick(400);
  const middle = nodes.reduce((sum, node) => sum + node.y, 0) / Math.max(count, 1);
  return new Map(nodes.map((node) => [node.key, { x: node.x, y: node.y - middle }]));
}

/** The vertices in an order in which neighbours follow each other, so that a ring begins as a ring. */
function around(graph: Graph): string[] {
  const next = new Map<string, string[]>(graph.vertices.map((vertex) => [vertex.key, []]));
  for (const edge of graph.edges) {
    next.get(edge.source)?.push(edge.target);
    next.get(edge.target)?.push(edge.source);
  }
  const seen = new Set<string>();
  const walk = (key: string) => {
    if (seen.has(key)) return;
    seen.add(key);
    for (const each of next.get(key) ?? []) walk(each);
  };
  for (const vertex of graph.vertices) walk(vertex.key);
  return [...seen];
}

export interface Route {
  edge: Edge;
  path: string; // of SVG, from border to border
  middle: Point; // of the line
  side: Point; // a unit vector: where the label goes, seen from there
}

/** How the edges run. Those between the same two vertices are bent apart, and loops stand above their vertex. */
export function routes(graph: Graph, at: Map<string, Point>): Route[] {
  const all = [...at.values()];
  const centre = {
    x: all.reduce((sum, point) => sum + point.x, 0) / Math.max(all.length, 1),
    y: all.reduce((sum, point) => sum + point.y, 0) / Math.max(all.length, 1),
  };
  const beside = new Map<string, Edge[]>();
  for (const edge of graph.edges) {
    const pair = [edge.source, edge.target].sort().join("\u0000");
    beside.set(pair, [...(beside.get(pair) ?? []), edge]);
  }
  const found: Route[] = [];
  for (const edges of beside.values()) {
    edges.forEach((edge, number) => {
      const from = at.get(edge.source);
      const to = at.get(edge.target);
      if (!from || !to) return;
      found.push(edge.source === edge.target ? loop(edge, from, number) : bent(edge, from, to, edges, number, centre));
    });
  }
  return found;
}

function loop(edge: Edge, at: Point, number: number): Route {
  const high = radius * (2.6 + 1.6 * number);
  const x = radius * 0.6;
  const y = at.y - radius * 0.8;
  return {
    edge,
    path: `M${at.x - x},${y} C${at.x - high},${at.y - high} ${at.x + high},${at.y - high} ${at.x + x},${y}`,
    middle: { x: at.x, y: at.y - high * 0.8 },
    side: { x: 0, y: -1 },
  };
}

function bent(edge: Edge, from: Point, to: Point, beside: Edge[], number: number, centre: Point): Route {
  const dx = to.x - from.x;
  const dy = to.y - from.y;
  const length = Math.hypot(dx, dy) || 1;
  // All of them are bent with respect to the same direction.
  const sense = edge.source < edge.target ? 1 : -1;
  const bend = beside.length === 1 ? 0 : (number - (beside.length - 1) / 2) * 74 * sense;
  const middle = { x: (from.x + to.x) / 2 - (dy / length) * bend, y: (from.y + to.y) / 2 + (dx / length) * bend };
  const begin = towards(from, middle, radius + 1);
  const end = towards(to, middle, radius + 5);
  const half = { x: (from.x + to.x) / 4 + middle.x / 2, y: (from.y + to.y) / 4 + middle.y / 2 };
  // The label stands on the outer side: that of the bend, or the one away from the centre.
  const normal = { x: -dy / length, y: dx / length };
  const out = bend !== 0 ? bend : normal.x * (half.x - centre.x) + normal.y * (half.y - centre.y) || -normal.y;
  const side = out >= 0 ? normal : { x: -normal.x, y: -normal.y };
  return {
    edge,
    path: `M${begin.x},${begin.y} Q${middle.x},${middle.y} ${end.x},${end.y}`,
    middle: half,
    side,
  };
}

function towards(from: Point, to: Point, distance: number): Point {
  const length = Math.hypot(to.x - from.x, to.y - from.y) || 1;
  return { x: from.x + ((to.x - from.x) / length) * distance, y: from.y + ((to.y - from.y) / length) * distance };
}

export interface Label {
  at: Point; // its middle
  reach: Point; // half its width and height
}

/** Moves labels apart that overlap each other or one of the fixed boxes. O(labels * (labels + fixed)) per round. */
export function apart(labels: Label[], fixed: Label[]): void {
  for (let round = 0; round < 40; ++round) {
    let moved = false;
    labels.forEach((label, number) => {
      for (const other of [...labels.slice(0, number), ...fixed]) {
        const x = label.reach.x + other.reach.x - Math.abs(label.at.x - other.at.x);
        const y = label.reach.y + other.reach.y - Math.abs(label.at.y - other.at.y);
        if (x <= 0 || y <= 0) continue;
        moved = true;
        const share = fixed.includes(other) ? 0 : 0.5;
        const down = label.at.y >= other.at.y ? 1 : -1;
        const right = label.at.x >= other.at.x ? 1 : -1;
        if (y <= x) {
          label.at.y += down * (y + 1) * (1 - share);
          other.at.y -= down * (y + 1) * share;
        } else {
          label.at.x += right * (x + 1) * (1 - share);
          other.at.x -= right * (x + 1) * share;
        }
      }
    });
    if (!moved) return;
  }
}

export interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
}

/** The smallest box around all. */
export function boxAround(labels: Label[]): Box {
  let left = Infinity;
  let right = -Infinity;
  let top = Infinity;
  let bottom = -Infinity;
  const take = (point: Point, x: number, y: number) => {
    left = Math.min(left, point.x - x);
    right = Math.max(right, point.x + x);
    top = Math.min(top, point.y - y);
    bottom = Math.max(bottom, point.y + y);
  };
  for (const { at: point, reach } of labels) take(point, reach.x, reach.y);
  if (left > right) return { x: 0, y: 0, width: 1, height: 1 };
  return { x: left - 8, y: top - 8, width: right - left + 16, height: bottom - top + 16 };
}
