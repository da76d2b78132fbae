/** What an editor asks about the text of a law file: faults, sentences of names, completions and the one layout. */

import { isJsonObject, type JsonObject, member } from "../../canonical/json.ts";
import { lawWords, shownType } from "../../law/words.ts";
import { formatLaw, readLawText } from "../../scenario/law_file.ts";
import { FUNCTIONS } from "../../scenario/law_file/expression.ts";
import { CHECK_LINES } from "../../scenario/law_file/line.ts";
import { LAW_FILE_SCHEMA } from "../../scenario/law_file/schema.ts";
import { TYPE_NAMES } from "../../scenario/law_file/type.ts";
import { faulty, judgeSpec, type LawProblem } from "../../scenario/law_problems.ts";
import type { Position } from "../../scenario/source_position.ts";

/** A text of a law file as an editor has it. */
export interface LawLanguage {
  readonly problems: readonly LawProblem[];
  /** The names of the law with what each stands for, in words. Empty while the text is no law. */
  readonly names: ReadonlyMap<string, string>;
}

/** Reads a text. What depends on a configuration, such as its providers, is not judged. */
export function readLanguage(text: string): LawLanguage {
  const read = readLawText(text);
  const names = read.ok ? read.file.names : undefined;
  const { law, problems } = read.ok
    ? judgeSpec(read.file.spec, read.file.locate, read.file.warnings)
    : faulty(read.faults);
  if (law === null || names === undefined) return { problems, names: new Map() };
  const words = lawWords(law, names);
  const found = new Map<string, string>();
  for (const { parameter_id: id, domain } of law.parameters ?? []) {
    found.set(names.parameters.get(id) ?? id, `Parameter: ${shownType(domain)}`);
  }
  for (const { condition_id: id, observation_domain: domain } of law.conditions) {
    const name = names.evidence.get(id) ?? id;
    const sentences = [...found.has(name) ? [found.get(name) ?? ""] : [`Evidence: ${shownType(domain)}`]];
    found.set(name, [...sentences, words.condition(id)].join("\n"));
  }
  for (const { stage_id: id, completion_requirement: needs } of law.stages) {
    found.set(names.stages.get(id) ?? id, `Stage: ${words.requirement(needs)}`);
  }
  return { problems, names: found };
}

/** Characters beside a position that are read: a longer line of an editor has no more names than these. */
const HEAD_CHARACTERS = 2048;

/** The last characters of a line before a position. */
function headOf(line: string, column: number): string {
  return line.slice(Math.max(0, column - 1 - HEAD_CHARACTERS), column - 1);
}

/** The name at a position of a text that counts from 1; empty where there is none. */
export function nameAt(text: string, { line, column }: Position): string {
  const whole = text.split("\n")[line - 1] ?? "";
  const before = /[A-Za-z0-9_-]*$/.exec(headOf(whole, column))?.[0] ?? "";
  return before + (/^[A-Za-z0-9_-]*/.exec(whole.slice(column - 1, column - 1 + HEAD_CHARACTERS))?.[0] ?? "");
}

/** The names that each section of a text declares, also while the text is no law. */
function declaredIn(lines: readonly string[]): ReadonlyMap<string, readonly string[]> {
  const declared = new Map<string, string[]>();
  let names: string[] = [];
  let indent = 0;
  for (const line of lines) {
    const [, blanks = "", name] = /^( *)([A-Za-z_]\w*):/.exec(line) ?? [];
    if (name === undefined) continue;
    if (blanks === "") {
      names = [];
      indent = 0;
      declared.set(name, names);
    } else if (indent === 0 || blanks.length === indent) {
      indent = blanks.length;
      names.push(name);
    }
  }
  return declared;
}

const LINE_WORDS = CHECK_LINES.map(({ word }) => word);
const CHECK_NAMES = CHECK_LINES.map(({ provider, check }) => `${provider}.${check}`);

/** What may be typed at a position, which counts from 1. */
export function completionsAt(text: string, { line, column }: Position): readonly string[] {
  const lines = text.split("\n");
  // The word at the position is being typed.
  const head = headOf(lines[line - 1] ?? "", column).replace(/[\w.]*$/, "");
  const root = member(LAW_FILE_SCHEMA, "properties") as JsonObject;
  if (head === "") return Object.keys(root);
  const section = lines.slice(0, line).findLast((one) => /^\w+:/.test(one))?.split(":")[0] ?? "";
  const isBlank = head.trim() === "";
  const parent = lines.slice(0, line - 1).findLast((one) => one.trim() !== "" && one.search(/\S/) < head.length) ?? "";
  // The names of a section are the author's own.
  if (isBlank && /^\w/.test(parent)) return [];
  if (isBlank ? parent.trimEnd().endsWith(":") : /(?:^|[\s\w.]:? )\{[^{}[]*$/.test(head) && /[{,] *$/.test(head)) {
    const [, check] = /([\w-]+\.[\w-]+): *\{[^{}]*$/.exec(head) ?? [];
    if (check === undefined) {
      return /from: *\{ *$/.test(head) ? CHECK_NAMES : membersOf({ [section]: root[section] ?? {} });
    }
    return CHECK_LINES.find((one) => `${one.provider}.${one.check}` === check)?.params ?? [];
  }
  return valuesIn(section, head, declaredIn(lines));
}

/** The words that may follow the head of a line in a section. */
function valuesIn(section: string, head: string, declared: ReturnType<typeof declaredIn>): readonly string[] {
  const names = (one: string): readonly string[] => declared.get(one) ?? [];
  switch (section) {
    case "parameters":
      return TYPE_NAMES;
    case "evidence":
      if (head.endsWith("{")) return names("parameters");
      if (/(?:\bof|\bby|signed_by:) +\[?(?:\w+, *)*$/.test(head)) return names("people");
      if (/\bfrom:? +$/.test(head)) return LINE_WORDS;
      return /type: +$/.test(head) ? TYPE_NAMES : [...new Set(["caller", ...TYPE_NAMES, ...LINE_WORDS])];
    case "stages":
    case "unused":
      if (/\bafter: /.test(head)) return names("stages");
      return [...names("evidence"), ...names("parameters"), "now", ...FUNCTIONS];
    case "complete":
      return names("stages");
    default:
      return [];
  }
}

/** The members of a schema and of the objects in it. */
function membersOf(schema: JsonObject): readonly string[] {
  return Object.values(schema).flatMap((value) => {
    const inner = Array.isArray(value) ? value : [value];
    return inner.flatMap((one) => isJsonObject(one) ? membersOf(one) : []);
  }).concat(Object.keys(member(schema, "properties") as JsonObject | undefined ?? {}));
}

/** The text in the one layout; null for a text that is no law file. */
export function layOutText(text: string): string | null {
  return readLawText(text).ok ? formatLaw(text) : null;
}
