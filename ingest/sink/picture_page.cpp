// The page of make_picture_sink. It is one file without anything from elsewhere, so that it can be sent and kept.
#include "ingest/sink/picture_page.hpp"

namespace deltamatch::ingest {

const std::string_view page_before_data = R"page(<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>deltamatch: matches</title>
<style>
  :root { --back: #fff; --panel: #f6f8fa; --line: #d0d7de; --text: #1f2328; --soft: #59636e; --new: #1a7f37; --gone: #cf222e;
    --pick: #ddf4ff; color-scheme: light dark; }
  @media (prefers-color-scheme: dark) { :root { --back: #0d1117; --panel: #151b23; --line: #3d444d; --text: #f0f6fc;
    --soft: #9198a1; --new: #3fb950; --gone: #f85149; --pick: #121d2f; } }
  * { box-sizing: border-box; }
  body { margin: 0; height: 100vh; display: flex; flex-direction: column; background: var(--back); color: var(--text);
    font: 14px/1.45 system-ui, "Segoe UI", Helvetica, Arial, sans-serif; }
  header { padding: 10px 16px; border-bottom: 1px solid var(--line); display: flex; flex-wrap: wrap; gap: 8px 16px;
    align-items: center; }
  h1 { font-size: 16px; margin: 0; }
  label { color: var(--soft); }
  select, input, #all { font: inherit; color: inherit; background: var(--panel); border: 1px solid var(--line); border-radius: 6px;
    padding: 2px 6px; }
  #missing { background: #fff8c5; color: #4d3800; padding: 6px 16px; white-space: pre-wrap; overflow-wrap: anywhere; }
  #missing:empty { display: none; }
  main { flex: 1; min-height: 0; display: flex; }
  #list { width: 38%; min-width: 260px; overflow-y: auto; border-right: 1px solid var(--line); margin: 0; padding: 0;
    list-style: none; }
  #list li { padding: 6px 16px; border-bottom: 1px solid var(--line); cursor: pointer; overflow-wrap: anywhere; }
  #list li[aria-selected=true] { background: var(--pick); }
  #list small { color: var(--soft); display: block; }
  .sign { font-weight: 700; font-family: ui-monospace, monospace; }
  .new { color: var(--new); } .gone { color: var(--gone); }
  #show { flex: 1; min-width: 0; overflow: auto; padding: 12px 16px; }
  svg { width: 100%; height: 60vh; min-height: 320px; background: var(--panel); border: 1px solid var(--line); border-radius: 6px; }
  #grid { display: grid; grid-template-columns: repeat(auto-fill, minmax(280px, 1fr)); gap: 12px; }
  #grid button { font: inherit; color: inherit; background: var(--back); border: 1px solid var(--line); border-radius: 6px;
    padding: 8px; text-align: left; cursor: pointer; overflow-wrap: anywhere; content-visibility: auto;
    contain-intrinsic-size: 280px 260px; }
  #grid button:hover { background: var(--pick); }
  #grid svg { height: auto; min-height: 0; display: block; margin-top: 4px; }
  #grid small { color: var(--soft); } #grid small.edge { display: block; }
  svg text { fill: var(--text); font-size: 12px; text-anchor: middle; paint-order: stroke; stroke: var(--panel);
    stroke-width: 3px; }
  svg rect { fill: var(--panel); }
  svg text.soft { fill: var(--soft); font-size: 11px; }
  svg circle { fill: var(--back); stroke: var(--soft); stroke-width: 1.5; }
  svg path { fill: none; stroke-width: 1.5; } svg path.lost { stroke-width: 3; }
  table { border-collapse: collapse; margin-top: 12px; width: 100%; }
  th, td { text-align: left; padding: 3px 10px 3px 0; border-bottom: 1px solid var(--line); overflow-wrap: anywhere; }
  th { color: var(--soft); font-weight: 600; white-space: nowrap; overflow-wrap: normal; }
  @media (max-width: 700px) { main { flex-direction: column; } #list { width: 100%; max-height: 35vh; border-right: 0; } }
</style>
</head>
<body>
<header>
  <h1>Matches</h1>
  <label>query <select id="query"></select></label>
  <label>sign <select id="sign"><option value="">both</option><option value="+">new (+)</option><option value="-">removed (&minus;)</option></select></label>
  <label>vertex <input id="vertex" type="search" placeholder="part of an id" size="14"></label>
  <button id="all" type="button">all side by side</button>
  <span id="count" role="status"></span>
</header>
<div id="missing" role="note"></div>
<main>
  <ul id="list" role="listbox" tabindex="0" aria-label="matches"></ul>
  <section id="show" aria-live="polite"></section>
</main>
<noscript>This page draws the matches with a script, which the browser has switched off.</noscript>
<script type="application/json" id="data">)page";

const std::string_view page_after_data = R"page(</script>
<script>
"use strict";
// Ids and labels are untrusted texts: they reach the page as textContent only.
const data = JSON.parse(document.getElementById("data").textContent);
const byId = (id) => document.getElementById(id);
const make = (name, text, className) => {
  const node = document.createElement(name);
  if (text !== undefined) node.textContent = text;
  if (className) node.className = className;
  return node;
};
const draw = (name, attributes, text) => {
  const node = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  if (text !== undefined) node.textContent = text;
  return node;
};
const vertexText = (vertex) => vertex.text && /^-?\d+$/.test(vertex.id) ? `"${vertex.id}"` : vertex.id;
const short = (text, most) => [...text].length > most ? [...text].slice(0, most - 1).join("") + "\u2026" : text;
const signClass = (match) => match.sign === "+" ? "new" : "gone";
const edgeLines = (edge) => [[edge.name, edge.label].filter((part) => part).join(": "),
  ...edge.values.map(([a, text]) => `${data.attributes[a]} ${text}`), edge.time].filter((line) => line);

/// Vertices stand on a circle, in the order of the pattern. Edges that join the same two bend away from each other. A small
/// picture has the ids, and of each edge the first value alone.
function picture(match, small) {
  const [width, height, aside, above] = small ? [400, 250, 70, 40] : [760, 480, 120, 70];
  const radius = small ? 9 : 14;
  const n = match.vertices.length;
  const places = match.vertices.map((_, i) => {
    if (n === 1) return [width / 2, height / 2];
    const angle = 2 * Math.PI * i / n - (n === 2 ? Math.PI : Math.PI / 2);
    return [width / 2 + (width / 2 - aside) * Math.cos(angle), height / 2 + (height / 2 - above) * Math.sin(angle)];
  });
  const svg = draw("svg", { viewBox: `0 0 ${width} ${height}`, role: "img" });
  svg.append(draw("title", {}, `${match.query} ${match.sign}`));
  const color = `var(--${signClass(match)})`;
  const tipId = `tip-${signClass(match)}`;
  const defs = draw("defs", {});
  const tip = draw("marker", { id: tipId, viewBox: "0 0 10 10", refX: 9, refY: 5, markerWidth: 7, markerHeight: 7,
    markerUnits: "userSpaceOnUse", orient: "auto" });
  tip.append(draw("path", { d: "M0 0L10 5L0 10z", style: `fill:${color};stroke:none` }));
  defs.append(tip);
  svg.append(defs);
  const pairOf = (edge) => [edge.source, edge.target].sort((a, b) => a - b).join("-");
  const all = match.edges.reduce((groups, edge) =>
    groups.set(pairOf(edge), [...(groups.get(pairOf(edge)) ?? []), edge]), new Map());
  const texts = [];
  for (const edge of match.edges) {
    const alike = all.get(pairOf(edge));
    const number = alike.indexOf(edge);
    const [x1, y1] = places[edge.source], [x2, y2] = places[edge.target];
    let path, at;
    if (edge.source === edge.target) {
      const size = (small ? 30 : 60) + 40 * number;
      path = `M${x1 - 9} ${y1 - radius + 2}C${x1 - size} ${y1 - radius - size} ${x1 + size} ${y1 - radius - size} ${x1 + 9} ${y1 - radius + 2}`;
      at = [x1, y1 - radius - 0.75 * size];
    } else {
      const length = Math.hypot(x2 - x1, y2 - y1) || 1;
      const turn = edge.source < edge.target ? 1 : -1;
      const bend = turn * (number - (alike.length - 1) / 2) * width / 5;
      const [nx, ny] = [-(y2 - y1) / length, (x2 - x1) / length];
      const middle = [(x1 + x2) / 2 + nx * bend, (y1 + y2) / 2 + ny * bend];
      const cut = (x, y) => {
        const far = Math.hypot(middle[0] - x, middle[1] - y) || 1;
        return [x + (middle[0] - x) / far * (radius + 2), y + (middle[1] - y) / far * (radius + 2)];
      };
      const [a, b] = [cut(x1, y1), cut(x2, y2)];
      path = `M${a[0]} ${a[1]}Q${middle[0]} ${middle[1]} ${b[0]} ${b[1]}`;
      at = [(x1 + x2) / 4 + middle[0] / 2, (y1 + y2) / 4 + middle[1] / 2];
    }
    const line = draw("path", { d: path, style: `stroke:${color}` });
    if (edge.lost) line.setAttribute("class", "lost");
    if (data.directed) line.setAttribute("marker-end", `url(#${tipId})`);
    svg.append(line);
    const lines = small ? edge.values.slice(0, 1).map(([, text]) => short(text, 16)) : edgeLines(edge).map((text) => short(text, 40));
    if (lines.length) {
      const wide = 7 * Math.max(...lines.map((text) => [...text].length)) + 6;
      const high = 14 * lines.length + 4;
      texts.unshift(draw("rect", { x: at[0] - wide / 2, y: at[1] - high / 2, width: wide, height: high, rx: 3 }));
    }
    lines.forEach((text, i) => texts.push(
      draw("text", { x: at[0], y: at[1] + 14 * (i - (lines.length - 1) / 2) + 4, ...(i ? { class: "soft" } : {}) }, text)));
  }
  match.vertices.forEach((vertex, i) => {
    const [x, y] = places[i];
    svg.append(draw("circle", { cx: x, cy: y, r: radius }));
    if (vertex.names && !small) texts.push(draw("text", { x, y: y + radius + 29, class: "soft" }, short(vertex.names, 28)));
    const text = draw("text", { x, y: y + radius + 15 }, short(vertexText(vertex), 28));
    text.append(draw("title", {}, vertexText(vertex)));
    texts.push(text);
  });
  svg.append(...texts);
  return svg;
}

function table(match) {
  const node = make("table");
  const columns = ["edge", "from", "to", ...data.attributes, ...(data.identity ? [data.identity] : []), "time"];
  const head = node.createTHead().insertRow();
  for (const column of columns) head.append(make("th", column));
  const body = node.createTBody();
  for (const edge of match.edges) {
    const row = body.insertRow();
    const values = new Map(edge.values);
    const cells = [[edge.name, edge.label].filter((part) => part).join(": "), vertexText(match.vertices[edge.source]),
      vertexText(match.vertices[edge.target]), ...data.attributes.map((_, a) => values.get(a) ?? ""),
      ...(data.identity ? [edge.identity] : []), edge.time];
    for (const cell of cells) row.append(make("td", cell));
  }
  return node;
}

/// The edges of a match in words: when each was, and what is known of it.
function edgesInWords(match) {
  const most = 6;
  const lines = match.edges.slice(0, most).map((edge) => [edge.time, ...edge.values.map(([, text]) => short(text, 40))].filter((part) => part)
    .join(" \u00b7 ")).filter((line) => line);
  if (match.edges.length > most && lines.length) lines.push("\u2026");
  return lines.map((line) => make("small", line, "edge"));
}

/// The start of the page: all matches that are shown, small, side by side.
function overview() {
  const most = 300;
  if (selected >= 0) byId("list").children[selected].setAttribute("aria-selected", "false");
  selected = -1;
  const grid = make("div");
  grid.id = "grid";
  grid.append(...shown.slice(0, most).map((match, i) => {
    const card = make("button");
    card.type = "button";
    card.append(make("span", match.sign === "+" ? "+ " : "\u2212 ", "sign " + signClass(match)), match.query + " ", make("small", match.time),
      picture(match, true), ...edgesInWords(match));
    card.addEventListener("click", () => select(i));
    return card;
  }));
  byId("show").replaceChildren(grid);
  if (shown.length > most) byId("show").append(make("p", `The first ${most} are side by side. The list has all.`));
}

let shown = [];
let selected = -1;
function select(number) {
  if (number < 0 || number >= shown.length) return;
  const rows = byId("list").children;
  if (selected >= 0) rows[selected].setAttribute("aria-selected", "false");
  selected = number;
  rows[number].setAttribute("aria-selected", "true");
  rows[number].scrollIntoView({ block: "nearest" });
  const match = shown[number];
  const heading = make("h2");
  heading.append(make("span", match.sign === "+" ? "+ " : "\u2212 ", "sign " + signClass(match)), match.query);
  const facts = [match.time, match.batch ? `batch ${match.batch}` : "", match.id].filter((fact) => fact).join(" \u00b7 ");
  byId("show").replaceChildren(heading, make("p", facts), picture(match, false),
    ...(match.edges.some((edge) => edge.lost) ? [make("p", "Thick: the edge that was taken back.")] : []), table(match));
}

function refresh() {
  const query = byId("query").value, sign = byId("sign").value, part = byId("vertex").value.toLowerCase();
  shown = data.matches.filter((match) => (query === "" || match.number === Number(query)) && (sign === "" || match.sign === sign) &&
    (part === "" || match.vertices.some((vertex) => vertex.id.toLowerCase().includes(part))));
  selected = -1;
  byId("count").textContent = `${shown.length} of ${data.matches.length} drawn matches`;
  byId("list").replaceChildren(...shown.map((match, i) => {
    const row = make("li");
    row.setAttribute("role", "option");
    row.append(make("span", match.sign === "+" ? "+ " : "\u2212 ", "sign " + signClass(match)), match.query);
    const bindings = match.vertices.filter((vertex) => vertex.names).map((vertex) => `${vertex.names} = ${vertexText(vertex)}`);
    row.append(make("small", [match.time, ...bindings].filter((part) => part).join(" \u00b7 ")));
    row.addEventListener("click", () => select(i));
    return row;
  }));
  if (shown.length === 1) {
    select(0);
  } else {
    overview();
  }
}

data.matches = data.matches.map(([number, sign, id, batch, time, vertices, edges]) => ({ number, sign, id, batch, time,
  query: data.queries[number],
  vertices: vertices.map(([names, id, text]) => ({ names, id, text })),
  edges: edges.map(([source, target, name, label, identity, time, values, lost]) => ({ source, target, name, label, identity,
    time, values, lost })) }));
byId("missing").textContent = data.missing.join("\n");
const all = make("option", "all");
all.value = "";
byId("query").append(all, ...data.queries.map((name, i) => {
  const option = make("option", name);
  option.value = i;
  return option;
}));
for (const id of ["query", "sign", "vertex"]) byId(id).addEventListener("input", refresh);
byId("all").addEventListener("click", overview);
byId("list").addEventListener("keydown", (event) => {
  if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return;
  event.preventDefault();
  select(selected + (event.key === "ArrowDown" ? 1 : -1));
});
refresh();
</script>
</body>
</html>
)page";

}  // namespace deltamatch::ingest
