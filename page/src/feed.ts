// The alerts that the page holds, and the stream that they come from.
import { Refused, type ServerEvent, follow } from "./events";
import { field, plain, read } from "./json";
import { type Alert, alertOf } from "./match";
import { Store } from "./store";

export interface Filter {
  queries: string[]; // without any, all
  sign: "" | "+" | "-";
}

export type Connection = "opening" | "live" | "lost" | "refused" | "asleep";

export interface Feed {
  connection: Connection;
  why: string; // of refused
  since: number; // when the connection became so, in ms
  filter: Filter;
  alerts: Alert[]; // newest first
  vanished: ReadonlySet<string>; // ids of matches whose end is among the alerts
  seen: number; // alerts that came, since the page or the filter was opened
  missed: number; // alerts that this page fell behind
  leftOut: number; // alerts of large batches that the service left out of the stream
  gap: string; // a gap that cannot be counted, in words
}

const held = 2000; // alerts
const first = 500; // of those that the service holds
const pace = 250; // ms between two changes of the list
const shortest = 1000; // ms before the next try
const longest = 15_000;

export class AlertStream {
  readonly store = new Store<Feed>({
    connection: "opening",
    why: "",
    since: Date.now(),
    filter: { queries: [], sign: "" },
    alerts: [],
    vanished: new Set(),
    seen: 0,
    missed: 0,
    leftOut: 0,
    gap: "",
  });
  private run: AbortController | undefined;
  private last = ""; // id of the last event
  private waiting: ServerEvent[] = [];
  private timer: ReturnType<typeof setTimeout> | undefined;

  start(): void {
    document.addEventListener("visibilitychange", () => this.onVisibility());
    this.open();
  }

  /** Shows other alerts: the list begins anew. */
  choose(filter: Filter): void {
    this.last = "";
    this.waiting = [];
    this.store.update({ filter, alerts: [], vanished: new Set(), seen: 0, missed: 0, leftOut: 0, gap: "" });
    this.open();
  }

  /** Tries again now. */
  retry(): void {
    this.open();
  }

  clear(): void {
    this.store.update({ alerts: [], vanished: new Set(), gap: "", missed: 0, leftOut: 0, seen: 0 });
  }

  /** A page that nobody sees holds no stream: browsers open few connections to one host. It resumes where it was. */
  private onVisibility(): void {
    if (document.visibilityState === "hidden") {
      this.timer ??= setTimeout(() => this.flush(), pace);
      this.run?.abort();
      this.run = undefined;
      this.become("asleep");
    } else if (!this.run) {
      this.open();
    }
  }

  private become(connection: Connection, why = ""): void {
    const { value } = this.store;
    if (value.connection === connection && value.why === why) return;
    this.store.update({ connection, why, since: Date.now() });
  }

  private open(): void {
    this.run?.abort();
    const run = new AbortController();
    this.run = run;
    void this.keep(run);
  }

  private async keep(run: AbortController): Promise<void> {
    if (this.store.value.connection !== "lost") this.become("opening");
    for (let pause = shortest; !run.signal.aborted; pause = Math.min(2 * pause, longest)) {
      let wait = pause;
      try {
        await follow(
          this.url(),
          this.last,
          run.signal,
          () => {
            pause = shortest / 2;
            this.become("live");
          },
          (events) => this.take(events),
        );
        if (!run.signal.aborted) this.become("lost");
      } catch (error) {
        if (run.signal.aborted) return;
        if (error instanceof Refused) {
          this.become("refused", error.message);
          wait = Math.max(pause, error.retryAfter * 1000);
        } else {
          this.become("lost");
        }
      }
      await new Promise((resolve) => setTimeout(resolve, wait));
    }
  }

  private url(): string {
    const { filter } = this.store.value;
    const query = new URLSearchParams(filter.queries.map((name) => ["query", name]));
    if (filter.sign !== "") query.set("sign", filter.sign);
    if (this.last === "") query.set("last", String(first));
    return `v1/alerts?${query}`;
  }

  private take(events: ServerEvent[]): void {
    const id = events[events.length - 1]?.id ?? "";
    if (id !== "") this.last = id;
    for (const event of events) this.waiting.push(event);
    // What does not fit the list is not even read.
    if (this.waiting.length > 4 * held) this.waiting.splice(0, this.waiting.length - 2 * held);
    this.timer ??= setTimeout(() => this.flush(), pace);
  }

  private flush(): void {
    this.timer = undefined;
    const events = this.waiting;
    this.waiting = [];
    if (events.length === 0) return;
    const next = { ...this.store.value };
    const fresh: Alert[] = [];
    for (const event of events) {
      try {
        if (event.name === "message") {
          fresh.push(alertOf(event.id, event.data));
          next.seen += 1;
        } else if (event.name === "missed") {
          next.missed += Number(plain(field(read(event.data), "alerts")));
        } else if (event.name === "left-out") {
          next.leftOut += Number(plain(field(read(event.data), "alerts")));
        } else if (event.name === "start" && field(read(event.data), "missed") === null) {
          next.gap = "The service started again, or this page was away for long: alerts may be missing from this list.";
        }
      } catch {
        next.gap = "The service sent an event that this page cannot read. Reload the page.";
      }
    }
    if (fresh.length > 0) {
      next.alerts = [...fresh.reverse(), ...next.alerts].slice(0, held);
      const gone = new Set<string>();
      for (const alert of next.alerts) if (alert.sign === "-") gone.add(alert.id);
      next.vanished = gone;
    }
    this.store.set(next);
  }
}
