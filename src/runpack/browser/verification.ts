/**
 * Verifies and renders a pack in the page: the common verifier and markup, with hashes and signatures in plain script.
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

/** The input of the user beside the pack. */
export interface Asked {
  /** Public keys in base64, one on each line; empty where there are none. */
  readonly keys: string;
  /** The expected runpack identity; empty for any. */
  readonly identity: string;
}

/** The rendered result. */
export interface Shown {
  readonly markup: string;
  readonly report: VerificationReport;
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

/**
 * Verifies a pack by the full profile and renders it.
 *
 * @throws {TypeError} If a key or the identity is invalid
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
