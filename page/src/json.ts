// JSON whose numbers keep all their digits: ids and attributes may need 64 bits.
import { LosslessNumber, isLosslessNumber, parse } from "lossless-json";

export type Json = null | boolean | string | LosslessNumber | Json[] | { [key: string]: Json };

export function read(text: string): Json {
  return parse(text) as Json;
}

export function isObject(value: Json | undefined): value is { [key: string]: Json } {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !isLosslessNumber(value);
}

export function field(value: Json | undefined, name: string): Json | undefined {
  return isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
}

/** A number as its digits, a string as it is, anything else as JSON; null and undefined give "". */
export function plain(value: Json | undefined): string {
  if (value === null || value === undefined) return "";
  if (typeof value === "string") return value;
  if (isLosslessNumber(value)) return value.value;
  if (typeof value === "boolean") return String(value);
  if (Array.isArray(value)) return value.map(plain).join(", ");
  return Object.entries(value)
    .map(([key, each]) => `${key}=${plain(each)}`)
    .join(" ");
}

/** A text that differs for the number 1 and the string "1". */
export function identity(value: Json): string {
  return typeof value === "string" ? `s${value}` : `n${plain(value)}`;
}

export function isNumber(value: Json | undefined): value is LosslessNumber {
  return isLosslessNumber(value);
}

/** A whole number with all its digits, whether JSON has it as a number or as a text. */
export function asWhole(value: Json | undefined): bigint | undefined {
  const digits = plain(value);
  return /^-?\d+$/.test(digits) ? BigInt(digits) : undefined;
}

export function asNumber(value: Json | undefined): number | undefined {
  return isNumber(value) ? Number(value.value) : undefined;
}
