// A match, drawn as a graph, and the table of its edges.
import { useMemo } from "preact/hooks";
import { type Label, apart, boxAround, places, radius, routes } from "./layout";
import type { Alert, Edge, Graph } from "./match";
import { type Zone, shortened, shown, time, timeParts, zoneName } from "./text";

const line = 15; // height of a line of a label

/** The lines beside an edge: its label, its first numbers, and its time. The table has the rest. */
function labelLines(edge: Edge, zone: Zone, day: string): string[] {
  const numbers = edge.attributes.filter(([, value]) => /^-?\d+(\.\d+)?$/.test(value)).slice(0, 2);
  const values = numbers.map(([name, value]) => (name === "amount" ? value : `${shortened(shown(name), 12)} ${value}`));
  const lines = [shortened(shown(edge.label), 20), values.join(", ")].filter((text) => text !== "");
  const parts = edge.time === "" ? undefined : timeParts(edge.time, zone);
  if (parts) lines.push(parts.date === day ? parts.time : `${parts.date} ${parts.time}`);
  return lines;
}

/** The day of all edges, if they share one: then the labels do without it. */
function sharedDay(graph: Graph, zone: Zone): string {
  const days = new Set(graph.edges.map((edge) => timeParts(edge.time, zone)?.date ?? ""));
  return days.size === 1 ? [...days][0] ?? "" : "";
}

export function Picture({ alert, graph, zone }: { alert: Alert; graph: Graph; zone: Zone }) {
  const drawn = useMemo(() => {
    const at = places(graph, 1.15);
    const day = sharedDay(graph, zone);
    const reach = (lines: string[], width: number) => ({ x: Math.max(1, ...lines.map((text) => [...text].length)) * width + 3, y: (lines.length * line) / 2 + 1 });
    const edges = routes(graph, at).map((route) => {
      const lines = labelLines(route.edge, zone, day);
      const size = reach(lines, 3.5);
      const away = Math.abs(route.side.x) * size.x + Math.abs(route.side.y) * size.y + 8;
      return { ...route, lines, reach: size, at: { x: route.middle.x + route.side.x * away, y: route.middle.y + route.side.y * away } };
    });
    const vertices = graph.vertices.map((vertex) => {
      const place = at.get(vertex.key) ?? { x: 0, y: 0 };
      // The id stands on the outer side, where fewer edges end.
      const y = place.y < -1 ? -radius - 11 : radius + 12;
      const name = shown(vertex.names[0] ?? "");
      const fits = [...name].length <= 4;
      const id = shortened(vertex.id, 22);
      return { vertex, at: place, name: fits ? name : "", id: fits ? id : `${shortened(name, 14)}: ${id}`, y };
    });
    const fixed: Label[] = vertices.flatMap(({ at: point, id, y }) => [
      { at: point, reach: { x: radius + 3, y: radius + 3 } },
      { at: { x: point.x, y: point.y + y }, reach: reach([id], 3.9) },
    ]);
    apart(edges, fixed);
    const box = boxAround([...edges, ...fixed]);
    return { edges, vertices, box, day };
  }, [alert, graph, zone]);
  const { box } = drawn;
  const title = `The match ${alert.id} of ${shown(alert.query)}: ${graph.vertices.length} vertices, ${graph.edges.length} edges`;
  return (
    <figure class={alert.sign === "-" ? "picture vanished" : "picture"}>
      <svg viewBox={`${box.x} ${box.y} ${box.width} ${box.height}`} role="img" aria-label={title} style={{ maxWidth: `${box.width * 1.2}px` }}>
        <defs>
          {["", "cause"].map((kind) => (
            <marker key={kind} id={`arrow${kind}`} viewBox="0 0 10 10" refX="8" refY="5" markerUnits="userSpaceOnUse" markerWidth="12" markerHeight="12" orient="auto">
              <path class={`arrow ${kind}`} d="M0,0 L10,5 L0,10 z" />
            </marker>
          ))}
        </defs>
        {drawn.vertices.map(({ vertex, at, id, y }) => (
          <text key={vertex.key} class="vertex id" x={at.x} y={at.y + y} dy="0.35em">
            {id}
          </text>
        ))}
        {drawn.edges.map(({ edge, path }) => (
          <path
            key={edge.place}
            class={edge.cause ? "edge cause" : "edge"}
            data-edge={edge.place}
            d={path}
            marker-end={`url(#arrow${edge.cause ? "cause" : ""})`}
          />
        ))}
        {drawn.vertices.map(({ vertex, at, name }) => (
          <g key={vertex.key} class="vertex" data-vertex={vertex.id} transform={`translate(${at.x} ${at.y})`}>
            <title>{`${vertex.names.map(shown).join(", ")}: ${vertex.id}`}</title>
            <circle r={radius} />
            <text class="name" dy="0.35em">
              {name}
            </text>
          </g>
        ))}
        {drawn.edges.map(({ edge, at: label, lines }) => (
          <text key={edge.place} class={edge.cause ? "label cause" : "label"} x={label.x} y={label.y}>
            {lines.map((text, at) => (
              <tspan key={at} x={label.x} dy={at === 0 ? `${0.35 - (lines.length - 1) * 0.6}em` : "1.2em"}>
                {text}
              </tspan>
            ))}
          </text>
        ))}
      </svg>
      <figcaption>
        {drawn.day !== "" && <span>All on {drawn.day}. </span>}
        {graph.edges.some((edge) => edge.time !== "") && <span>Times in {zoneName(zone)}. </span>}
        {graph.edges.some((edge) => edge.cause) && (
          <span>
            <span class="swatch" aria-hidden="true" /> {alert.sign === "-" ? "Gone in this batch." : "New in this batch."}
          </span>
        )}
      </figcaption>
    </figure>
  );
}

/** A short text stays on one line; a long one is broken. */
function Cell({ text }: { text: string }) {
  return <td class={text.length > 28 ? "long" : "value"}>{text}</td>;
}

export function EdgeTable({ graph, zone }: { graph: Graph; zone: Zone }) {
  const vertex = new Map(graph.vertices.map((each) => [each.key, each.id]));
  const hasTimes = graph.edges.some((edge) => edge.time !== "");
  return (
    <div class="scroll">
      <table class="edges">
        <thead>
          <tr>
            <th scope="col">#</th>
            <th scope="col">from</th>
            <th scope="col">label</th>
            <th scope="col">to</th>
            {hasTimes && <th scope="col">time ({zoneName(zone)})</th>}
            {graph.attributes.map((name) => (
              <th scope="col" key={name}>
                {shown(name)}
              </th>
            ))}
            {graph.keyName !== "" && <th scope="col">{graph.keyName}</th>}
          </tr>
        </thead>
        <tbody>
          {graph.edges.map((edge) => (
            <tr key={edge.place} class={edge.cause ? "cause" : ""}>
              <td class="value">{edge.place}</td>
              <Cell text={vertex.get(edge.source) ?? ""} />
              <Cell text={shown(edge.label)} />
              <Cell text={vertex.get(edge.target) ?? ""} />
              {hasTimes && <td class="time">{edge.time === "" ? "" : time(edge.time, zone)}</td>}
              {graph.attributes.map((name) => (
                <Cell key={name} text={shown(edge.attributes.find(([each]) => each === name)?.[1] ?? "")} />
              ))}
              {graph.keyName !== "" && <Cell text={edge.key} />}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
