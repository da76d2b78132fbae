/** The values of `--set`: evidence and parameters of a law by their names. */

import type { JsonObject, JsonValue } from "../../canonical/json.ts";
import { shown } from "../../canonical/shown.ts";
import { readAtMost } from "../../config/files.ts";
import { decodeUtf8Strict, parseJson } from "../../canonical/scan.ts";
import { didYouMean } from "../../law/suggest.ts";
import type { Condition, ScenarioLaw } from "../../law/types.ts";
import { valueOfText } from "../../law/value/value_of_text.ts";
import { lawWords } from "../../law/words.ts";
import { reasonOf } from "../../store/file_reason.ts";
import { shownType } from "../../law/words.ts";
import { type Source, SOURCE_BYTES_MAXIMUM } from "../scenario/source.ts";
import { CliError } from "../terminal/cli_error.ts";
import { namedTexts } from "../terminal/named_values.ts";

/** The values of `--set`. */
export interface SetValues {
  /** Values of parameters, as `--parameter` takes them. */
  readonly parameters: readonly string[];
  /** Evidence for every condition of each name, as `scenario_next` takes it. */
  readonly evidence: readonly JsonObject[];
}

/**
 * Reads the values of `--set`, each by the type that the law gives its name.
 *
 * @param by Who says them: a caller, whom the law may not ask, or a case, which stands for every source
 * @throws {CliError} `usage` for a name that the law lacks, for a value outside its type, and for what no caller says
 */
export async function readValues(
  { names }: Pick<Source, "names">,
  law: ScenarioLaw,
  pairs: readonly string[],
  by: "caller" | "case" = "caller",
): Promise<SetValues> {
  if (pairs.length === 0) return { parameters: [], evidence: [] };
  const known = names ?? lawWords(law);
  const parameterOf = new Map([...known.parameters].map(([id, name]) => [name, id]));
  const conditions = Map.groupBy(law.conditions, ({ condition_id: id }) => known.evidence.get(id) ?? id);
  const declared = [...parameterOf.keys(), ...conditions.keys()];
  const parameters: string[] = [];
  const evidence: JsonObject[] = [];
  for (const [name, given] of namedTexts("--set", pairs, declared)) {
    const text = given.startsWith("@") ? await readText(name, given.slice(1)) : given;
    const id = parameterOf.get(name);
    const own = conditions.get(name);
    if (id !== undefined) parameters.push(`${id}=${text}`);
    else if (own !== undefined) evidence.push(...conditionsTaking(name, own, by).map((one) => itemOf(name, text, one)));
    else {
      const hint = didYouMean(name, declared) || `; it has ${declared.join(", ")}`;
      throw new CliError("usage", `Cannot use --set "${shown(name)}": the law has no such name${hint}`);
    }
  }
  return { parameters, evidence };
}

/** Those of some conditions that take a value from a caller; a value that none of them takes would be lost in silence. */
function conditionsTaking(name: string, conditions: readonly Condition[], by: "caller" | "case"): readonly Condition[] {
  const taking = conditions.filter(({ evidence_use_policy: { allowed_channels } }) =>
    by === "case" || allowed_channels.includes("caller_submission")
  );
  if (taking.length > 0) return taking;
  throw new CliError(
    "usage",
    `Cannot use --set "${shown(name)}": the law takes it from no caller; gate fetches it, or people sign it`,
  );
}

async function readText(name: string, file: string): Promise<string> {
  const bytes = await readAtMost(file, SOURCE_BYTES_MAXIMUM).catch((error: unknown) => {
    throw new CliError("usage", `Cannot use --set "${name}=@${file}": ${reasonOf(error)}`);
  });
  const text = bytes.length > SOURCE_BYTES_MAXIMUM ? null : decodeUtf8Strict(bytes);
  if (text !== null) return text.replace(/\r?\n$/, "");
  throw new CliError(
    "usage",
    `Cannot use --set "${name}=@${file}": expected UTF-8 of at most ${SOURCE_BYTES_MAXIMUM} bytes`,
  );
}

/** An item of evidence with the value of a text. */
function itemOf(name: string, text: string, condition: Condition): JsonObject {
  const { condition_id, observation_domain: domain, evidence_use_policy: { retention } } = condition;
  const parsed = domain.domain === "Json" ? parseJson(text) : null;
  const value = parsed === null
    ? valueOfText(text, domain)
    : parsed.ok
    ? { value: parsed.value, value_type: "Json" as const }
    : null;
  if (value === null) {
    throw new CliError(
      "usage",
      `Cannot use --set "${shown(`${name}=${text.slice(0, 100)}`)}": expected ${shownType(domain)}`,
    );
  }
  return {
    condition_id,
    value: value as unknown as JsonValue,
    retention: { retention: retention === "retain_digest_only" ? "RetainDigestOnly" : "RetainCanonicalValue" },
  };
}
