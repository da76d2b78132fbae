/**
 * One verification as vectors write it: a pack, what lies beside it, a request, and the whole report.
 *
 * @module
 */

import { decodeBase64, encodeBase64 } from "../../../src/canonical/base64.ts";
import type { Identity } from "../../../src/canonical/identity.ts";
import type { JsonObject } from "../../../src/canonical/json.ts";
import { objectName } from "../../../src/runpack/format/archive.ts";
import type { PackSource } from "../../../src/runpack/format/types.ts";
import { asJson } from "../../../src/run/primitives.ts";
import { decideAdmission } from "../../../src/runpack/verify/admission.ts";
import { resultLine } from "../../../src/runpack/verify/result_line.ts";
import type { BudgetLimits, VerificationProfile } from "../../../src/runpack/verify/types.ts";
import { type Examination, examineRunpack, reportAsJson } from "../../../src/runpack/verify/verify.ts";
import { openArchive } from "../../../src/runpack/host/archive_file.ts";
import { type MemoryPack, memorySource, PRIMITIVES } from "../runpack/memory.ts";
import type { Bases, PackText, Piece } from "./encoding.ts";
import { decodePack, decodePieces } from "./encoding.ts";

/** What a verifier is asked, with public keys in base64. */
export interface RequestText {
  readonly profile: VerificationProfile;
  readonly runpack_identity: Identity | null;
  readonly budget: BudgetLimits | null;
  readonly trusted_keys: readonly string[] | null;
}

/** A whole verification that asks for nothing special. */
export const WHOLE: RequestText = {
  profile: "full_replay_v1",
  runpack_identity: null,
  budget: null,
  trusted_keys: null,
};

/** What lies in a pack beside what {@link PackText} holds. */
export interface Surrounding {
  /** Names of files that are there and cannot be read; `files` is the list of all files. */
  readonly unreadable?: readonly string[];
  /** Names of files that have no place in a pack. */
  readonly strays?: readonly string[];
}

/** What a vector expects of a pack: an expectation as JSON. */
export interface ExpectationText {
  readonly law: Identity;
  readonly parameters: Readonly<Record<string, string>>;
  readonly any_parameters: readonly string[];
  readonly stage: string | null;
  readonly not_before: number | null;
  /** Public keys in base64, by the name that the reader gives each. */
  readonly keys: Readonly<Record<string, string>>;
  readonly providers: Readonly<Record<string, Identity>>;
  readonly accept_procedures: readonly string[];
  readonly origin_unchecked: boolean;
  readonly signers_unchecked: boolean;
  readonly allow_asserted: boolean;
}

/** What a verifier answers of a pack; every member is null where there is nothing to verify. */
export interface CaseAnswer {
  readonly line: string | null;
  readonly report: JsonObject | null;
  readonly verdict_identity: Identity | null;
  /** The decision, where something is expected of the pack. */
  readonly admission?: JsonObject;
}

/** A vector: a pack or a single file, a request, and what comes of it. */
export interface PackCase extends Surrounding, CaseAnswer {
  readonly name: string;
  /** Whether the pack holds a text that is not JSON, or JSON that is not of the form that its place asks for. */
  readonly refused_by?: "scanner" | "form";
  /** What of violations.json the pack shows. */
  readonly shows?: { readonly claim: string; readonly code: string; readonly says: string };
  readonly pack?: PackText;
  /** A single file in place of a pack; its pieces copy from the base pack that `like` names. */
  readonly like?: string;
  readonly archive?: readonly Piece[];
  readonly signatures?: readonly (readonly Piece[])[];
  readonly request: RequestText;
  /** Keys of those who may have made the pack, in base64. */
  readonly producer_keys?: readonly string[];
  readonly expected?: ExpectationText;
}

/** A pack whose manifest may be missing. */
export interface LoosePack {
  readonly manifest: Uint8Array | null;
  readonly objects: MemoryPack["objects"];
}

function sourceOf(pack: LoosePack, { unreadable = [], strays = [] }: Surrounding): PackSource {
  const inner = memorySource({ manifest: pack.manifest ?? new Uint8Array(), objects: pack.objects });
  const lists = async function* (): AsyncGenerator<string> {
    if (unreadable.includes("files")) throw new Error("Cannot list the files of the pack");
    yield* inner.list?.() ?? [];
    yield* strays;
  };
  return {
    manifest: () => {
      if (unreadable.includes("manifest.json")) return Promise.resolve("unreadable");
      return pack.manifest === null ? Promise.resolve("missing") : inner.manifest();
    },
    object: (identity, most) => unreadable.includes(objectName(identity)) ? "unreadable" : inner.object(identity, most),
    list: lists,
  };
}

const keyBytes = (key: string): Uint8Array => decodeBase64(key) ?? new Uint8Array();

/** Verifies a pack, as a vector asks. */
export function verifyCase(
  pack: LoosePack,
  around: Surrounding,
  signatures: readonly Uint8Array[],
  request: RequestText,
  producers: readonly string[] = [],
): Promise<Examination> {
  return verifySource(sourceOf(pack, around), signatures, request, producers);
}

function verifySource(
  source: PackSource,
  signatures: readonly Uint8Array[],
  { trusted_keys, ...request }: RequestText,
  producers: readonly string[] = [],
): Promise<Examination> {
  const keys = trusted_keys?.map(keyBytes) ?? null;
  const asked = { ...request, trusted_keys: keys, signatures };
  return examineRunpack(source, asked, PRIMITIVES, producers.map(keyBytes));
}

/** What a verifier answers. */
export function answerOf(
  examination: Examination | null,
  expected?: ExpectationText,
  producerKeys: readonly string[] = [],
): CaseAnswer {
  if (examination === null) return { line: null, report: null, verdict_identity: null };
  const { report, verdict_identity } = examination;
  const answer = { line: resultLine(examination), report: reportAsJson(report), verdict_identity };
  if (expected === undefined) return answer;
  const { reasons, is_trust_waived: _waived, ...decision } = decideAdmission(examination, {
    ...expected,
    document: null,
    parameters: new Map(Object.entries(expected.parameters)),
    keys: new Map(Object.entries(expected.keys)),
    providers: new Map(Object.entries(expected.providers)),
    needs_producer: producerKeys.length > 0,
  });
  const admission = asJson({ ...decision, reasons: reasons.map(({ code }) => code) }) as JsonObject;
  return { ...answer, admission };
}

/** Verifies a single file, as a vector asks; null where there is nothing to verify. */
export async function verifyArchive(bytes: Uint8Array, request: RequestText): Promise<Examination | null> {
  const path = await Deno.makeTempFile({ suffix: ".runpack" });
  try {
    await Deno.writeFile(path, bytes);
    const archive = await openArchive(path).catch(() => null);
    if (archive === null) return null;
    const signatures = (await archive.signatures()).map((file) => file.bytes);
    try {
      return await verifySource(archive.source, signatures, request);
    } finally {
      archive.close();
    }
  } finally {
    await Deno.remove(path);
  }
}

/** Reads a vector and answers it. */
export async function runCase(vector: PackCase, bases: Bases): Promise<CaseAnswer> {
  const { pack, archive, like, signatures = [], request, producer_keys, expected } = vector;
  if (archive !== undefined) {
    return answerOf(await verifyArchive(decodePieces(archive, bases.get(like ?? "")), request));
  }
  const base = bases.get(pack?.like ?? "");
  const envelopes = signatures.map((pieces) => decodePieces(pieces, base));
  const found = await verifyCase(decodePack(pack ?? {}, bases), vector, envelopes, request, producer_keys);
  return answerOf(found, expected, producer_keys);
}

/** A public key as requests name it. */
export function keyText(key: Uint8Array): string {
  return encodeBase64(key);
}
