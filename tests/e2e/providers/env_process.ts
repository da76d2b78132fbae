/**
 * Queries `PROBE_BYTES` from the provider `env` and prints the answer, for values and permissions that need a separate process.
 *
 * @module
 */

import { askProvider, withProvider } from "./fixtures.ts";

const answer = await withProvider({ name: "env" }, (provider) => askProvider(provider, "get", { key: "PROBE_BYTES" }));
console.log(JSON.stringify(answer));
