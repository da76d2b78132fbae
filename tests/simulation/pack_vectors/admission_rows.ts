/**
 * Packs, what their reader expects, and what comes of it: the exit code and every reason.
 *
 * @module
 */

import type { AdmissionCode } from "../../../src/runpack/verify/admission.ts";
import { KEY_1, KEY_2, NOW, type TestKey, trusting } from "../kernel_fixture.ts";
import { forge } from "../runpack_forge.ts";
import { type MemoryPack, packOf } from "../runpack_memory.ts";
import { admissionLaw, BUILD_COMPLETE, playAdmissionRun, RUN_COMPLETE } from "./admission_run.ts";
import { type ExpectationText, WHOLE } from "./cases.ts";
import { signedBy } from "./envelope_rows.ts";
import type { Base, Made } from "./rows.ts";

/** A pack with the envelopes beside it. */
export interface AdmissionCase extends Made {
  readonly pack: MemoryPack;
  readonly envelopes?: readonly Uint8Array[];
  readonly expected: ExpectationText;
}

/** A row of the table. */
export interface AdmissionRow {
  readonly name: string;
  readonly exit_code: number;
  readonly reasons: readonly AdmissionCode[];
  readonly waived?: readonly string[];
  readonly violates?: Readonly<Record<string, string>>;
  readonly make: (base: Base) => Promise<AdmissionCase>;
}

/** What differs from the base: the whole run, signed by its producer, under its law. */
interface Change {
  /** The pack; that of the whole run where it is absent. */
  readonly pack?: (base: Base) => MemoryPack | Promise<MemoryPack>;
  /** Whose envelope lies beside the pack; null for none. */
  readonly signer?: TestKey | null;
  readonly producers?: readonly TestKey[];
  readonly trusted?: readonly TestKey[];
  readonly budget?: Readonly<Record<string, number>>;
  readonly expected?: Partial<ExpectationText>;
  readonly violates?: Readonly<Record<string, string>>;
}

const LAW = admissionLaw().scenario_law_identity;
const EXPECTED: ExpectationText = {
  law: LAW,
  parameters: {},
  any_parameters: [],
  stage: null,
  not_before: null,
  origin_unchecked: false,
  allow_asserted: false,
};
const texts = (keys: readonly TestKey[]): readonly string[] => keys.map(({ public_key }) => public_key);

function row(
  name: string,
  exit_code: number,
  reasons: readonly AdmissionCode[],
  { pack: packOfBase, signer = KEY_1, producers = [KEY_1], trusted, budget, expected, violates }: Change = {},
  waived: readonly string[] = [],
): AdmissionRow {
  const make = async (base: Base): Promise<AdmissionCase> => {
    const pack = await packOfBase?.(base) ?? base.pack;
    return {
      pack,
      envelopes: signer === null ? [] : [new TextEncoder().encode(signedBy(pack, signer))],
      request: { ...WHOLE, budget: budget ?? null, trusted_keys: trusted === undefined ? null : texts(trusted) },
      producer_keys: texts(producers),
      expected: { ...EXPECTED, ...expected },
    };
  };
  return { name, exit_code, reasons, waived, make, ...violates === undefined ? {} : { violates } };
}

const upTo = (revision: number): NonNullable<Change["pack"]> => ({ run }) => packOf(run, revision);
const withholding = (...withheld_conditions: readonly string[]): NonNullable<Change["pack"]> => ({ run }) =>
  packOf(run, undefined, { withheld_conditions });
const played = (...given: Parameters<typeof playAdmissionRun>): NonNullable<Change["pack"]> => () =>
  packOf(playAdmissionRun(...given));

const PERMISSIVE = { permissive: { enabled: true, exempt_providers: [] } };
const forged: NonNullable<Change["pack"]> = ({ run }) =>
  forge(run, ({ records }) => {
    records[2].body.outcome = "false";
  });

/** The rows: whether a pack is admitted, and why not. */
export const ADMISSION_ROWS: readonly AdmissionRow[] = [
  row("a complete run that its producer signed", 0, []),
  row("all evidence signed by a trusted key", 0, [], { signer: null, producers: [], trusted: [KEY_1] }),
  row("a stage that is complete, of a run that is not", 0, [], {
    pack: upTo(BUILD_COMPLETE),
    expected: { stage: "build" },
  }),
  row("completed at the earliest allowed instant", 0, [], { expected: { not_before: NOW + 4000 } }),
  row("a stage completed at the earliest allowed instant", 0, [], {
    expected: { stage: "build", not_before: NOW + 2000 },
  }),
  row("a run in which no stage was opened", 3, ["not_complete"], { pack: upTo(1) }),
  row("a run whose first stage is open", 3, ["not_complete"], { pack: upTo(2) }),
  row("a prefix of a complete run", 3, ["not_complete"], { pack: upTo(RUN_COMPLETE - 1) }),
  row("another stage than the complete one", 3, ["not_complete"], {
    pack: upTo(RUN_COMPLETE - 1),
    expected: { stage: "release" },
  }),
  row("completed a millisecond too early", 3, ["completed_before"], { expected: { not_before: NOW + 4001 } }),
  row("a stage completed a millisecond too early", 3, ["completed_before"], {
    expected: { stage: "build", not_before: NOW + 2001 },
  }),
  row("withheld values", 4, ["material_unknown"], { pack: withholding("tested") }),
  row("a budget that ends the replay", 4, ["material_unknown"], { budget: { records: 4 } }),
  row("a budget that ends before the manifest", 4, ["material_unknown", "origin_unknown"], {
    budget: { hashing_workers: 0 },
  }),
  row("no signature at all", 4, ["origin_unknown"], { signer: null }),
  row("no key that a signature could verify under", 4, ["origin_unknown"], { producers: [] }),
  row("a whole pack made by a stranger", 4, ["origin_unknown"], { signer: KEY_2 }),
  row("a stranger's envelope under a trusted key for evidence", 4, ["origin_unknown"], {
    signer: KEY_2,
    producers: [],
    trusted: [KEY_2],
  }),
  row("one item that is not signed by a trusted key", 4, ["origin_unknown"], {
    pack: played({ law: admissionLaw(true), unsigned: ["tested"] }),
    signer: null,
    producers: [],
    trusted: [KEY_1],
    expected: { law: admissionLaw(true).scenario_law_identity },
  }),
  row("an unopened run, of which no item counted, under a trusted key", 3, ["not_complete", "origin_unknown"], {
    pack: upTo(1),
    signer: null,
    producers: [],
    trusted: [KEY_1],
  }),
  row("an origin that is not checked", 0, [], { signer: null, expected: { origin_unchecked: true } }, ["origin"]),
  row("a permissive profile", 4, ["evidence_asserted"], { pack: played({ profile: PERMISSIVE }) }),
  row("a lowest lane of asserted", 4, ["evidence_asserted"], {
    pack: played({ profile: { trust: { min_lane: "asserted", default_policy: trusting(KEY_1), providers: [] } } }),
  }),
  row("a permissive profile that is allowed", 0, [], {
    pack: played({ profile: PERMISSIVE }),
    expected: { allow_asserted: true },
  }, ["asserted evidence"]),
  row("a permissive profile of a stranger, both waived", 0, [], {
    pack: played({ profile: PERMISSIVE }),
    signer: KEY_2,
    expected: { allow_asserted: true, origin_unchecked: true },
  }, ["origin", "asserted evidence"]),
  row("another law with the same ids", 6, ["law_mismatch"], { pack: played({ law: admissionLaw(true) }) }),
  row("another law, incomplete, of a stranger", 6, ["law_mismatch", "not_complete", "origin_unknown"], {
    pack: () => packOf(playAdmissionRun({ law: admissionLaw(true) }), 2),
    signer: KEY_2,
  }),
  row("an outcome that was changed", 6, ["violated"], {
    pack: forged,
    violates: { evaluation_attempt_consistency: "completed_mismatch", pure_semantic_replay: "decision_mismatch" },
  }),
  row("a parameter that the law does not declare", 2, ["parameter_undeclared"], {
    expected: { parameters: { commit: "abc" } },
  }),
  row("a waived parameter that the law does not declare", 2, ["parameter_undeclared"], {
    expected: { any_parameters: ["a commit"] },
  }, ['parameter "a commit"']),
  row("a stage that the law does not have", 2, ["stage_undeclared", "not_complete"], { expected: { stage: "deploy" } }),
];
