/**
 * The second verifier as a process, and the comparison of its reports with those of gate.
 *
 * @module
 */

import assert from "node:assert/strict";
import { encodeBase64 } from "../../../src/canonical/base64.ts";
import { examineRunpack } from "../../../src/runpack/verify/verify.ts";
import type { VerificationRequest } from "../../../src/runpack/verify/types.ts";
import { type MemoryPack, memorySource, PRIMITIVES } from "../../simulation/runpack/memory.ts";
import { randomOf } from "../../simulation/crash/random.ts";
import { unlistedReasons } from "../../simulation/runpack/violations.ts";
import { answerLines, answerText, type Choose } from "./packs.ts";

const SCRIPT = new URL("../../second_verifier/verify.py", import.meta.url).pathname;

/** Seed of the random changes. */
export const SEED = Number(Deno.env.get("GATE_SECOND_VERIFIER_SEED") ?? 1);

/** A second verifier that answers one pack after the other. */
export class SecondVerifier implements AsyncDisposable {
  readonly #child = new Deno.Command("python3", { args: [SCRIPT, "--stream"], stdin: "piped", stdout: "piped" })
    .spawn();
  readonly #writer = this.#child.stdin.getWriter();
  readonly #reader = this.#child.stdout.pipeThrough(new TextDecoderStream()).getReader();
  #pending = "";

  async ask(pack: MemoryPack, request: Partial<VerificationRequest>): Promise<string> {
    const { signatures = [], trusted_keys = null, ...rest } = request;
    const line = JSON.stringify({
      manifest: encodeBase64(pack.manifest),
      objects: Object.fromEntries([...pack.objects].map(([identity, bytes]) => [identity, encodeBase64(bytes)])),
      signatures: signatures.map(encodeBase64),
      trusted_keys: trusted_keys?.map(encodeBase64) ?? null,
      ...rest,
    });
    await this.#writer.write(new TextEncoder().encode(`${line}\n`));
    while (!this.#pending.includes("\n")) {
      const { value, done } = await this.#reader.read();
      if (done) throw new Error("The second verifier ended");
      this.#pending += value;
    }
    const end = this.#pending.indexOf("\n");
    const answer = this.#pending.slice(0, end);
    this.#pending = this.#pending.slice(end + 1);
    return answer;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#writer.close();
    await this.#reader.cancel();
    await this.#child.status;
  }
}

/** Asserts that both verifiers give the same report on a pack, and that gate lists each of its reasons. */
export async function compare(
  second: SecondVerifier,
  pack: MemoryPack,
  changes: Partial<VerificationRequest>,
  what: string,
): Promise<void> {
  const request = {
    runpack_identity: null,
    profile: "full_replay_v1",
    budget: null,
    trusted_keys: null,
    ...changes,
  } as const;
  const examination = await examineRunpack(memorySource(pack), request, PRIMITIVES);
  assert.deepEqual(unlistedReasons(examination.report), [], what);
  assert.deepEqual(answerLines(await second.ask(pack, request)), answerLines(answerText(examination)), what);
}

/** A chooser whose sequence depends on the seed alone. */
export const chooserOf = (seed: number): Choose => {
  const random = randomOf(seed);
  return (below) => Math.floor(random() * below);
};
