// How ids, times and numbers are shown. Whatever comes from the stream may be hostile.

// Characters that nobody sees, or that turn the text around them.
const unseen =
  /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u115f\u1160\u180e\u200b-\u200f\u2028-\u202f\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\ufff9-\ufffb]/gu;
const lone = /[\ud800-\udfff]/gu;

/** A text with all its characters visible. A byte that is not UTF-8 is \xNN, as it was in the stream. */
export function shown(text: string): string {
  return text
    .replace(lone, (c) => {
      const code = c.charCodeAt(0);
      return code >= 0xdc80 && code <= 0xdcff ? `\\x${(code - 0xdc00).toString(16)}` : `\\u${code.toString(16)}`;
    })
    .replace(unseen, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/** The text in at most `most` characters: a long one keeps its beginning and its end. */
export function shortened(text: string, most: number): string {
  const characters = [...text];
  if (characters.length <= most) return text;
  const begin = Math.ceil((most - 1) * 0.6);
  return `${characters.slice(0, begin).join("")}…${characters.slice(characters.length - (most - 1 - begin)).join("")}`;
}

export type Zone = "UTC" | "local";

export const localZone = Intl.DateTimeFormat().resolvedOptions().timeZone || "local time";

export function zoneName(zone: Zone): string {
  return zone === "UTC" ? "UTC" : localZone;
}

/** Microseconds since the epoch of a number, or of a text in ISO 8601; nothing for anything else. */
export function microseconds(value: string): bigint | undefined {
  if (/^-?\d{1,19}$/.test(value)) return BigInt(value);
  const iso = /^([+-]?\d{4,6}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,6}))?Z$/.exec(value);
  if (!iso) return undefined;
  const ms = Date.parse(`${iso[1]}Z`);
  return Number.isNaN(ms) ? undefined : BigInt(ms) * 1000n + BigInt((iso[2] ?? "").padEnd(6, "0"));
}

const formats = new Map<Zone, Intl.DateTimeFormat>();
function format(zone: Zone): Intl.DateTimeFormat {
  let found = formats.get(zone);
  if (!found) {
    found = new Intl.DateTimeFormat("en-CA", {
      timeZone: zone === "UTC" ? "UTC" : undefined,
      year: "numeric",
      month: "2-digit",
      day: "2-digit",
      hour: "2-digit",
      minute: "2-digit",
      second: "2-digit",
      hourCycle: "h23",
      timeZoneName: "shortOffset",
    });
    formats.set(zone, found);
  }
  return found;
}

export interface TimeParts {
  date: string; // 2026-01-05
  time: string; // 12:00:00 or 12:00:00.500000
  offset: string; // GMT+2
}

/** The time in the zone. A fraction is shown if there is one. Nothing if it is no time that a calendar has. */
export function timeParts(value: string, zone: Zone): TimeParts | undefined {
  const us = microseconds(value);
  if (us === undefined) return undefined;
  const fraction = ((us % 1_000_000n) + 1_000_000n) % 1_000_000n;
  const ms = Number((us - fraction) / 1000n);
  if (Math.abs(ms) > 8.64e15) return undefined;
  const part: Record<string, string> = {};
  for (const each of format(zone).formatToParts(new Date(ms))) part[each.type] = each.value;
  const digits = fraction === 0n ? "" : `.${fraction.toString().padStart(6, "0")}`.replace(/(\.\d{3})000$/, "$1");
  return {
    date: `${part.year}-${part.month}-${part.day}`,
    time: `${part.hour}:${part.minute}:${part.second}${digits}`,
    offset: part.timeZoneName ?? "",
  };
}

export function time(value: string, zone: Zone): string {
  const parts = timeParts(value, zone);
  return parts ? `${parts.date} ${parts.time}` : shown(value);
}

const numbers = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
const small = new Intl.NumberFormat("en", { maximumSignificantDigits: 3 });

export function count(value: number | bigint): string {
  return typeof value === "bigint" || Math.abs(value) >= 100 || Number.isInteger(value) ? numbers.format(value) : small.format(value);
}

/** Seconds in the unit that fits: 29 ms, 1.2 s, 4 min 10 s, 2 h 5 min. */
export function duration(seconds: number): string {
  if (!Number.isFinite(seconds)) return "–";
  if (seconds === 0) return "0 s";
  if (seconds < 1e-3) return `${small.format(seconds * 1e6)} µs`;
  if (seconds < 1) return `${small.format(seconds * 1e3)} ms`;
  if (seconds < 60) return `${small.format(seconds)} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${Math.floor(seconds % 60)} s`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours} h ${minutes % 60} min` : `${Math.floor(hours / 24)} d ${hours % 24} h`;
}

export function bytes(value: number): string {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let unit = 0;
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024;
    unit += 1;
  }
  return `${small.format(value)} ${units[unit]}`;
}
