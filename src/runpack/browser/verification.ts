/**
 * What the page does with a pack: the same verifier and the same markup as everywhere, over hashes and signatures in the language alone.
 *
 * @module
 */

import { decodeBase64 } from "../../canonical/base64.ts";
import { viewPack } from "../material_view.ts";
import { verifyRunpack } from "../verify/verify.ts";
import type { TrustedPublicKey, VerificationPrimitives, VerificationReport } from "../verify/types.ts";
import { renderPack } from "../view/page.ts";
import { verifyEd25519 } from "./ed25519.ts";
import type { OpenedPack } from "./files.ts";
import { hashStream, sha256 } from "./sha256.ts";

/** What was asked beside the pack. */
export interface Asked {
  /** Public keys, in base64, one a line; empty for none. */
  readonly keys: string;
  /** The runpack identity that it has to have; empty for any. */
  readonly identity: string;
}

/** What is to be shown. */
export interface Shown {
  readonly markup: string;
  readonly report: VerificationReport;
}

/** The keys of a text of lines, or the first line that is none. */
export function readKeys(lines: string): readonly TrustedPublicKey[] | { readonly wrong: string } {
  const keys: TrustedPublicKey[] = [];
  for (const line of lines.split("\n").map((one) => one.trim()).filter((one) => one !== "")) {
    const key = decodeBase64(line);
    if (key?.length !== 32) return { wrong: line };
    keys.push(key);
  }
  return keys;
}

/** Lets the page draw and answer now and then. */
const pause = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 0));

const PRIMITIVES: VerificationPrimitives = { sha256, verifyEd25519, hashStream, pause };

/**
 * Verifies a pack by its whole profile and renders it.
 *
 * @throws {TypeError} Where a key or the identity is none
 */
export async function verifyAndRender({ source, signatures }: OpenedPack, asked: Asked): Promise<Shown> {
  const keys = readKeys(asked.keys);
  if ("wrong" in keys) throw new TypeError(`Expected a public key, 32 bytes in base64, got "${keys.wrong}"`);
  const identity = asked.identity.trim();
  if (identity !== "" && !/^[0-9a-f]{64}$/.test(identity)) {
    throw new TypeError(`Expected a runpack identity, 64 lower-case hex digits, got "${identity}"`);
  }
  const report = await verifyRunpack(source, {
    runpack_identity: identity === "" ? null : identity,
    profile: "full_replay_v1",
    budget: null,
    trusted_keys: keys.length === 0 ? null : keys,
    signatures,
  }, PRIMITIVES);
  const { markup } = renderPack({ report, view: await viewPack(source, PRIMITIVES) });
  return { markup, report };
}
