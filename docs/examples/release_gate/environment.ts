/**
 * What the demo's child processes get of the surroundings.
 *
 * @module
 */

import { trustedStores } from "./downloads.ts";

/** The path of a `file:` URL on this machine. */
export function fromFileUrl(url: URL): string {
  const path = decodeURIComponent(url.pathname);
  return Deno.build.os === "windows" ? path.slice(1) : path;
}

/** The environment of a child process: as here, without colours and questions, and with the stores of certificates. */
export function inheritedEnvironment(): Record<string, string> {
  return {
    ...Deno.env.toObject(),
    ...trustedStores(),
    NO_COLOR: "1",
    DENO_NO_PROMPT: "1",
    DENO_NO_UPDATE_CHECK: "1",
  };
}
