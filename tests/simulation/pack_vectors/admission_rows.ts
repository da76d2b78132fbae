/**
 * Packs, what their reader expects, and what comes of it: the exit code and every reason.
 *
 * @module
 */

import type { AdmissionCode } from "../../../src/runpack/verify/admission.ts";
import { KEY_1, KEY_2, NOW, numberedKey, type TestKey, trusting } from "../kernel/fixture.ts";
import { forge } from "../forged_packs/forge.ts";
import { type MemoryPack, packOf } from "../runpack/memory.ts";
import { ALICE, ALICE_2, BOB, playPeople } from "../forged_packs/people.ts";
import {
  admissionLaw,
  BUILD_COMPLETE,
  IMAGE,
  playAdmissionRun,
  playStagesRun,
  playTextsRun,
  RUN_COMPLETE,
  STAGES,
  TEXTS,
} from "./admission_run.ts";
import { type ExpectationText, WHOLE } from "./cases.ts";
import { signedBy } from "./envelope_rows.ts";
import { PARAMETER_ROWS } from "./parameter_rows.ts";
import { playParametersRun, VALUES } from "./parameters_run.ts";
import { replaceProfile } from "./forged_rows.ts";
import type { Base, Made } from "./rows.ts";
import { playTypedRun, TYPED_VERSION } from "./typed_run.ts";
import { ANN, BEN, calling, CI, playSigners, signersLaw, type SignersPlay } from "./signers_run.ts";

/** A pack with the envelopes beside it. */
export interface AdmissionCase extends Made {
  readonly pack: MemoryPack;
  readonly envelopes?: readonly Uint8Array[];
  readonly expected: ExpectationText;
}

/** The runs of the table, by the names of their base packs. */
const RUNS = {
  admission: playAdmissionRun,
  parameters: playParametersRun,
  stages: playStagesRun,
  texts: playTextsRun,
  people: playPeople,
  signers: playSigners,
  typed: playTypedRun,
  pinned: () => playSigners({ isPinned: true }),
} as const;
/** The name of a base pack of the table. */
export type AdmissionBase = keyof typeof RUNS;

/** A row of the table. */
export interface AdmissionRow {
  readonly name: string;
  readonly base: AdmissionBase;
  readonly exit_code: number;
  readonly reasons: readonly AdmissionCode[];
  readonly waived?: readonly string[];
  readonly violates?: Readonly<Record<string, string>>;
  readonly make: (base: Base) => Promise<AdmissionCase>;
}

/** Makes the case of a row from the run of its base. */
export async function makeAdmission({ base, make }: AdmissionRow): Promise<AdmissionCase> {
  const run = RUNS[base]();
  return await make({ run, pack: await packOf(run) });
}

/** What differs from the base: the whole run, signed by its producer, under its law. */
interface Change {
  /** The base pack; `admission` where it is absent. */
  readonly base?: AdmissionBase;
  /** The pack; that of the whole run where it is absent. */
  readonly pack?: (base: Base) => MemoryPack | Promise<MemoryPack>;
  /** Whose envelope lies beside the pack; null for none. */
  readonly signer?: TestKey | null;
  readonly producers?: readonly TestKey[];
  /** Keys that the reader names, each by its id. */
  readonly named?: readonly TestKey[];
  readonly budget?: Readonly<Record<string, number>>;
  readonly expected?: Partial<ExpectationText>;
  readonly violates?: Readonly<Record<string, string>>;
}

const EXPECTED: Omit<ExpectationText, "law"> = {
  parameters: {},
  any_parameters: [],
  stage: null,
  not_before: null,
  keys: {},
  providers: {},
  accept_procedures: [],
  origin_unchecked: false,
  signers_unchecked: false,
  allow_asserted: false,
};
const LAWS: Readonly<Record<AdmissionBase, string>> = {
  admission: admissionLaw().scenario_law_identity,
  parameters: playParametersRun().law.scenario_law_identity,
  stages: playStagesRun().law.scenario_law_identity,
  texts: playTextsRun().law.scenario_law_identity,
  people: playPeople().law.scenario_law_identity,
  signers: signersLaw().scenario_law_identity,
  pinned: signersLaw(true).scenario_law_identity,
  typed: playTypedRun().law.scenario_law_identity,
};
/** The values of the run with parameters, as a command line has them. */
const GIVEN: Readonly<Record<string, string>> = Object.fromEntries(
  VALUES.map(({ parameter_id, value: { value } }) => [parameter_id, String(value)]),
);
const { commit: _commit, ...WITHOUT_COMMIT } = GIVEN;
const texts = (keys: readonly TestKey[]): readonly string[] => keys.map(({ public_key }) => public_key);

function row(
  name: string,
  exit_code: number,
  reasons: readonly AdmissionCode[],
  {
    base = "admission",
    pack: packOfBase,
    signer = KEY_1,
    producers = [KEY_1],
    named,
    budget,
    expected,
    violates,
  }: Change = {},
  waived: readonly string[] = [],
): AdmissionRow {
  const make = async (played: Base): Promise<AdmissionCase> => {
    const pack = await packOfBase?.(played) ?? played.pack;
    return {
      pack,
      envelopes: signer === null ? [] : [new TextEncoder().encode(signedBy(pack, signer))],
      request: { ...WHOLE, budget: budget ?? null, trusted_keys: named === undefined ? null : texts(named) },
      producer_keys: texts(producers),
      expected: {
        ...EXPECTED,
        law: LAWS[base],
        keys: Object.fromEntries(named?.map(({ key_id, public_key }) => [key_id, public_key]) ?? []),
        ...expected,
      },
    };
  };
  return { name, base, exit_code, reasons, waived, make, ...violates === undefined ? {} : { violates } };
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

/** A row on the run with parameters. */
const given = (
  name: string,
  exit_code: number,
  reasons: readonly AdmissionCode[],
  expected: Partial<ExpectationText>,
  waived: readonly string[] = [],
): AdmissionRow => row(name, exit_code, reasons, { base: "parameters", expected }, waived);

/** Changes the text of one parameter. */
const but = (changes: Readonly<Record<string, string>>): Partial<ExpectationText> => ({
  parameters: { ...GIVEN, ...changes },
});

/** A forgery of the run with parameters, as its own table makes it. */
function forgedParameters(name: string): NonNullable<Change["pack"]> {
  const forgery = PARAMETER_ROWS.find((one) => one.name === name);
  if (forgery === undefined) throw new TypeError(`Cannot find the forgery "${name}"`);
  return (base) => forgery.make(base).pack as MemoryPack;
}
const violationsOf = (name: string): Readonly<Record<string, string>> => {
  const { source_authenticity: _signed, ...others } = PARAMETER_ROWS.find((one) => one.name === name)?.violates ?? {};
  return others;
};

const ONE_BINDING = "another value in the params of one item";
const OTHER_COMMIT = "another commit in the genesis";

/** What is expected of the parameters of a run. */
const PARAMETER_CASES: readonly AdmissionRow[] = [
  given("exactly the parameters of the run", 0, [], { parameters: GIVEN }),
  given(
    "the same number and the same instant in other digits",
    0,
    [],
    but({
      factor: "1.5",
      since: "2025-09-30T22:00:00Z",
    }),
  ),
  ...Object.entries({
    version: "v1.2.4",
    commit: "0af4",
    image: "0".repeat(64),
    limit: "4",
    factor: "1.51",
    since: "2025-10-01",
    strict: "false",
  }).map(([name, value]) => given(`another ${name}`, 6, ["parameter_mismatch"], but({ [name]: value }))),
  given("two other parameters", 6, ["parameter_mismatch", "parameter_mismatch"], but({ commit: "a", limit: "4" })),
  given("a parameter that is not given", 2, ["parameter_missing"], { parameters: WITHOUT_COMMIT }),
  given("no parameters", 2, Object.keys(GIVEN).map(() => "parameter_missing" as const), {}),
  given("a parameter that may have any value", 0, [], {
    parameters: WITHOUT_COMMIT,
    any_parameters: ["commit"],
  }, ["parameter commit"]),
  given(
    "parameters that may all have any value",
    0,
    [],
    { any_parameters: Object.keys(GIVEN) },
    Object.keys(GIVEN).map((name) => `parameter ${name}`),
  ),
  ...Object.entries({
    limit: "11",
    strict: "yes",
    image: "AB".repeat(32),
    factor: "1,5",
    since: "yesterday",
    version: "",
  }).map(([name, value]) =>
    given(
      `a text that is no value of ${name}: ${JSON.stringify(value.slice(0, 9))}`,
      2,
      ["parameter_invalid"],
      but({
        [name]: value,
      }),
    )
  ),
  given("an integer in other digits", 2, ["parameter_invalid"], but({ limit: "03" })),
  row("a parameter that was changed in one binding alone", 6, ["violated"], {
    base: "parameters",
    pack: forgedParameters(ONE_BINDING),
    expected: { parameters: GIVEN },
    violates: violationsOf(ONE_BINDING),
  }),
  row("a parameter that was changed in the genesis alone", 6, ["violated"], {
    base: "parameters",
    pack: forgedParameters(OTHER_COMMIT),
    expected: but({ commit: "0af4" }),
    violates: violationsOf(OTHER_COMMIT),
  }),
  row("other parameters, in a run that is not complete", 6, ["parameter_mismatch", "not_complete"], {
    base: "parameters",
    pack: ({ run }) => packOf(run, 3),
    expected: but({ commit: "0af4" }),
  }),
];

/** Signed evidence in place of a producer: what binds it to the parameters of the run is the head. */
const HEAD_CASES: readonly AdmissionRow[] = ([
  ["signed statements that name the head, parameters", true, true, 0, []],
  ["signed statements that leave out the head, parameters", true, false, 4, ["origin_unknown"]],
  ["signed statements that leave out the head, no parameters", false, false, 0, []],
] as const).map(([name, hasParameters, namesHead, exit_code, reasons]) => {
  const law = admissionLaw(false, hasParameters);
  return row(name, exit_code, reasons, {
    pack: played({ law, namesHead }),
    signer: null,
    producers: [],
    named: [KEY_1],
    expected: { law: law.scenario_law_identity, parameters: hasParameters ? { image: IMAGE } : {} },
  });
});

/** More stages than a result line names. */
const STAGE_CASES: readonly AdmissionRow[] = [15, 16, 17].map((complete) =>
  row(`${complete} complete stages`, 3, ["not_complete"], {
    base: "stages",
    pack: upTo(1 + STAGES + complete),
  })
);

/** A row on the run whose approvals waited. */
const waited = (
  what: string,
  trusted: readonly TestKey[],
  version: string,
  exit_code: number,
  reasons: readonly AdmissionCode[],
): AdmissionRow =>
  row(`approvals that waited, ${what}`, exit_code, reasons, {
    base: "people",
    signer: null,
    producers: [],
    named: trusted,
    expected: { stage: "s", parameters: { version } },
  });

/** Approvals that waited, in place of a producer: they name heads of this run, which follow from the parameters. */
const PEOPLE_CASES: readonly AdmissionRow[] = [
  waited("the parameters", [ALICE, ALICE_2, BOB], "v1", 0, []),
  waited("the retired key is not trusted", [ALICE_2, BOB], "v1", 4, ["origin_unknown"]),
  waited("the newer key is not trusted", [ALICE, BOB], "v1", 4, ["origin_unknown"]),
  waited("other parameters", [ALICE, ALICE_2, BOB], "v2", 6, ["parameter_mismatch"]),
];

/** A row on the run that CI, Ann and Ben sign. */
const signed = (
  name: string,
  exit_code: number,
  reasons: readonly AdmissionCode[],
  { play, ...change }: Change & { readonly play?: SignersPlay },
  waived: readonly string[] = [],
): AdmissionRow =>
  row(name, exit_code, reasons, {
    base: play?.isPinned === true ? "pinned" : "signers",
    signer: null,
    producers: [],
    ...play === undefined ? {} : { pack: () => packOf(playSigners(play)) },
    ...change,
  }, waived);

const EVERYBODY = [CI, ANN, BEN];
/** The holder of the key of CI calls it Ann as well, in a gate of their own. */
const STOLEN: SignersPlay = { keys: [CI, calling(CI, ANN), calling(numberedKey("own", 14), BEN)] };
/** The holder of two trusted keys, neither of Ann nor of Ben. */
const TWO_OTHERS: SignersPlay = { keys: [CI, calling(numberedKey("own", 14), ANN), calling(CI, BEN)] };
const ONE_KEY: SignersPlay = { procedure: "gate-kernel-1", keys: [CI, ANN, calling(ANN, BEN)] };
const { signers_unchecked, origin_unchecked } = { signers_unchecked: true, origin_unchecked: true };
const procedures = { accept_procedures: ["gate-kernel-1"] };

/** Who signed: a key's name means what the reader or the law says, never what the pack says. */
const SIGNER_CASES: readonly AdmissionRow[] = [
  signed("signed by those whom the reader names", 0, [], { named: EVERYBODY }),
  signed("a stranger's pack in which the key of CI is called Ann", 6, [
    "signer_differs",
    "signer_differs",
    "origin_unknown",
  ], {
    play: STOLEN,
    named: EVERYBODY,
  }),
  signed("the same pack, for a reader who knows CI alone", 4, ["signer_unknown", "signer_unknown", "origin_unknown"], {
    play: STOLEN,
    named: [CI],
  }),
  signed("the same pack, with every waiver: nothing waives another key", 6, ["signer_differs", "signer_differs"], {
    play: STOLEN,
    named: EVERYBODY,
    expected: { signers_unchecked, origin_unchecked, allow_asserted: true, ...procedures },
  }, ["origin", "signers", "procedure gate-kernel-1", "asserted evidence"]),
  signed("a quorum that two other keys meet", 6, ["signer_differs", "signer_differs", "origin_unknown"], {
    play: TWO_OTHERS,
    named: EVERYBODY,
  }),
  signed("a producer, who named Ann and Ben", 4, ["signer_unknown", "signer_unknown"], {
    play: STOLEN,
    named: [CI],
    signer: KEY_1,
    producers: [KEY_1],
  }),
  signed("a producer, and Ann whom the reader does not name", 4, ["signer_unknown"], {
    named: [CI, BEN],
    signer: KEY_1,
    producers: [KEY_1],
  }),
  signed("a producer, signers unchecked", 0, [], {
    named: [CI],
    signer: KEY_1,
    producers: [KEY_1],
    expected: { signers_unchecked },
  }, ["signers"]),
  signed("signers unchecked leaves the origin unknown", 4, ["origin_unknown"], {
    named: EVERYBODY,
    expected: { signers_unchecked },
  }, ["signers"]),
  signed("signers and origin unchecked", 0, [], { expected: { signers_unchecked, origin_unchecked } }, [
    "origin",
    "signers",
  ]),
  signed("a producer key that did not sign, the origin unchecked", 4, ["producer_unknown"], {
    named: EVERYBODY,
    producers: [KEY_1],
    expected: { origin_unchecked },
  }, ["origin"]),
  signed("a producer key that did not sign, every signer known", 4, ["producer_unknown"], {
    named: EVERYBODY,
    producers: [KEY_1],
  }),
  signed("one key under two names, by the first procedure", 6, ["signer_differs", "procedure_superseded"], {
    play: ONE_KEY,
    named: EVERYBODY,
  }),
  signed("one key under two names, by the first procedure, of a producer", 4, [
    "procedure_superseded",
    "signer_unknown",
  ], { play: ONE_KEY, named: [CI, ANN], signer: KEY_1, producers: [KEY_1] }),
  signed("the first procedure, accepted", 0, [], {
    play: { procedure: "gate-kernel-1" },
    named: EVERYBODY,
    expected: procedures,
  }, ["procedure gate-kernel-1"]),
  signed("a quorum by the first procedure", 4, ["procedure_superseded"], {
    play: { procedure: "gate-kernel-1" },
    named: EVERYBODY,
  }),
  row("the first procedure, of a law that none of its weaknesses touches", 0, [], {
    pack: played({ procedure: "gate-kernel-1" }),
    signer: null,
    producers: [],
    named: [KEY_1],
  }),
  signed("keys that the law pins, unknown to the reader", 0, [], { play: { isPinned: true } }),
  signed("another key than the law pins, named by the reader", 6, ["signer_differs"], {
    play: { isPinned: true },
    named: [calling(BEN, ANN)],
  }),
  row("the version of a typed provider", 0, [], { base: "typed", expected: { providers: { builds: TYPED_VERSION } } }),
  row("another version of a typed provider", 6, ["provider_differs"], {
    base: "typed",
    expected: { providers: { builds: "0".repeat(64) } },
  }),
  row("a provider of which no evidence counted", 4, ["provider_unknown"], {
    base: "typed",
    expected: { providers: { other: "0".repeat(64) } },
  }),
  row("an operator with another key under an id that the law pins", 6, ["violated"], {
    base: "pinned",
    pack: ({ run }) =>
      forge(run, (parts) =>
        replaceProfile(parts, ({ evidence_keys }) => {
          evidence_keys[1].public_key = calling(BEN, ANN).public_key;
        })),
    violates: { scenario_law_construction: "key_differs: revision 1" },
  }),
];

/** The rows: whether a pack is admitted, and why not. */
export const ADMISSION_ROWS: readonly AdmissionRow[] = [
  row("a complete run that its producer signed", 0, []),
  row("all evidence signed by a trusted key", 0, [], { signer: null, producers: [], named: [KEY_1] }),
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
  row("a budget that ends before the manifest", 4, ["material_unknown", "producer_unknown", "origin_unknown"], {
    budget: { hashing_workers: 0 },
  }),
  row("no signature at all", 4, ["producer_unknown", "origin_unknown"], { signer: null }),
  row("no key that a signature could verify under", 4, ["origin_unknown"], { producers: [] }),
  row("a whole pack made by a stranger", 4, ["producer_unknown", "origin_unknown"], { signer: KEY_2 }),
  row("a stranger's envelope under a trusted key for evidence", 4, ["origin_unknown"], {
    signer: KEY_2,
    producers: [],
    named: [KEY_2],
  }),
  row("one item that is not signed by a trusted key", 4, ["origin_unknown"], {
    pack: played({ law: admissionLaw(true), unsigned: ["tested"] }),
    signer: null,
    producers: [],
    named: [KEY_1],
    expected: { law: admissionLaw(true).scenario_law_identity },
  }),
  row("an unopened run, of which no item counted, under a trusted key", 3, ["not_complete", "origin_unknown"], {
    pack: upTo(1),
    signer: null,
    producers: [],
    named: [KEY_1],
  }),
  row("an origin that is not checked", 0, [], { signer: null, producers: [], expected: { origin_unchecked: true } }, [
    "origin",
  ]),
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
    producers: [],
    expected: { allow_asserted: true, origin_unchecked: true },
  }, ["origin", "asserted evidence"]),
  row("another law with the same ids", 6, ["law_mismatch"], { pack: played({ law: admissionLaw(true) }) }),
  row("another law, incomplete, of a stranger", 6, [
    "law_mismatch",
    "not_complete",
    "producer_unknown",
    "origin_unknown",
  ], {
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
  ...PARAMETER_CASES,
  ...HEAD_CASES,
  ...STAGE_CASES,
  row("more parameters than a line names, and values longer than it shows", 3, ["not_complete"], {
    base: "texts",
    expected: { parameters: TEXTS },
  }),
  ...PEOPLE_CASES,
  ...SIGNER_CASES,
];
