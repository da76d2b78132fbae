/**
 * The authorities of time and of run identities. Both are passed as parameters, so that a simulation can use its own.
 *
 * @module
 */

import { encodeHex } from "../../canonical/hex.ts";
import type { Allocation } from "../../run/command.ts";
import type { TimeSource } from "../../run/types.ts";

/** Stamps acceptance times. Null = no stamp now. */
export interface TimeAuthority {
  readonly read: () => TimeSource | null;
}

/** Allocates run identities. Null = no identity now. */
export interface RunIdAuthority {
  readonly allocate: () => Allocation | null;
}

let lastReading: TimeSource | null = null;

/** The system clock, Unix milliseconds. It may step back; acceptance times never do. One object for each reading. */
export const SYSTEM_CLOCK: TimeAuthority = {
  read: () => {
    const now = Date.now();
    if (lastReading?.reading_unix_millis === now) return lastReading;
    lastReading = {
      authority_revision: "1",
      reading_unix_millis: now,
      time_authority_id: "gate.system_clock",
    };
    return lastReading;
  },
};

/** 128 random bits for each run. */
export const RANDOM_RUN_IDS: RunIdAuthority = {
  allocate: () => ({
    authority_id: "gate.random",
    run_id: encodeHex(crypto.getRandomValues(new Uint8Array(16))),
  }),
};
