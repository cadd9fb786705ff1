// What the page asks the service for now and then: /status.
import { refusal } from "./events";
import { type Json, asNumber, asWhole, field, isObject, plain, read } from "./json";
import { Store } from "./store";

export interface Sample {
  at: number; // seconds since the epoch, by the browser's clock
  updates: number; // totals since the start of the process
  alerts: number;
  lag: number;
  batch: number; // seconds, of the last batch
  queries: Map<string, { appeared: bigint; vanished: bigint; seconds: number | undefined }>;
}

export interface Service {
  status: Json; // null before the first answer
  notReady: string; // the reason; empty if the service is ready
  answered: number; // when it answered last, in ms
  failed: number; // when it began not to answer, in ms; 0 if it answers
  restarted: number; // when another process answered for the first time, in ms; 0: never
  samples: Sample[]; // oldest first
}

const every = 3000; // ms
const kept = 200; // samples: ten minutes
const patience = 5000; // ms for an answer

export async function ask(path: string, options: RequestInit = {}): Promise<Response> {
  const stop = new AbortController();
  const timer = setTimeout(() => stop.abort(), patience);
  try {
    return await fetch(path, { ...options, signal: options.signal ?? stop.signal, cache: "no-store" });
  } finally {
    clearTimeout(timer);
  }
}

/** What each query has found since the start. Large counts come as texts. */
export function totals(value: Json | undefined): Sample["queries"] {
  const found: Sample["queries"] = new Map();
  if (!isObject(value)) return found;
  for (const [name, each] of Object.entries(value)) {
    found.set(name, {
      appeared: asWhole(field(each, "appeared")) ?? 0n,
      vanished: asWhole(field(each, "vanished")) ?? 0n,
      seconds: asNumber(field(each, "seconds")),
    });
  }
  return found;
}

export function lags(status: Json): [string, number | undefined][] {
  const partitions = field(status, "partitions");
  if (!isObject(partitions)) return [];
  return Object.entries(partitions).map(([name, each]) => [name, asNumber(field(each, "lag"))]);
}

/** Of the queries that are matched, and of those that are suspended. */
export function queryNames(status: Json): string[] {
  const active = field(status, "queries");
  const suspended = field(status, "suspended");
  return [...(Array.isArray(active) ? active.map(plain) : []), ...(isObject(suspended) ? Object.keys(suspended) : [])];
}

/** Whether workers share the application. Then this process has a part of the matching, and /status a part `worker`. */
export function isShared(status: Json): boolean {
  return field(status, "worker") !== undefined;
}

function sample(status: Json): Sample {
  return {
    at: Date.now() / 1000,
    updates: asNumber(field(status, "updates")) ?? 0,
    alerts: asNumber(field(field(status, "alerts"), "published")) ?? 0,
    lag: lags(status).reduce((sum, [, lag]) => sum + (lag ?? 0), 0),
    batch: asNumber(field(field(status, "batches"), "last")) ?? 0,
    queries: totals(field(status, "matches")),
  };
}

export class ServiceWatch {
  readonly store = new Store<Service>({ status: null, notReady: "", answered: 0, failed: 0, restarted: 0, samples: [] });
  private timer: ReturnType<typeof setTimeout> | undefined;
  private started = "";

  start(): void {
    document.addEventListener("visibilitychange", () => {
      if (document.visibilityState === "visible") this.soon(0);
    });
    this.soon(0);
  }

  private soon(wait: number): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => void this.look(), wait);
  }

  private async look(): Promise<void> {
    if (document.visibilityState === "hidden") return;
    const now = Date.now();
    const { value } = this.store;
    try {
      const answer = await ask("status");
      if (!answer.ok) throw await refusal(answer);
      const status = read(await answer.text());
      const process = plain(field(status, "started"));
      const restarted = this.started !== "" && process !== this.started;
      this.started = process;
      this.store.set({
        status,
        notReady: plain(field(status, "state")) === "running" ? plain(field(status, "not_ready")) : "",
        answered: now,
        failed: 0,
        restarted: restarted ? now : value.restarted,
        samples: restarted ? [sample(status)] : [...value.samples, sample(status)].slice(-kept),
      });
    } catch {
      this.store.update({ failed: value.failed || now });
    }
    this.soon(every);
  }
}

/** The change of a total per second over the last `seconds`, or nothing if there are too few samples. */
export function rate(samples: Sample[], seconds: number, total: (sample: Sample) => number | bigint | undefined): number | undefined {
  const last = samples[samples.length - 1];
  if (!last) return undefined;
  const from = samples.find((each) => last.at - each.at <= seconds + 0.5);
  if (!from || from === last) return undefined;
  const before = total(from);
  const after = total(last);
  if (before === undefined || after === undefined || after < before) return undefined;
  const grown = typeof after === "bigint" && typeof before === "bigint" ? Number(after - before) : Number(after) - Number(before);
  return grown / (last.at - from.at);
}
