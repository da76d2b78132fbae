/**
 * Verifies and renders a pack in the page: the common verifier and markup, with hashes and signatures in plain script.
 */

import { decodeBase64 } from "../../canonical/base64.ts";
import { viewPack } from "../material_view.ts";
import { type Identity, isIdentity } from "../../canonical/identity.ts";
import { firstMillisFrom } from "../../law/value/timestamp.ts";
import { type Admission, decideAdmission, type Expectation } from "../verify/admission.ts";
import { type Examination, examineRunpack } from "../verify/verify.ts";
import type { TrustedPublicKey, VerificationPrimitives } from "../verify/types.ts";
import { renderPack } from "../view/page.ts";
import { verifyEd25519 } from "./ed25519.ts";
import type { OpenedPack } from "./files.ts";
import { hashStream, sha256 } from "./sha256.ts";

/** The input of the user beside the pack. A list is a text of lines; a text is empty where nothing is given. */
export interface Asked {
  /** Public keys in base64 that may have signed evidence, and the pack. */
  readonly keys: string;
  /** The expected runpack identity. */
  readonly identity: string;
  /** The identity of the expected law. With it the page decides on the pack. */
  readonly law: string;
  /** `NAME=VALUE` of each parameter. */
  readonly parameters: string;
  /** Names of parameters that may have any value. */
  readonly anyParameters: string;
  readonly stage: string;
  /** Public keys in base64 of those who may have made the pack. */
  readonly producers: string;
  /** The earliest instant of completion, in RFC 3339. */
  readonly notBefore: string;
  /** `NAME=KEY`, a public key in base64, of each person or program whose key the reader knows. */
  readonly names: string;
  /** `NAME=IDENTITY` of the version of each typed provider. */
  readonly providers: string;
  /** Superseded procedures that are accepted. */
  readonly acceptProcedures: string;
  readonly originUnchecked: boolean;
  readonly signersUnchecked: boolean;
  readonly allowAsserted: boolean;
}

/** The rendered result. */
export interface Shown {
  readonly markup: string;
  readonly examination: Examination;
  /** Null where no law is expected. */
  readonly admission: Admission | null;
}

/** The keys in the lines of a text, or the first invalid line. */
export function readKeys(lines: string): readonly TrustedPublicKey[] | { readonly wrong: string } {
  const keys: TrustedPublicKey[] = [];
  for (const line of lines.split("\n").map((one) => one.trim()).filter((one) => one !== "")) {
    const key = decodeBase64(line);
    if (key?.length !== 32) return { wrong: line };
    keys.push(key);
  }
  return keys;
}

/** Yields to the page, so that it can draw and respond. */
const pause = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 0));

const PRIMITIVES: VerificationPrimitives = { sha256, verifyEd25519, hashStream, pause };

function keysOf(lines: string): readonly TrustedPublicKey[] {
  const keys = readKeys(lines);
  if ("wrong" in keys) throw new TypeError(`Expected a public key, 32 bytes in base64, got "${keys.wrong}"`);
  return keys;
}

function identityOf(text: string, what: string): Identity | null {
  const identity = text.trim();
  if (identity === "") return null;
  if (isIdentity(identity)) return identity;
  throw new TypeError(`Expected a ${what} identity, 64 lower-case hex digits, got "${identity}"`);
}

const linesOf = (text: string): string[] => text.split("\n").map((one) => one.trim()).filter((one) => one !== "");

/** The texts of `NAME=VALUE` lines, by name. */
function namedLines(lines: string): ReadonlyMap<string, string> {
  const texts = new Map<string, string>();
  for (const line of linesOf(lines)) {
    const at = line.indexOf("=");
    const name = line.slice(0, at);
    if (at < 1 || texts.has(name)) throw new TypeError(`Expected NAME=VALUE, each name once, got "${line}"`);
    texts.set(name, line.slice(at + 1));
  }
  return texts;
}

/** The expectation of the user; null where no law is expected. */
function expectationOf(asked: Asked): Expectation | null {
  const law = identityOf(asked.law, "law");
  if (law === null) return null;
  const keys = namedLines(asked.names);
  keysOf([...keys.values()].join("\n"));
  const instant = asked.notBefore.trim();
  // The parsers of browsers read fewer forms, and an instant that is not a number is before none.
  const not_before = firstMillisFrom(instant);
  if (instant !== "" && not_before === null) {
    throw new TypeError(`Expected an instant such as 2026-03-01T09:00:00Z, got "${instant}"`);
  }
  return {
    law,
    document: null,
    parameters: namedLines(asked.parameters),
    any_parameters: linesOf(asked.anyParameters),
    stage: asked.stage === "" ? null : asked.stage,
    not_before,
    keys,
    needs_producer: linesOf(asked.producers).length > 0,
    providers: namedLines(asked.providers),
    accept_procedures: linesOf(asked.acceptProcedures),
    origin_unchecked: asked.originUnchecked,
    signers_unchecked: asked.signersUnchecked,
    allow_asserted: asked.allowAsserted,
  };
}

/**
 * Verifies a pack by the full profile, decides on it where a law is expected, and renders it.
 *
 * @throws {TypeError} If a key, an identity or another part of the expectation is invalid
 */
export async function verifyAndRender({ source, signatures }: OpenedPack, asked: Asked): Promise<Shown> {
  const keys = keysOf(asked.keys);
  const producers = keysOf(asked.producers);
  const expected = identityOf(asked.identity, "runpack");
  const expectation = expectationOf(asked);
  const request = {
    runpack_identity: expected,
    profile: "full_replay_v1",
    budget: null,
    trusted_keys: keys.length === 0 ? null : keys,
    signatures,
  } as const;
  const examination = await examineRunpack(source, request, PRIMITIVES, producers);
  const admission = expectation === null ? null : decideAdmission(examination, expectation);
  const view = await viewPack(source, PRIMITIVES);
  const { markup } = renderPack({ examination, expected, view, ...admission === null ? {} : { admission } });
  return { markup, examination, admission };
}
