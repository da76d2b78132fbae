/**
 * A large pack: a run with payloads of 2 MiB.
 *
 * @module
 */

import { canonicalize } from "../../src/canonical/canonicalize.ts";
import { contentHash, identifyCanonical } from "../../src/canonical/identity.ts";
import { SHA256 } from "../simulation/kernel/fixture.ts";
import { forge } from "../simulation/forged_packs/forge.ts";
import type { MemoryPack } from "../simulation/runpack/memory.ts";
import { playGoldenRun } from "../simulation/runpack/run.ts";

const PAYLOAD_BYTES = 2 * 1024 * 1024;

/** A run with so many submissions, the payload of each 2 MiB and unlike all others. */
export function largePack(payloads: number): MemoryPack {
  const run = playGoldenRun(payloads);
  const first = run.records.length - payloads;
  return forge(run, (parts) => {
    for (let index = 0; index < payloads; index++) {
      const value = `${index} `.padEnd(PAYLOAD_BYTES - 64, "All of this is what one artifact says. ");
      const body = { kind: "json", value };
      const payload_identity = identifyCanonical(SHA256, "payload", canonicalize(body));
      parts.bodies.set(`payload ${payload_identity}`, body);
      Object.assign(parts.records[first + index].body, {
        payload_identity,
        content_hash: contentHash(SHA256, canonicalize(value)),
      });
    }
  });
}
