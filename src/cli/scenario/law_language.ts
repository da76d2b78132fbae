/** What an editor asks about the text of a law file: faults, sentences of names, completions and the one layout. */

import { isJsonObject, type JsonObject, member } from "../../canonical/json.ts";
import { lawWords, shownType } from "../../law/words.ts";
import { formatLaw, readLawText } from "../../scenario/law_file.ts";
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

/** The name at a position of a text that counts from 1; empty where there is none. */
export function nameAt(text: string, { line, column }: Position): string {
  const whole = text.split("\n")[line - 1] ?? "";
  const before = /[A-Za-z0-9_-]*$/.exec(whole.slice(0, column - 1))?.[0] ?? "";
  return before + (/^[A-Za-z0-9_-]*/.exec(whole.slice(column - 1))?.[0] ?? "");
}

/** What may be typed: each word with its kind. */
export function completionsOf(names: LawLanguage["names"]): ReadonlyMap<string, string> {
  return new Map([
    ...membersOf(LAW_FILE_SCHEMA).map((name) => [name, "member"] as const),
    ...TYPE_NAMES.map((name) => [name, "type"] as const),
    ...CHECK_LINES.map(({ word, provider, check, params }) =>
      [word, `${provider}.${check} ${params.join(" ")}`.trim()] as const
    ),
    ...[...names].map(([name, sentence]) => [name, sentence.split("\n")[0] ?? ""] as const),
  ]);
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
