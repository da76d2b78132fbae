/**
 * Asks the provider `env` for `PROBE_BYTES` and prints the answer: for values and permissions that only a process of its
 * own can have.
 *
 * @module
 */

import { askProvider, withProvider } from "./providers_fixtures.ts";

const answer = await withProvider({ name: "env" }, (provider) => askProvider(provider, "get", { key: "PROBE_BYTES" }));
console.log(JSON.stringify(answer));
