/** Reads the lines of evidence: the caller, a built-in check, signatures of people. */

import { isJsonArray, isJsonObject, type JsonValue } from "../../canonical/json.ts";
import { didYouMean, quote } from "../../law/suggest.ts";
import type { ObservationDomain } from "../../law/value/types.ts";
import { isInstant } from "../../law/value/timestamp.ts";
import { localClock, readSchedule } from "../../evidence/builtin/weekly_window.ts";
import { DURATION_EXPECTED, durationMillis, type ReportFault, type Span } from "./expression.ts";
import type { Steps } from "../source_position.ts";
import { isTypeText, readType, TYPE_NAMES } from "./type.ts";

/** A check of a provider that acquires evidence. */
export interface Source {
  readonly provider: string;
  readonly check: string;
  readonly params?: JsonValue;
}

/** What a line says. Members that it leaves out are absent. */
export interface Line {
  readonly domain?: ObservationDomain;
  readonly source?: Source;
  readonly signers?: readonly string[] | string;
  readonly signersAt?: Span;
  /** Of approvals: how many different people. */
  readonly quorum?: number;
  readonly within?: number;
}

/** The line of a built-in check: the names of its params, the last of which takes the rest of the line. */
export interface CheckLine {
  readonly word: string;
  readonly provider: string;
  readonly check: string;
  readonly params: readonly string[];
  /** How many words the first param has; one if absent. */
  readonly first?: number;
  /** How many of the params have to be there. */
  readonly needed: number;
  /** The type, where the contract of the check has one. */
  readonly type?: string;
}

/** The lines of built-in checks, as docs/reference/law_file.md lists them. */
export const CHECK_LINES: readonly CheckLine[] = [
  { word: "json", provider: "json", check: "path", params: ["file", "jsonpath"], needed: 1 },
  { word: "rest", provider: "rest", check: "json_path", params: ["url", "jsonpath"], needed: 2 },
  { word: "header", provider: "rest", check: "header", params: ["url", "header_name"], needed: 2, type: "text" },
  { word: "http", provider: "http", check: "status", params: ["url"], needed: 1, type: "integer" },
  { word: "body_hash", provider: "http", check: "body_hash", params: ["url"], needed: 1, type: "sha256" },
  { word: "env", provider: "env", check: "get", params: ["key"], needed: 1, type: "text" },
  { word: "after", provider: "time", check: "after", params: ["timestamp"], needed: 1, type: "boolean" },
  { word: "before", provider: "time", check: "before", params: ["timestamp"], needed: 1, type: "boolean" },
  {
    word: "window",
    provider: "calendar",
    check: "open",
    params: ["schedule", "time_zone"],
    first: 2,
    needed: 2,
    type: "boolean",
  },
  { word: "trigger_time", provider: "time", check: "now", params: [], needed: 0, type: "integer" },
];

/** The type that the contract of a built-in check has; undefined if there is not exactly one. */
export function contractType(provider: string, check: string): string | undefined {
  return CHECK_LINES.find((line) => line.provider === provider && line.check === check)?.type;
}

/** The forms of a line, for messages. */
const EXPECTED = '"caller", a type, "N of GROUP", "TYPE from LINE", "TYPE signed by GROUP" or the line of a check: ' +
  CHECK_LINES.map(({ word }) => word).join(", ");

/** Reads a line; undefined after a fault. */
export function readLine(text: string, fault: ReportFault): Line | undefined {
  const trimmed = text.trimEnd();
  if (trimmed === "caller") return {};
  const whole = { start: 0, end: text.length };
  const approval = /^(\d+)\s+of\s+(\[[^\]]*\]|\S+)(?:\s+within\s+(\S.*))?$/.exec(trimmed);
  if (approval !== null) return readApproval(approval, trimmed, fault);
  const typed = /^([A-Za-z_][A-Za-z0-9_]*(?:\([^()]*\))?)(?:\s+(from|signed\s+by)\s+(\S.*))?$/.exec(trimmed);
  const [, type = "", joint, rest = ""] = typed ?? [];
  if (typed !== null && (joint !== undefined || isTypeText(type))) {
    const domain = readType(type, { start: 0, end: type.length }, fault);
    if (joint === undefined) return domain && { domain };
    const offset = trimmed.length - rest.length;
    const inner: Line | undefined = joint === "from" ? readCheck(rest, offset, fault) : { signers: readGroup(rest) };
    return domain === undefined || inner === undefined ? undefined : { ...inner, domain };
  }
  const [word = ""] = /^\S+/.exec(trimmed) ?? [];
  if (CHECK_LINES.some((line) => line.word === word)) return readCheck(trimmed, 0, fault);
  const [, age] = /^within\s+(\S+)/.exec(trimmed) ?? [];
  const hint = age !== undefined
    ? ageHint(age)
    : didYouMean(word, ["caller", ...TYPE_NAMES, ...CHECK_LINES.map((line) => line.word)]);
  fault("line_invalid", `Line ${quote(text)} is unknown${hint || `; expected ${EXPECTED}`}`, whole);
  return undefined;
}

/** What to write where the age of a value is meant: only approvals have `within`. */
function ageHint(age: string): string {
  const text = durationMillis(age) === null ? "2h" : age;
  return `; the age of a value of type time is compared in a stage, as NAME >= now - duration("${text}")`;
}

function readApproval(match: RegExpExecArray, text: string, fault: ReportFault): Line | undefined {
  const [, count = "", group = "", duration] = match;
  const quorum = Number(count);
  const within = duration === undefined ? undefined : durationMillis(duration);
  if (within === null || within === 0) {
    const span = { start: text.length - (duration ?? "").length, end: text.length };
    fault("duration_invalid", `Expected a duration ${DURATION_EXPECTED}, got ${quote(duration ?? "")}`, span);
    return undefined;
  }
  const start = text.indexOf(group, count.length + 3);
  const signersAt = { start, end: start + group.length };
  const approval = { domain: { domain: "Boolean" } as const, quorum, signers: readGroup(group), signersAt };
  return within === undefined ? approval : { ...approval, within };
}

/** The names in brackets, or the name of a group. */
function readGroup(text: string): readonly string[] | string {
  const [, listed] = /^\[(.*)\]$/.exec(text) ?? [];
  return listed === undefined ? text : listed.split(",").map((name) => name.trim());
}

/** What the params of checks of the clock have to be, where a line writes them out. */
const WRITTEN: Readonly<Record<string, readonly [isValid: (text: string) => boolean, expected: string]>> = {
  timestamp: [isInstant, "an instant such as 2026-12-01T09:00:00Z"],
  schedule: [(text) => readSchedule(text) !== null, "days and hours such as Tue-Thu 22:00-02:00"],
  time_zone: [(text) => localClock(text) !== null, "a time zone such as Europe/Berlin"],
};

function readCheck(text: string, offset: number, fault: ReportFault): Line | undefined {
  const span: Span = { start: offset, end: offset + text.length };
  const [word = "", ...given] = text.split(/\s+/);
  const line = CHECK_LINES.find((one) => one.word === word);
  if (line === undefined) {
    const words = CHECK_LINES.map((one) => one.word);
    const hint = didYouMean(word, words) || `; expected ${words.join(", ")}`;
    fault("line_invalid", `Check line ${quote(word)} is unknown${hint}`, { start: offset, end: offset + word.length });
    return undefined;
  }
  const { first = 1 } = line;
  const words = first === 1 ? given : [given.slice(0, first).join(" "), ...given.slice(first)];
  const expected = `${word} ${line.params.map((name) => name.toUpperCase()).join(" ")}`.trim();
  if (words.length < line.needed || (line.params.length === 0 && words.length > 0)) {
    fault("line_invalid", `Expected "${expected}", got ${quote(text)}`, span);
    return undefined;
  }
  // The last param takes the rest of the line with its spaces.
  const last = line.params.length - 1;
  const rest = text.split(/(\s+)/).slice(2 * (last + first)).join("");
  const values = words.length > last && last >= 0 ? [...words.slice(0, last), rest] : words;
  const starts = [word.length + text.slice(word.length).search(/\S|$/), text.length - rest.length];
  for (const [index, value] of values.entries()) {
    const [isValid, form] = WRITTEN[line.params[index] ?? ""] ?? [];
    if (isValid === undefined || isValid(value) || /^\{[^{}]*\}$/.test(value)) continue;
    const start = offset + (starts[index === last ? 1 : 0] ?? 0);
    fault("params_invalid", `Expected ${form}, got ${quote(value)}`, { start, end: start + value.length });
    return undefined;
  }
  const params = Object.fromEntries(values.map((value, index) => [line.params[index] ?? "", value]));
  const source = { provider: line.provider, check: line.check };
  return { source: line.params.length === 0 ? source : { ...source, params } };
}

/** A URL in which a name in braces stands for the value of a parameter. */
const TEMPLATE = /^https?:\/\/.*\{[^{}]*\}/;

/**
 * Params with placeholders: a text that is `{NAME}` alone is that parameter, and a URL with `{NAME}` in it a template.
 *
 * @param idOf The id of a parameter by its name; undefined, after a fault, if there is none. It also receives the text
 * that names the parameter, the steps to it, and where in it the brace of the name is
 */
export function withPlaceholders(
  params: JsonValue,
  idOf: (name: string, place: { readonly text: string; readonly at: number; readonly steps: Steps }) =>
    | string
    | undefined,
  steps: Steps = [],
): JsonValue {
  if (isJsonArray(params)) return params.map((one, index) => withPlaceholders(one, idOf, [...steps, index]));
  if (isJsonObject(params)) {
    const members = Object.entries(params);
    // A placeholder that is written out stays as it is.
    if (members.length === 1 && (members[0]?.[0] === "$parameter" || members[0]?.[0] === "$template")) return params;
    return Object.fromEntries(members.map(([name, one]) => [name, withPlaceholders(one, idOf, [...steps, name])]));
  }
  if (typeof params !== "string") return params;
  const [, name] = /^\{([^{}]*)\}$/.exec(params) ?? [];
  if (name !== undefined) return { $parameter: idOf(name, { text: params, at: 0, steps }) ?? name };
  if (!TEMPLATE.test(params)) return params;
  const idText = (_: string, inner: string, at: number): string =>
    `{${idOf(inner, { text: params, at, steps }) ?? inner}}`;
  return { $template: params.replaceAll(/\{([^{}]*)\}/g, idText) };
}
