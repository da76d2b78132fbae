/**
 * The files of tests/vectors/runpack/packs: what makes each of them, and the one command that writes them all:
 *
 *     deno run -A tests/simulation/pack_vectors/files.ts
 *
 * @module
 */

import { join } from "node:path";
import type { JsonObject } from "../../../src/canonical/json.ts";
import { BUDGET_MEMBERS } from "../../../src/runpack/verify/types.ts";
import violations from "../../vectors/runpack/violations.json" with { type: "json" };
import { FORGERIES } from "../forged_packs/forgeries.ts";
import { forge } from "../forged_packs/forge.ts";
import { type MemoryPack, packOf } from "../runpack/memory.ts";
import { playGoldenRun } from "../runpack/run.ts";
import { ABSENT_ROWS, HONEST_ROWS } from "./absent_rows.ts";
import { ARCHIVE_REQUEST, ARCHIVE_ROWS } from "./archive_rows.ts";
import { ADMISSION_ROWS } from "./admission_rows.ts";
import { playAdmissionRun, playStagesRun, playTextsRun } from "./admission_run.ts";
import { answerOf, type PackCase, type RequestText, verifyArchive, verifyCase, WHOLE } from "./cases.ts";
import { type Bases, encodeFile, encodePack, type PackText } from "./encoding.ts";
import { CALENDAR_ROWS } from "./calendar_run.ts";
import { ENVELOPE_ROWS } from "./envelope_rows.ts";
import { playEvidenceRun } from "./evidence_run.ts";
import { FORGED_ROWS } from "./forged_rows.ts";
import { makeJudgements } from "./judgements.ts";
import { limited, limitsOf, playLongRun, SEGMENT_ROWS, SEVERAL_LIMITS } from "./other_rows.ts";
import { PACK_ROWS } from "./pack_rows.ts";
import type { Base, CodeName, CodeRow, Made } from "./rows.ts";
import { PARAMETER_ROWS, WITHOUT_PARAMETERS } from "./parameter_rows.ts";
import { playParametersRun } from "./parameters_run.ts";
import { playSigners } from "./signers_run.ts";
import { TEXT_ROWS } from "./text_rows.ts";
import { playTypedRun, TYPED_ROWS } from "./typed_run.ts";
import { playWaiting } from "../forged_packs/waiting.ts";
import { playPeople } from "../forged_packs/people.ts";
import { PEOPLE_ROWS } from "./people_rows.ts";
import { WAITING_ROWS } from "./waiting_rows.ts";

/** Where the files lie. */
export const PACKS_FOLDER = new URL("../../vectors/runpack/packs", import.meta.url).pathname;

/** A vector as it was made, with what its table says of it. */
export interface MadeCase {
  readonly vector: PackCase;
  /** Null where there is nothing to verify. */
  readonly violates: Readonly<Record<string, string>> | null;
}

/** A file of vectors. */
export interface VectorFile {
  readonly name: string;
  readonly about: string;
  readonly cases: readonly MadeCase[];
}

interface World {
  readonly bases: Bases;
  readonly base: (name: string) => Base;
}

/** The base packs, and the runs that they are of. */
async function makeWorld(): Promise<World> {
  const runs = new Map([
    ["release", playGoldenRun(0, () => "gate-kernel-2")],
    ["evidence", playEvidenceRun("gate-kernel-2")],
    ["evidence_1", playEvidenceRun("gate-kernel-1")],
    ["long", playLongRun()],
    ["admission", playAdmissionRun()],
    ["stages", playStagesRun()],
    ["texts", playTextsRun()],
    ["typed", playTypedRun()],
    ["parameters", playParametersRun()],
    ["waiting", playWaiting()],
    ["people", playPeople()],
    ["signers", playSigners()],
    ["pinned", playSigners({ isPinned: true })],
  ]);
  const bases = new Map<string, MemoryPack>();
  for (const [name, run] of runs) bases.set(name, await packOf(run));
  return {
    bases,
    base: (name) => {
      const run = runs.get(name);
      const pack = bases.get(name);
      if (run === undefined || pack === undefined) throw new TypeError(`Cannot find the base pack "${name}"`);
      return { run, pack };
    },
  };
}

type Entry = typeof violations.claims[number]["codes"][number];

/** The entries of violations.json of a code of a claim. */
export function entriesOf(claim: string, code: string): readonly Entry[] {
  return violations.claims.find((one) => one.claim === claim)?.codes.filter((one) => one.code === code) ?? [];
}

/** Which entry of its code a reason is, from 0; null where several have the same kind of place. */
export function entryOfReason(claim: string, reason: string): number | null {
  const [code = "", place = ""] = reason.split(": ");
  const kindOf = (text: string): string => text.replaceAll(/\d+|\b[NML]\b/g, "#").replace(/ [0-9a-f#]{64}$/, "");
  const fitting = entriesOf(claim, code).flatMap(({ places }, nth) =>
    places.length === 0 ? (place === "" ? [nth] : []) : places.some((one) => kindOf(one) === kindOf(place)) ? [nth] : []
  );
  return fitting.length === 1 ? fitting[0] ?? null : null;
}

/** The reasons of claims that a report says are violated. */
export function violatedIn(report: JsonObject | null): Readonly<Record<string, string>> {
  const claims = (report?.["claims"] ?? []) as readonly { claim: string; status: { status: string; reason: string } }[];
  return Object.fromEntries(
    claims.filter(({ status }) => status.status === "violated").map(({ claim, status }) => [claim, status.reason]),
  );
}

/** What of violations.json a vector shows. */
function shownBy([claim, code, stated]: CodeName, report: JsonObject | null): PackCase["shows"] & object {
  const nth = stated ?? entryOfReason(claim, violatedIn(report)[claim] ?? "") ?? 0;
  const says = entriesOf(claim, code)[nth]?.says;
  if (says === undefined) throw new TypeError(`Cannot find code ${nth} "${code}" of claim "${claim}"`);
  return { claim, code, says };
}

/** Makes a vector of a pack: what lies beside it, what is asked, and the report. */
async function makeCase(
  bases: Bases,
  like: string | undefined,
  row: {
    readonly name: string;
    readonly violates: Readonly<Record<string, string>>;
    readonly code?: CodeName;
  },
  made: Made,
  envelopes: readonly Uint8Array[] = [],
): Promise<MadeCase> {
  const { pack, request = WHOLE, unreadable, strays, producer_keys, expected } = made;
  const base = bases.get(like ?? "");
  const answer = answerOf(await verifyCase(pack, made, envelopes, request, producer_keys), expected, producer_keys);
  const vector: PackCase = {
    name: row.name,
    ...row.code === undefined ? {} : { shows: shownBy(row.code, answer.report) },
    pack: encodePack(pack, bases, like),
    ...unreadable === undefined ? {} : { unreadable },
    ...strays === undefined ? {} : { strays },
    ...envelopes.length === 0 ? {} : { signatures: envelopes.map((bytes) => encodeFile(base, bytes)) },
    request,
    ...producer_keys === undefined ? {} : { producer_keys },
    ...expected === undefined ? {} : { expected },
    ...answer,
  };
  return { vector, violates: row.violates };
}

async function makeCases<T>(rows: readonly T[], make: (row: T) => Promise<MadeCase>): Promise<MadeCase[]> {
  const cases: MadeCase[] = [];
  for (const row of rows) cases.push(await make(row));
  return cases;
}

/** The entry of violations.json that a forgery shows, where its reason alone is ambiguous. */
const ENTRIES: Readonly<Record<string, number>> = {
  "a record with a member more": 2,
  "a record that is not canonical": 3,
};

/** The forgeries of runpack_forgeries.ts as rows of codes: the first claim that each of them violates is what it shows. */
function forgeryRows(): readonly CodeRow[] {
  return FORGERIES.map(({ name, forge: change, violates }) => ({
    name,
    code: [...Object.entries(violates)[0] as [string, string], ENTRIES[name]],
    violates,
    make: ({ run }) => ({ pack: forge(run, change) }),
  }));
}

function codesFile({ bases, base }: World): Promise<MadeCase[]> {
  return makeCases(
    [...PACK_ROWS, ...forgeryRows(), ...FORGED_ROWS],
    (row) => makeCase(bases, "release", row, row.make(base("release"))),
  );
}

async function textsFile({ bases, base }: World): Promise<MadeCase[]> {
  return await makeCases(TEXT_ROWS, async (row) => {
    const { vector, violates } = await makeCase(bases, "release", row, row.make(base("release")));
    return { vector: { ...vector, refused_by: row.refused_by }, violates };
  });
}

async function evidenceFile({ bases, base }: World): Promise<MadeCase[]> {
  // Older records are judged by their own procedure, and nothing is violated of them either.
  const of = (name: string, rows: typeof ABSENT_ROWS): Promise<MadeCase[]> =>
    makeCases(rows, (row) => makeCase(bases, name, row, row.make(base(name))));
  const older = HONEST_ROWS.map((row) => ({ ...row, name: `gate-kernel-1, ${row.name}` }));
  return [...await of("evidence", ABSENT_ROWS), ...await of("evidence_1", older)];
}

async function parametersFile({ bases, base }: World): Promise<MadeCase[]> {
  const of = (name: string, rows: typeof PARAMETER_ROWS): Promise<MadeCase[]> =>
    makeCases(rows, (row) => makeCase(bases, name, row, row.make(base(name))));
  return [...await of("parameters", PARAMETER_ROWS), ...await of("release", WITHOUT_PARAMETERS)];
}

function segmentsFile({ bases, base }: World): Promise<MadeCase[]> {
  return makeCases(SEGMENT_ROWS, async (row) => makeCase(bases, "long", row, await row.make(base("long"))));
}

function typedFile({ bases, base }: World): Promise<MadeCase[]> {
  return makeCases(TYPED_ROWS, (row) => makeCase(bases, "typed", row, row.make(base("typed"))));
}

function calendarFile({ bases }: World): Promise<MadeCase[]> {
  return makeCases(CALENDAR_ROWS, (row) => makeCase(bases, undefined, row, row.make()));
}

function waitingFile({ bases, base }: World): Promise<MadeCase[]> {
  return makeCases(WAITING_ROWS, (row) => makeCase(bases, "waiting", row, row.make(base("waiting"))));
}

function peopleFile({ bases }: World): Promise<MadeCase[]> {
  return makeCases(PEOPLE_ROWS, (row) => makeCase(bases, "people", row, row.make()));
}

function archivesFile({ base }: World): Promise<MadeCase[]> {
  const { pack } = base("release");
  return makeCases(ARCHIVE_ROWS, async ({ name, departs, make }) => {
    const bytes = make(pack);
    const answer = answerOf(await verifyArchive(bytes, ARCHIVE_REQUEST));
    const vector = { name, like: "release", archive: encodeFile(pack, bytes), request: ARCHIVE_REQUEST, ...answer };
    const violates = departs === "none"
      ? null
      : typeof departs === "number"
      ? { artifact_tree_integrity: `archive_invalid: byte ${departs}` }
      : departs ?? {};
    return { vector, violates };
  });
}

function envelopesFile({ bases, base }: World): Promise<MadeCase[]> {
  const { pack } = base("release");
  return makeCases(ENVELOPE_ROWS, ({ name, envelopes, keys }) => {
    const request: RequestText = {
      ...WHOLE,
      profile: "integrity_only_v1",
      trusted_keys: keys?.map(({ public_key }) => public_key) ?? null,
    };
    const bytes = envelopes(pack).map((text) => new TextEncoder().encode(text));
    return makeCase(bases, "release", { name, violates: {} }, { pack, request }, bytes);
  });
}

function admissionsFile({ bases, base }: World): Promise<MadeCase[]> {
  return makeCases(ADMISSION_ROWS, async ({ name, base: like, violates = {}, make }) => {
    const { envelopes = [], ...made } = await make(base(like));
    return await makeCase(bases, like, { name, violates }, made, envelopes);
  });
}

async function limitsFile({ bases, base }: World): Promise<MadeCase[]> {
  const { pack } = base("evidence");
  const { report: { budget } } = await verifyCase(pack, {}, [], WHOLE);
  return await makeCases([...limitsOf(budget, 4), ...SEVERAL_LIMITS], (limits) => {
    const names = Object.entries(limits).map(([member, limit]) => `${member} ${limit}`);
    const name = names.length === 0 ? "no limits" : names.join(", ");
    return makeCase(bases, "evidence", { name, violates: {} }, { pack, request: limited(limits) });
  });
}

const FILES: readonly (readonly [name: string, about: string, make: (world: World) => Promise<MadeCase[]>])[] = [
  ["codes", "A pack for each code of violations.json", codesFile],
  ["texts", "Texts that a scanner refuses, and records that are not of the form of one", textsFile],
  ["evidence", "A run of every kind of evidence, with values withheld, honest and forged", evidenceFile],
  ["parameters", "A run with parameters, honest and forged", parametersFile],
  ["segments", "A run of two segments", segmentsFile],
  ["typed", "A run that acquires from a typed provider, honest and forged", typedFile],
  ["calendar", "A run that a weekly window holds, honest and forged", calendarFile],
  ["waiting", "A run whose evidence waited, honest and forged", waitingFile],
  ["people", "A run in which people decide over days, at each limit and beyond it", peopleFile],
  ["archives", "Single files", archivesFile],
  ["envelopes", "Signatures beside a pack", envelopesFile],
  ["admissions", "What a reader expects of a pack, and whether it is admitted", admissionsFile],
  ["limits", `Verifications under limits of ${BUDGET_MEMBERS.length} members`, limitsFile],
];

/** Makes all vectors of packs. */
export async function makeVectors(): Promise<{ readonly bases: Bases; readonly files: readonly VectorFile[] }> {
  const world = await makeWorld();
  const files: VectorFile[] = [];
  for (const [name, about, make] of FILES) files.push({ name, about, cases: await make(world) });
  return { bases: world.bases, files };
}

/** A JSON object whose list stands one item a line, so that a change is easy to see. */
function withLines(members: JsonObject | object, list: string, items: readonly unknown[]): string {
  const head = JSON.stringify(members).slice(1, -1);
  return `{${head},"${list}":[\n${items.map((item) => JSON.stringify(item)).join(",\n")}\n]}\n`;
}

/** Base packs that are written as changes to one before them. */
const CHANGED_BASES: Readonly<Record<string, string>> = { long: "release", evidence_1: "evidence" };

/** The base packs as they are written. */
function basesText(bases: Bases): string {
  const packs = [...bases].map(([name, pack]): PackText & { readonly name: string } => ({
    name,
    ...encodePack(pack, bases, CHANGED_BASES[name]),
  }));
  return withLines({ about: "The packs that the vectors of the other files are changes of" }, "packs", packs);
}

function judgementsText(): string {
  const { laws, profiles, cases } = makeJudgements();
  const about = "Items in, judgement out: what counts for one condition, why the rest does not, and what it comes to";
  return withLines({ about, laws, profiles }, "cases", cases.map(({ vector }) => vector));
}

/** The files as they are written, by name. */
export function textsOf({ bases, files }: Awaited<ReturnType<typeof makeVectors>>): ReadonlyMap<string, string> {
  return new Map([
    ["bases.json", basesText(bases)],
    ...files.map(({ name, about, cases }) =>
      [`${name}.json`, withLines({ about }, "cases", cases.map(({ vector }) => vector))] as const
    ),
    ["judgements.json", judgementsText()],
  ]);
}

if (import.meta.main) {
  for (const [name, text] of textsOf(await makeVectors())) await Deno.writeTextFile(join(PACKS_FOLDER, name), text);
}
