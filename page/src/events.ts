// Reads a stream of server-sent events from fetch(). Unlike EventSource, it tells why a stream is refused.

export interface ServerEvent {
  id: string;
  name: string; // "message" by default
  data: string;
}

/** Cuts the bytes of a stream into events. Comments are dropped. */
export class EventParser {
  private rest = "";
  private id = "";
  private decoder = new TextDecoder();

  take(bytes: Uint8Array): ServerEvent[] {
    this.rest += this.decoder.decode(bytes, { stream: true });
    const events: ServerEvent[] = [];
    for (let end = this.rest.indexOf("\n\n"); end >= 0; end = this.rest.indexOf("\n\n")) {
      const event = this.read(this.rest.slice(0, end));
      this.rest = this.rest.slice(end + 2);
      if (event) events.push(event);
    }
    return events;
  }

  private read(text: string): ServerEvent | undefined {
    let name = "message";
    const data: string[] = [];
    for (const line of text.split("\n")) {
      const colon = line.indexOf(":");
      if (colon <= 0) continue;
      const value = line.slice(colon + 1).replace(/^ /, "");
      if (line.startsWith("id:")) this.id = value;
      else if (line.startsWith("event:")) name = value;
      else if (line.startsWith("data:")) data.push(value);
    }
    return data.length > 0 ? { id: this.id, name, data: data.join("\n") } : undefined;
  }
}

/** The refusal of a stream or of a request, with the words of the service. */
export class Refused extends Error {
  constructor(
    readonly status: number,
    message: string,
    readonly retryAfter: number,
    readonly place?: { line: number; column: number }, // in a pattern
  ) {
    super(message);
  }
}

export async function refusal(answer: Response): Promise<Refused> {
  let place: { line: number; column: number } | undefined;
  let words = `the service answers ${answer.status}`;
  try {
    const body = (await answer.json()) as { error?: unknown; problems?: { line?: number; column?: number }[] };
    if (typeof body.error === "string") words = body.error;
    const problem = body.problems?.find((each) => each.line !== undefined);
    if (problem?.line && problem.column) place = { line: problem.line, column: problem.column };
  } catch {
    // the answer has no body in JSON
  }
  return new Refused(answer.status, words, Number(answer.headers.get("Retry-After")) || 0, place);
}

const silence = 40_000; // ms without a byte; the service sends something every 15 s

/** Hands out the events of a stream until it ends. Throws Refused, or what fetch() throws. */
export async function follow(
  url: string,
  last: string,
  signal: AbortSignal,
  opened: () => void,
  take: (events: ServerEvent[]) => void,
): Promise<void> {
  const stop = new AbortController();
  signal.addEventListener("abort", () => stop.abort(), { once: true });
  let timer = setTimeout(() => stop.abort(), silence);
  try {
    const headers: Record<string, string> = { Accept: "text/event-stream" };
    if (last !== "") headers["Last-Event-ID"] = last;
    const answer = await fetch(url, { headers, signal: stop.signal, cache: "no-store" });
    if (!answer.ok || !answer.body) throw await refusal(answer);
    opened();
    const parser = new EventParser();
    const reader = answer.body.getReader();
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      clearTimeout(timer);
      timer = setTimeout(() => stop.abort(), silence);
      const events = parser.take(value);
      if (events.length > 0) take(events);
    }
  } finally {
    clearTimeout(timer);
    stop.abort();
  }
}
