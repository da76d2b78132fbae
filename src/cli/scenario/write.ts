import { isJsonObject, member } from "../../canonical/json.ts";
import { loadConfig } from "../../config/load.ts";
import { writeLaw } from "../../scenario/law_file.ts";
import { convertCases, isOldCases } from "../../scenario/old_cases.ts";
import { mustCall, withLocalSession } from "../session/tool_session.ts";
import { parseNamespace } from "../terminal/namespace_flag.ts";
import { writeAnswer } from "../terminal/output.ts";
import { readOldSpec, readSource, SOURCE_EXTENSIONS } from "./source.ts";
import { withScenario } from "./law.ts";
import { identitiesOf, type ScenarioFlags, withLaw } from "./check.ts";

/** The flags of `gate scenario write`. */
export interface ScenarioWriteFlags extends ScenarioFlags {
  readonly namespace?: string;
}

/** Runs `gate scenario write`. Building what it prints gives the same law. Returns 2 if a file is not a law. */
export async function runScenarioWrite(given: string, flags: ScenarioWriteFlags): Promise<number> {
  if (/^[0-9a-f]{64}$/.test(given)) return await writeStored(given, flags);
  const cases = await convertedCases(given, flags);
  if (cases !== null) return writeAnswer("scenario write", flags, { file: given, cases_text: cases }, cases);
  return await withLaw("write", given, flags, (law) => {
    const law_text = writeLaw(law);
    return writeAnswer("scenario write", flags, { file: given, ...identitiesOf(law), law_text }, law_text);
  }, { read: readOldSpec });
}

/** A cases file of the old format, converted for the law beside it; null for any other file. */
async function convertedCases(file: string, flags: ScenarioWriteFlags): Promise<string | null> {
  const read = await readSource(file);
  if (!read.ok || !isOldCases(read.source.value)) return null;
  const { value } = read.source;
  const laws = SOURCE_EXTENSIONS.map((extension) => file.replace(/\.cases\.[^.]+$/, extension));
  const found = await Promise.all(laws.map((law) => Deno.stat(law).then(() => law, () => null)));
  const law = found.find((one) => one !== null && one !== file);
  if (law === undefined || law === null) return convertCases(value, () => []);
  return await withScenario(law, flags.config, ({ scenario }) => {
    const policies = new Map(scenario.law?.conditions.map((one) => [one.condition_id, one.evidence_use_policy]));
    return Promise.resolve(convertCases(value, (id) => policies.get(id)?.authorized_key_ids ?? []));
  }, { read: readOldSpec });
}

async function writeStored(identity: string, flags: ScenarioWriteFlags): Promise<number> {
  const namespaceId = parseNamespace(flags.namespace ?? "2");
  return await withLocalSession(await loadConfig({ config: flags.config }), async (session) => {
    const asked = { namespace_id: namespaceId, scenario_law_identity: identity };
    const { law = null } = await mustCall(session, "scenarios_get", asked);
    if (!isJsonObject(law)) throw new TypeError("Cannot write law: scenarios_get returned none");
    const law_text = writeLaw(law as never);
    const names = { scenario_id: member(law, "scenario_id") ?? null, scenario_law_identity: identity };
    return writeAnswer("scenario write", flags, { ...names, law_text }, law_text);
  });
}
