/**
 * The vectors of judgements: each row decided by the kernel as an attempt at a stage of one condition.
 *
 * @module
 */

import { canonicalize } from "../../../src/canonical/canonicalize.ts";
import type { JsonObject, JsonValue } from "../../../src/canonical/json.ts";
import { lawAsJson } from "../../../src/law/normal_form.ts";
import type { TypedValue } from "../../../src/law/value/types.ts";
import type { CompiledLaw } from "../../../src/run/compile.ts";
import { recordEvidence } from "../../../src/run/decide/decide_evaluate.ts";
import { decide } from "../../../src/run/decide/decide.ts";
import type { CallerEvidence, PresentedEvidence } from "../../../src/run/evidence.ts";
import { asJson } from "../../../src/run/primitives.ts";
import {
  accepted,
  createCommand,
  environmentWith,
  evaluateCommand,
  int,
  NOW,
  oneConditionLaw,
  openCommand,
  presented,
  stampsAt,
} from "../kernel/fixture.ts";
import { acquire, type Answer, type Scene, signatureOf } from "./acquired.ts";
import { JUDGEMENT_ROWS, type JudgementRow } from "./judgement_rows.ts";

/** A vector as it was made, beside what its row says. */
export interface MadeJudgement {
  readonly row: JudgementRow;
  readonly vector: JsonObject;
  /** As the row says it: of each item, and of the condition. */
  readonly found: { readonly items: readonly string[]; readonly outcome: string };
}

/** All vectors, with the laws and profiles that they name. */
export interface MadeJudgements {
  readonly laws: JsonObject;
  readonly profiles: JsonObject;
  readonly cases: readonly MadeJudgement[];
}

/** Values that are written once, each under a name. */
function createNames(
  prefix: string,
): { readonly nameOf: (value: JsonValue) => string; readonly all: () => JsonObject } {
  const names = new Map<string, string>();
  return {
    nameOf: (value) => {
      const text = canonicalize(value);
      const name = names.get(text) ?? `${prefix}_${names.size + 1}`;
      names.set(text, name);
      return name;
    },
    all: () => Object.fromEntries([...names].map(([text, name]) => [name, JSON.parse(text) as JsonValue])),
  };
}

/** An item of the caller as the kernel presents it. */
function callerSays(scene: Scene, answer: Answer, index: number): PresentedEvidence {
  const value: TypedValue = int(Number(answer.value));
  const item = presented("c", value, {
    item_id: `caller:${index}`,
    ...answer.observed_at === undefined ? {} : { observed_at: answer.observed_at },
    ...answer.anchor === undefined ? {} : { anchor: { anchor_type: "commit", anchor_value: answer.anchor } },
  });
  const signature = signatureOf(scene, item, answer);
  return signature === null ? item : { ...item, signature };
}

/** An item as it was before it was judged: as a record has it, without what the kernel says of it, and with its value. */
function inputOf(item: PresentedEvidence): JsonObject {
  const { lane: _lane, qualified: _qualified, ...rest } = recordEvidence({
    item,
    lane: item.lane,
    signer: null,
    reason: null,
  });
  return { ...asJson(rest) as JsonObject, value: item.value === null ? null : asJson(item.value) };
}

function callerEvidence({ value, signature, anchor, observed_at }: PresentedEvidence): CallerEvidence {
  return {
    condition_id: "c",
    retention: { retention: "RetainCanonicalValue" },
    value: value ?? int(0),
    ...signature === undefined ? {} : { signature },
    ...anchor === undefined ? {} : { anchor },
    ...observed_at === undefined ? {} : { observed_at },
  };
}

function judge(row: JudgementRow, law: CompiledLaw): Omit<MadeJudgement, "row"> & { readonly profile: JsonValue } {
  const { procedure = "gate-kernel-2", profile = {}, reading = NOW } = row.setting;
  const environment = { ...environmentWith(profile), procedure };
  const before = { ...environmentWith(row.setting.started ?? profile), procedure };
  const created = accepted(decide(law, null, createCommand(), stampsAt(), before));
  const { state } = accepted(decide(law, created.state, openCommand(2, created.state.head, "s"), stampsAt(), before));
  const scene = { law, state, stage_id: "s" };
  const callers = row.caller.map((answer, index) => callerSays(scene, answer, index));
  const acquired = Object.entries(row.acquired).map(([binding, answer]) => acquire(scene, binding, answer));
  const command = evaluateCommand(3, state.head, "s", { caller_evidence: callers.map(callerEvidence), acquired });
  const [{ record: { body } }] = accepted(decide(law, state, command, stampsAt(reading), environment)).records;
  if (!("trace" in body)) throw new TypeError("Cannot judge: the record is no attempt");
  const judged = body.evidence.map(({ item_id, lane, qualified, reason, error }) => ({
    item_id,
    lane,
    qualified,
    ...reason === undefined ? {} : { reason },
    ...error === undefined ? {} : { error },
  }));
  const [line] = body.trace;
  const { run_key, head, accepted_audit_instant } = state;
  return {
    profile: asJson(environment.profile),
    vector: {
      procedure,
      before: asJson({ run_key, head, accepted_audit_instant }),
      reading_unix_millis: reading,
      items: [...callers, ...acquired].map(inputOf),
      judged: asJson(judged),
      value: line?.value ?? null,
      reason: line?.reason ?? null,
    },
    found: {
      items: judged.map(({ reason, error }) =>
        [reason, error && `error ${error.code}`].filter(Boolean).join(" ") || "counts"
      ),
      outcome: [line?.value, line?.reason].filter(Boolean).join(" "),
    },
  };
}

/** Makes the vectors. */
export function makeJudgements(): MadeJudgements {
  const laws = createNames("law");
  const profiles = createNames("profile");
  const cases = JUDGEMENT_ROWS.map((row): MadeJudgement => {
    const law = oneConditionLaw(row.policy, row.setting.condition);
    const { profile, vector, found } = judge(row, law);
    const named = { law: laws.nameOf(lawAsJson(law.law)), profile: profiles.nameOf(profile) };
    return { row, vector: { name: row.name, ...named, ...vector }, found };
  });
  return { laws: laws.all(), profiles: profiles.all(), cases };
}
