/** `gate scenario test --mutants`: which small changes of a law its cases do not notice. */

import { constructLaw } from "../../law/law.ts";
import { LAW_LIMITS } from "../../law/limits.ts";
import { lawAsJson } from "../../law/normal_form.ts";
import { type Mutant, type MutantKind, mutantsOf } from "../../law/questions/mutants.ts";
import type { ScenarioLaw } from "../../law/types.ts";
import { type CompiledLaw, compileLaw } from "../../run/compile.ts";
import { permissiveEnvironment } from "../../runpack/verify/claims/scenario_law_construction.ts";
import { askLaw } from "../../scenario/ask_law.ts";
import { writeLaw } from "../../scenario/law_file.ts";
import { countOf } from "../../config/problems.ts";
import { shown } from "../terminal/text.ts";
import { identitiesOf } from "./check.ts";

/** A change that every case accepts. */
interface Survivor {
  readonly kind: MutantKind;
  /** What the change does, such as `looser`. */
  readonly verdict: string;
  /** The lines of the law's text that the change removes and adds. */
  readonly removed: readonly string[];
  readonly added: readonly string[];
}

/** What the cases notice. */
export interface MutantReport {
  readonly killed: number;
  readonly survived: readonly Survivor[];
  /** Changes that change nothing, which no case can notice. */
  readonly equivalent: number;
}

/**
 * Tries each mutant that is a law.
 *
 * @param accepts Whether all cases come out under a law as they do under the own one
 */
export async function tryMutants(
  law: ScenarioLaw,
  accepts: (mutant: CompiledLaw) => Promise<boolean>,
): Promise<MutantReport> {
  const survived: Survivor[] = [];
  let killed = 0;
  let equivalent = 0;
  const known = new Set([identitiesOf(law).scenario_law_identity]);
  for (const { kind, place, law: changed } of mutantsOf(law)) {
    if (kind === "freshness dropped" && isOfThisCall(law, place)) continue;
    const spec = lawAsJson(changed);
    const built = constructLaw(spec, {
      limits: LAW_LIMITS,
      hasPacketSchema: () => true,
      ...permissiveEnvironment(spec),
    });
    if (!built.ok) continue;
    const { scenario_law_identity, graph_identity } = identitiesOf(built.law);
    if (known.has(scenario_law_identity)) continue;
    known.add(scenario_law_identity);
    if (!await accepts(compileLaw(built.law, scenario_law_identity, graph_identity))) {
      killed++;
      continue;
    }
    const compared = askLaw(built.law, { ask: "compare", old: law });
    const verdict = compared.ok ? compared.verdict : "undecided";
    if (verdict === "equivalent") equivalent++;
    else survived.push({ kind, verdict, ...changedLines(writeLaw(law), writeLaw(built.law)) });
  }
  return { killed, survived, equivalent };
}

/** Whether gate acquires all evidence in the call. It is as old as the call then, so that no case shows an older one. */
function isOfThisCall({ conditions }: ScenarioLaw, place: Mutant["place"]): boolean {
  const id = place !== null && "condition_id" in place ? place.condition_id : null;
  const channels = conditions.find(({ condition_id }) => condition_id === id)?.evidence_use_policy.allowed_channels ??
    [];
  return channels.every((channel) => channel.endsWith("acquisition"));
}

/** The lines that only one of two texts has. A change may move lines, which say the same elsewhere. */
function changedLines(before: string, after: string): Pick<Survivor, "removed" | "added"> {
  const without = (text: string, other: string): readonly string[] => {
    const left = Map.groupBy(other.split("\n"), (line) => line);
    return text.split("\n").filter((line) => left.get(line)?.pop() === undefined);
  };
  return { removed: without(before, after), added: without(after, before) };
}

/** The report in words. */
export function describeMutants({ killed, survived, equivalent }: MutantReport): string {
  const changes = survived.map(({ kind, verdict, removed, added }) => {
    const lines = [...removed.map((line) => `  - ${line}`), ...added.map((line) => `  + ${line}`)];
    return `no case notices: ${kind}, ${verdict}\n${lines.map((line) => `${shown(line)}\n`).join("")}`;
  });
  const all = killed + survived.length;
  const share = all === 0 ? "" : ` (${Math.floor(100 * killed / all)} %)`;
  const same = equivalent === 0 ? "" : `, ${countOf(equivalent, "other")} changed nothing`;
  return `${changes.join("")}cases notice ${killed} of ${countOf(all, "changed law")}${share}${same}\n`;
}
