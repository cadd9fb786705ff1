// The list of alerts with its filters, and the match that is chosen.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { AlertStream, Feed, Filter } from "./feed";
import { type Alert, graphOf } from "./match";
import { EdgeTable, Picture } from "./picture";
import { useStore } from "./store";
import { type Zone, count, shown, time, zoneName } from "./text";

const page = 100; // rows

let linked = new URLSearchParams(location.search).get("id") ?? ""; // the match that a link to the page names; used once

function Sign({ alert, gone }: { alert: Alert; gone: boolean }) {
  if (alert.sign === "") return <span class="sign report">!</span>;
  const words = alert.sign === "-" ? "vanished" : gone ? "appeared, and vanished since" : "appeared";
  return (
    <span class={alert.sign === "-" ? "sign minus" : "sign plus"} title={words} aria-label={words}>
      {alert.sign === "-" ? "−" : "+"}
    </span>
  );
}

function Row({ alert, gone, chosen, zone, choose }: { alert: Alert; gone: boolean; chosen: boolean; zone: Zone; choose: () => void }) {
  return (
    <li>
      <button
        type="button"
        class={gone && alert.sign === "+" ? "alert gone" : "alert"}
        aria-current={chosen}
        data-place={alert.place}
        data-query={alert.query}
        data-sign={alert.sign}
        onClick={choose}
      >
        <Sign alert={alert} gone={gone} />
        <span class="query">{shown(alert.query)}</span>
        {gone && alert.sign === "+" && <span class="mark">vanished</span>}
        <span class="when">{alert.time === "" ? `batch ${alert.batch}` : time(alert.time, zone)}</span>
        <span class="what">{alert.report === "" ? alert.summary : alert.report}</span>
      </button>
    </li>
  );
}

function Filters({ feed, names, choose, text, setText }: { feed: Feed; names: string[]; choose: (filter: Filter) => void; text: string; setText: (text: string) => void }) {
  const { filter } = feed;
  const all = [...new Set([...names, ...filter.queries])].sort();
  const toggle = (name: string) => {
    const queries = filter.queries.includes(name) ? filter.queries.filter((each) => each !== name) : [...filter.queries, name];
    choose({ ...filter, queries: queries.length === all.length ? [] : queries });
  };
  return (
    <div class="filters" role="search">
      <fieldset>
        <legend>Queries</legend>
        <label class="chip">
          <input type="checkbox" checked={filter.queries.length === 0} onChange={() => choose({ ...filter, queries: [] })} />
          <span>all</span>
        </label>
        {all.map((name) => (
          <label class="chip" key={name}>
            <input type="checkbox" name="query" value={name} checked={filter.queries.includes(name)} onChange={() => toggle(name)} />
            <span>{shown(name)}</span>
          </label>
        ))}
      </fieldset>
      <fieldset>
        <legend>Signs</legend>
        {(
          [
            ["", "both"],
            ["+", "+ appeared"],
            ["-", "− vanished"],
          ] as const
        ).map(([sign, words]) => (
          <label class="chip" key={sign}>
            <input type="radio" name="sign" value={sign} checked={filter.sign === sign} onChange={() => choose({ ...filter, sign })} />
            <span>{words}</span>
          </label>
        ))}
      </fieldset>
      <label class="find">
        Find
        <input type="search" name="find" placeholder="an id, a label, an amount …" value={text} onInput={(event) => setText(event.currentTarget.value)} />
      </label>
    </div>
  );
}

/** What the reader of the list should know about what it does not show. */
function Notes({ feed }: { feed: Feed }) {
  const notes: string[] = [];
  if (feed.gap !== "") notes.push(feed.gap);
  if (feed.missed > 0) notes.push(`${count(feed.missed)} alerts came faster than this page could take them; they are not listed.`);
  if (feed.leftOut > 0) notes.push(`${count(feed.leftOut)} alerts of large batches are not listed.`);
  if (notes.length === 0) return null;
  return (
    <p class="note" role="note">
      {notes.join(" ")} The sinks get all of them.
    </p>
  );
}

export function Alerts({ stream, names, counted, shared, zone }: { stream: AlertStream; names: string[]; counted: string[]; shared: boolean; zone: Zone }) {
  const feed = useStore(stream.store);
  const [text, setText] = useState(linked);
  const sought = useRef(linked);
  const [frozen, freeze] = useState<Feed | undefined>();
  const [chosen, choose] = useState<Alert | undefined>();
  const [rows, setRows] = useState(page);
  const list = useRef<HTMLUListElement>(null);
  const detail = useRef<HTMLElement>(null);
  const view = frozen ?? feed;
  const wanted = text.trim().toLowerCase();
  const found = useMemo(
    () => (wanted === "" ? view.alerts : view.alerts.filter((alert) => alert.text.includes(wanted) || alert.summary.toLowerCase().includes(wanted))),
    [view.alerts, wanted],
  );
  useEffect(() => {
    linked = "";
  }, []);
  useEffect(() => {
    const alert = sought.current === "" ? undefined : feed.alerts.find((each) => each.id === sought.current);
    if (!alert) return;
    sought.current = "";
    choose(alert);
  }, [feed.alerts]);
  useEffect(() => {
    if (chosen) detail.current?.focus();
  }, [chosen]);
  const onKey = (event: KeyboardEvent) => {
    if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return;
    const buttons = [...(list.current?.querySelectorAll<HTMLButtonElement>("button.alert") ?? [])];
    const at = buttons.indexOf(document.activeElement as HTMLButtonElement);
    const next = buttons[at + (event.key === "ArrowDown" ? 1 : -1)];
    if (at < 0 || !next) return;
    event.preventDefault();
    next.focus();
  };
  const newer = frozen ? feed.seen - frozen.seen : 0;
  return (
    <div class={chosen ? "alerts open" : "alerts"}>
      <section class="list" aria-label="Alerts">
        <Filters
          feed={feed}
          names={names}
          text={text}
          setText={setText}
          choose={(filter) => {
            freeze(undefined);
            setRows(page);
            stream.choose(filter);
          }}
        />
        <div class="bar">
          <button type="button" class="pause" aria-pressed={frozen !== undefined} onClick={() => freeze(frozen ? undefined : feed)}>
            {frozen ? "Go on" : "Pause"}
          </button>
          <button
            type="button"
            onClick={() => {
              freeze(undefined);
              stream.clear();
            }}
          >
            Clear
          </button>
          <span class="count" role="status">
            {frozen ? `paused; ${count(newer)} new` : `${count(found.length)} ${wanted === "" ? "" : `of ${count(view.alerts.length)} `}listed`}
            {", newest first, times in "}
            {zoneName(zone)}
          </span>
        </div>
        <Notes feed={view} />
        {found.length === 0 && (
          <p class="empty">
            {view.alerts.length > 0
              ? "No alert in the list has this text."
              : shared
                ? "Workers share this application. Their alerts are in the topics of its sinks, and are not shown here."
                : feed.connection === "live"
                  ? "No alerts yet. They appear here once their batch is committed."
                  : "Not connected."}
            {counted.length > 0 && ` Counted only, because they have no sinks: ${counted.map(shown).join(", ")}.`}
          </p>
        )}
        <ul ref={list} onKeyDown={onKey}>
          {found.slice(0, rows).map((alert) => (
            <Row
              key={alert.place}
              alert={alert}
              gone={view.vanished.has(alert.id)}
              chosen={alert.place === chosen?.place}
              zone={zone}
              choose={() => choose(alert)}
            />
          ))}
        </ul>
        {found.length > rows && (
          <button type="button" class="more" onClick={() => setRows(rows + page)}>
            Show {count(Math.min(page, found.length - rows))} more
          </button>
        )}
      </section>
      <section class="detail" aria-label="Match" tabIndex={-1} ref={detail}>
        {chosen ? (
          <Match alert={chosen} gone={feed.vanished.has(chosen.id)} zone={zone} close={() => choose(undefined)} />
        ) : (
          <p class="empty">Choose an alert to see its match.</p>
        )}
      </section>
    </div>
  );
}

function Match({ alert, gone, zone, close }: { alert: Alert; gone: boolean; zone: Zone; close: () => void }) {
  const graph = useMemo(() => graphOf(alert), [alert]);
  return (
    <>
      <div class="bar">
        <button type="button" class="close" onClick={close}>
          ← Back
        </button>
        <h2>
          <Sign alert={alert} gone={gone} /> {shown(alert.query)}
        </h2>
        {gone && alert.sign === "+" && <span class="mark">vanished since</span>}
        {alert.sign === "-" && <span class="mark">vanished</span>}
      </div>
      <dl class="facts">
        <div>
          <dt>time ({zoneName(zone)})</dt>
          <dd>{alert.time === "" ? "–" : time(alert.time, zone)}</dd>
        </div>
        <div>
          <dt>batch</dt>
          <dd>{alert.batch}</dd>
        </div>
        <div>
          <dt>match</dt>
          <dd class="id">{alert.id === "" ? "–" : alert.id}</dd>
        </div>
      </dl>
      {alert.report !== "" && <p class="note">{alert.report}</p>}
      {graph.tooLarge !== "" && <p class="note">The alert has {graph.tooLarge} bytes; its edges are left out here. The sinks have them.</p>}
      {graph.vertices.length > 0 && <Picture alert={alert} graph={graph} zone={zone} />}
      {graph.edges.length > 0 && <EdgeTable graph={graph} zone={zone} />}
      <details>
        <summary>The alert as JSON</summary>
        <pre>{shown(alert.json)}</pre>
      </details>
    </>
  );
}
