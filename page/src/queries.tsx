// The queries with text, plan, rates and cost; with the admin token, they can be changed.
import { stringify } from "lossless-json";
import { useEffect, useRef, useState } from "preact/hooks";
import type { Admin } from "./admin";
import { Refused, refusal } from "./events";
import { type Json, field, isObject, plain, read } from "./json";
import { type Service, ask, queryNames, rate } from "./service";
import { Store, useStore } from "./store";
import { count, duration, shown } from "./text";

export interface QueryView {
  name: string;
  text: string;
  sinks: string[] | undefined; // undefined if they are not known
  fromFile: boolean; // the configuration has it, so it cannot be changed here
  etag: string;
  definition: { [key: string]: Json }; // what PUT takes
}

interface Listed {
  queries: QueryView[];
  counted: string[]; // names of those without sinks
  error: string;
  absent: boolean; // the service does not tell their texts
}

/** Without what the service adds, and what a change must say anew. */
function definitionIn(value: Json): { [key: string]: Json } {
  const added = ["name", "fingerprint", "etag", "source", "where", "batch", "state", "suspended", "matches", "plan", "v", "report_existing"];
  return isObject(value) ? Object.fromEntries(Object.entries(value).filter(([key]) => !added.includes(key))) : {};
}

function viewOf(value: Json): QueryView {
  const sinks = field(value, "sinks");
  return {
    name: plain(field(value, "name")),
    text: plain(field(value, "pattern")),
    sinks: Array.isArray(sinks) ? sinks.map(plain) : undefined,
    fromFile: plain(field(value, "source")) !== "api",
    etag: plain(field(value, "etag")),
    definition: definitionIn(value),
  };
}

/** Why the service refuses a change, and where in the pattern. Without an error it is done. */
interface Outcome {
  error?: string;
  place?: { line: number; column: number } | undefined;
}

interface Wanted {
  name: string;
  text: string;
  sinks: string[];
  existing: boolean;
}

/** The list of queries, and the changes to it. */
export class QueryList {
  readonly store = new Store<Listed>({ queries: [], counted: [], error: "", absent: false });
  private timer: ReturnType<typeof setInterval> | undefined;

  constructor(private admin: Admin) {}

  start(): void {
    this.timer ??= setInterval(() => {
      if (document.visibilityState === "visible") this.refresh();
    }, 15_000);
    this.refresh();
  }

  refresh(): void {
    void this.load();
  }

  /** Names of sinks that queries have. */
  sinks(): string[] {
    return [...new Set(this.store.value.queries.flatMap((query) => query.sinks ?? []))].slice(0, 1);
  }

  /** Adds the query, or changes `before`, unless somebody else has changed it meanwhile. */
  async save(wanted: Wanted, before: QueryView | undefined): Promise<Outcome> {
    const definition: { [key: string]: unknown } = { ...before?.definition, pattern: wanted.text, sinks: wanted.sinks };
    if (wanted.existing) definition.report_existing = true;
    if (before) return this.change("PUT", `v1/queries/${encodeURIComponent(before.name)}`, before.etag, definition);
    return this.change("POST", "v1/queries", "", { name: wanted.name, ...definition });
  }

  async remove(query: QueryView): Promise<Outcome> {
    return this.change("DELETE", `v1/queries/${encodeURIComponent(query.name)}`, query.etag, undefined);
  }

  async plan(name: string): Promise<string> {
    const answer = await ask(`v1/queries/${encodeURIComponent(name)}`, { signal: AbortSignal.timeout(60_000) });
    if (!answer.ok) throw await refusal(answer);
    return plain(field(read(await answer.text()), "plan"));
  }

  private async change(method: string, path: string, etag: string, definition: unknown): Promise<Outcome> {
    const body = definition === undefined ? undefined : stringify(definition);
    try {
      const headers: Record<string, string> = { Authorization: `Bearer ${this.admin.token.value}` };
      if (body !== undefined) headers["Content-Type"] = "application/json";
      if (etag !== "") headers["If-Match"] = etag;
      // A change waits for the batch that is being matched.
      const answer = await ask(path, { method, headers, body, signal: AbortSignal.timeout(120_000) });
      if (!answer.ok) throw await refusal(answer);
      await this.load();
      return {};
    } catch (error) {
      const place = error instanceof Refused ? error.place : undefined;
      return { error: error instanceof Error ? error.message : String(error), place };
    }
  }

  private async load(): Promise<void> {
    try {
      const answer = await ask("v1/queries");
      if (!answer.ok) throw await refusal(answer);
      const body = read(await answer.text());
      const listed = field(body, "queries");
      const queries = Array.isArray(listed) ? listed.map(viewOf) : [];
      this.store.set({
        queries,
        counted: queries.filter((query) => query.sinks?.length === 0).map((query) => query.name),
        error: "",
        absent: false,
      });
    } catch (error) {
      if (error instanceof Refused && error.status === 404) return this.store.update({ error: "", absent: true });
      this.store.update({ error: error instanceof Error ? error.message : String(error) });
    }
  }
}

type Editing = { name: string; isNew: boolean } | undefined;

export function Queries({ list, admin, service }: { list: QueryList; admin: Admin; service: Service }) {
  const listed = useStore(list.store);
  const token = useStore(admin.token);
  const [editing, edit] = useState<Editing>();
  useEffect(() => {
    if (token === "") edit(undefined);
  }, [token]);
  const suspended = field(service.status, "suspended");
  const queries = listed.absent ? queryNames(service.status).map((name) => viewOf({ name })) : listed.queries;
  return (
    <div class="queries">
      {!listed.absent && <Access admin={admin} token={token} />}
      {token !== "" && editing?.isNew !== true && (
        <div class="bar">
          <button type="button" class="main add" onClick={() => edit({ name: "", isNew: true })}>
            Add a query
          </button>
        </div>
      )}
      {token !== "" && editing?.isNew && <Editor list={list} close={() => edit(undefined)} />}
      {listed.error !== "" && <p class="note bad">{listed.error}</p>}
      {queries.map((query) =>
        token !== "" && editing?.isNew === false && editing.name === query.name ? (
          <Editor key={query.name} list={list} query={query} close={() => edit(undefined)} />
        ) : (
          <Panel
            key={query.name}
            query={query}
            suspended={isObject(suspended) ? suspended[query.name] : undefined}
            service={service}
            list={list}
            edit={token === "" || query.fromFile ? undefined : () => edit({ name: query.name, isNew: false })}
          />
        ),
      )}
      {queries.length === 0 && listed.error === "" && <p class="empty">The service has no queries.</p>}
    </div>
  );
}

function Access({ admin, token }: { admin: Admin; token: string }) {
  const [text, setText] = useState("");
  if (token !== "") {
    return (
      <p class="note">
        You can change queries. The token is kept until this tab is closed.{" "}
        <button type="button" class="lock" onClick={() => admin.set("")}>
          Forget the token
        </button>
      </p>
    );
  }
  return (
    <form
      class="access"
      onSubmit={(event) => {
        event.preventDefault();
        admin.set(text.trim());
        setText("");
      }}
    >
      <label class="field">
        Admin token, to change queries
        <input name="token" type="password" autocomplete="off" value={text} onInput={(event) => setText(event.currentTarget.value)} />
      </label>
      <button type="submit" disabled={text.trim() === ""}>
        Use it
      </button>
    </form>
  );
}

function Panel({ query, suspended, service, list, edit }: { query: QueryView; suspended: Json | undefined; service: Service; list: QueryList; edit: (() => void) | undefined }) {
  const [asked, ask] = useState(false);
  const [error, setError] = useState("");
  const { samples } = service;
  const last = samples[samples.length - 1]?.queries.get(query.name);
  const appeared = rate(samples, 10, (sample) => sample.queries.get(query.name)?.appeared);
  const vanished = rate(samples, 10, (sample) => sample.queries.get(query.name)?.vanished);
  const cost = rate(samples, 10, (sample) => sample.queries.get(query.name)?.seconds);
  const remove = async () => setError((await list.remove(query)).error ?? "");
  return (
    <section class={suspended === undefined ? "panel query" : "panel query suspended"} data-query={query.name}>
      <header>
        <h2>{shown(query.name)}</h2>
        {suspended !== undefined && (
          <span class="pill bad">
            suspended since batch {plain(field(suspended, "batch"))}: over its {plain(field(suspended, "over")) === "timeout" ? "time" : "number of matches"}
          </span>
        )}
        {query.sinks?.length === 0 && <span class="pill quiet">counted only: no sinks, so no alerts</span>}
        {query.sinks && query.sinks.length > 0 && <span class="quiet">to {query.sinks.map(shown).join(", ")}</span>}
        {query.fromFile && query.text !== "" && <span class="quiet">from the configuration</span>}
        {edit && (
          <span class="right">
            {asked ? (
              <>
                <button type="button" class="danger sure" onClick={() => void remove()}>
                  Delete it
                </button>
                <button type="button" onClick={() => ask(false)}>
                  Keep it
                </button>
              </>
            ) : (
              <>
                <button type="button" class="edit" onClick={edit}>
                  Change
                </button>
                <button type="button" class="danger delete" onClick={() => ask(true)}>
                  Delete
                </button>
              </>
            )}
          </span>
        )}
      </header>
      {error !== "" && <p class="error">{error}</p>}
      <dl class="facts">
        <div>
          <dt>appeared</dt>
          <dd>
            {last ? count(last.appeared) : "–"} {appeared !== undefined && <span class="quiet">({count(appeared)}/s)</span>}
          </dd>
        </div>
        <div>
          <dt>vanished</dt>
          <dd>
            {last ? count(last.vanished) : "–"} {vanished !== undefined && <span class="quiet">({count(vanished)}/s)</span>}
          </dd>
        </div>
        {last?.seconds !== undefined && (
          <div>
            <dt>cost</dt>
            <dd>
              {duration(last.seconds)} {cost !== undefined && <span class="quiet">({(cost * 100).toFixed(1)} % of the time)</span>}
            </dd>
          </div>
        )}
      </dl>
      {query.text !== "" && <pre class="pattern">{shownLines(query.text)}</pre>}
      {query.text !== "" && <Plan list={list} name={query.name} />}
    </section>
  );
}

function Plan({ list, name }: { list: QueryList; name: string }) {
  const [text, setText] = useState("");
  const load = async () => {
    try {
      setText(await list.plan(name));
    } catch (error) {
      setText(error instanceof Error ? error.message : String(error));
    }
  };
  return (
    <details
      class="plan"
      onToggle={(event) => {
        if (event.currentTarget.open) void load();
      }}
    >
      <summary>Plan</summary>
      <pre>{text === "" ? "…" : shownLines(text)}</pre>
    </details>
  );
}

function shownLines(text: string): string {
  return text.split("\n").map(shown).join("\n");
}

function Editor({ list, query, close }: { list: QueryList; query?: QueryView; close: () => void }) {
  const [name, setName] = useState(query?.name ?? "");
  const [text, setText] = useState(query?.text ?? "");
  const [sinks, setSinks] = useState((query?.sinks ?? list.sinks()).join(", "));
  const [existing, setExisting] = useState(false);
  const [error, setError] = useState("");
  const [busy, setBusy] = useState(false);
  const area = useRef<HTMLTextAreaElement>(null);
  const save = async () => {
    setBusy(true);
    const wanted = sinks
      .split(",")
      .map((each) => each.trim())
      .filter((each) => each !== "");
    const outcome = await list.save({ name: name.trim(), text, sinks: wanted, existing }, query);
    setBusy(false);
    setError(outcome.error ?? "");
    if (outcome.error === undefined) close();
    if (outcome.place && area.current) {
      // The cursor goes to the place of the fault. Columns count bytes.
      const { line, column } = outcome.place;
      const lines = text.split("\n");
      const before = lines.slice(0, line - 1).reduce((sum, each) => sum + each.length + 1, 0);
      const bytes = new TextEncoder().encode(lines[line - 1] ?? "");
      const at = before + new TextDecoder().decode(bytes.slice(0, column - 1)).length;
      area.current.focus();
      area.current.setSelectionRange(at, Math.min(at + 1, text.length));
    }
  };
  return (
    <section class="panel editor">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void save();
        }}
      >
        <label class="field">
          Name
          <input name="name" required value={name} disabled={query !== undefined} onInput={(event) => setName(event.currentTarget.value)} />
        </label>
        <label class="field">
          Pattern
          <textarea ref={area} name="pattern" class="pattern" required spellcheck={false} value={text} onInput={(event) => setText(event.currentTarget.value)} aria-invalid={error !== ""} />
        </label>
        {error !== "" && (
          <p class="error" role="alert">
            {error}
          </p>
        )}
        <label class="field">
          Sinks, with commas between them; without any, matches are only counted
          <input name="sinks" value={sinks} onInput={(event) => setSinks(event.currentTarget.value)} />
        </label>
        <label>
          <input name="existing" type="checkbox" checked={existing} onChange={(event) => setExisting(event.currentTarget.checked)} /> Report the matches that exist already
        </label>
        <div class="bar">
          <button type="submit" class="main save" disabled={busy}>
            {busy ? "The service changes between two batches …" : query ? "Change" : "Add"}
          </button>
          <button type="button" onClick={close}>
            Cancel
          </button>
        </div>
      </form>
    </section>
  );
}
