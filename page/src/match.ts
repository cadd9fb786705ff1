// An alert as the service sends it (docs/reference/formats.md, "Matches"), and the graph that it describes.
import { type Json, asNumber, field, identity, isObject, plain, read } from "./json";
import { shown } from "./text";

export interface Vertex {
  key: string;
  id: string; // as shown
  names: string[]; // in the pattern
}

export interface Edge {
  place: string; // in the pattern, from 1; 2.3 is the third step of the path at place 2
  source: string; // key of a vertex; likewise target
  target: string;
  label: string;
  time: string; // as sent; "" if there is none
  key: string; // or ordinal; "" if there is none
  attributes: [string, string][];
  cause: boolean;
}

export interface Alert {
  place: string; // batch and place within it: the id of the event
  id: string; // of the match; "" for a report
  query: string;
  sign: "+" | "-" | ""; // "" for a report
  batch: string;
  time: string; // as sent
  summary: string;
  report: string; // what a report says
  text: string; // for searching, in lower case
  json: string;
}

function report(value: Json): string {
  const partial = field(value, "partial");
  if (partial !== undefined)
    return `the query exceeded its budget (${plain(partial)}); ${plain(field(value, "matches"))} of its matches are listed`;
  return "";
}

/** Texts that look like numbers are quoted, so that they differ from numbers. */
export function idText(value: Json): string {
  if (typeof value !== "string") return plain(value);
  return value === "" || /^-?\d+$/.test(value) ? `"${value}"` : shown(value);
}

/** Reads an alert. Throws if the text is none. */
export function alertOf(place: string, json: string): Alert {
  const value = read(json);
  const sign = plain(field(value, "sign"));
  const query = plain(field(value, "query"));
  const bindings = field(value, "bindings");
  const summary = isObject(bindings)
    ? Object.entries(bindings)
        .map(([name, id]) => `${name} = ${Array.isArray(id) ? id.map(idText).join(" → ") : idText(id)}`)
        .join(", ")
    : "";
  if (!isObject(value) || query === "") throw new Error("this is no alert");
  return {
    place,
    id: plain(field(value, "id")),
    query,
    sign: sign === "+" || sign === "-" ? sign : "",
    batch: plain(field(value, "batch")),
    time: plain(field(value, "time")),
    summary,
    report: report(value),
    text: json.toLowerCase(),
    json,
  };
}

export interface Graph {
  vertices: Vertex[];
  edges: Edge[];
  attributes: string[]; // names, in the order in which they appear
  keyName: string; // "key", "ordinal" or ""
  tooLarge: string; // bytes of an alert whose edges were left out; "" otherwise
}

/** The graph of an alert. */
export function graphOf(alert: Alert): Graph {
  const value = read(alert.json);
  const vertices = new Map<string, Vertex>();
  const vertex = (id: Json): Vertex => {
    const key = identity(id);
    let found = vertices.get(key);
    if (!found) {
      found = { key, id: idText(id), names: [] };
      vertices.set(key, found);
    }
    return found;
  };
  const bindings = field(value, "bindings");
  if (isObject(bindings)) {
    for (const [name, id] of Object.entries(bindings)) {
      if (Array.isArray(id)) id.forEach((each, step) => vertex(each).names.push(`${name}[${step + 1}]`));
      else vertex(id).names.push(name);
    }
  }
  const graph: Graph = { vertices: [], edges: [], attributes: [], keyName: "", tooLarge: plain(field(value, "too_large")) };
  const causes = new Set<string>();
  const cause = field(value, "cause");
  if (Array.isArray(cause)) {
    for (const each of cause) {
      const at = Array.isArray(each) ? each.map((one) => (asNumber(one) ?? 0) + 1).join(".") : String((asNumber(each) ?? 0) + 1);
      causes.add(at);
    }
  }
  const add = (each: Json, place: string) => {
    if (Array.isArray(each)) {
      const [source, label, target] = each;
      if (source === undefined || target === undefined) return;
      graph.edges.push({
        place,
        source: vertex(source).key,
        target: vertex(target).key,
        label: plain(label),
        time: "",
        key: "",
        attributes: [],
        cause: causes.has(place),
      });
      return;
    }
    const source = field(each, "source");
    const target = field(each, "target");
    if (source === undefined || target === undefined) return;
    for (const name of ["key", "ordinal"]) if (field(each, name) !== undefined) graph.keyName = name;
    const attributes = field(each, "attributes");
    const pairs: [string, string][] = isObject(attributes)
      ? Object.entries(attributes).map(([name, text]) => [name, plain(text)])
      : [];
    for (const [name] of pairs) if (!graph.attributes.includes(name)) graph.attributes.push(name);
    graph.edges.push({
      place,
      source: vertex(source).key,
      target: vertex(target).key,
      label: plain(field(each, "label")),
      time: plain(field(each, "time")),
      key: graph.keyName ? idText(field(each, graph.keyName) ?? "") : "",
      attributes: pairs,
      cause: causes.has(place),
    });
  };
  const edges = field(value, "edges");
  if (Array.isArray(edges)) {
    edges.forEach((each, place) => {
      // A path is a list of steps; an edge of version 1 is a list that begins with an id.
      const isPath = Array.isArray(each) && (each.length === 0 || Array.isArray(each[0]) || isObject(each[0]));
      if (isPath) (each as Json[]).forEach((step, at) => add(step, `${place + 1}.${at + 1}`));
      else add(each, String(place + 1));
    });
  }
  graph.vertices = [...vertices.values()];
  return graph;
}
