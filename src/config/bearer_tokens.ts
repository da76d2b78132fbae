/** The items of `server.auth.bearer_tokens`: `sha256:HEX` of a token, `env:NAME` of a variable that holds it, or itself. */

import type { Sha256 } from "../canonical/identity.ts";
import type { ReadVariable } from "./postgres_address.ts";
import type { ConfigProblem } from "./problems.ts";
import { referencedVariable } from "./request_headers.ts";
import type { GateConfig } from "./types.ts";

const HASH = "sha256:";

/** The forms of an item. */
export const TOKEN_FORMS: RegExp = /^(?:sha256:[0-9a-f]{64}|env:[^=\0]+|(?!sha256:|env:).*)$/;

/** The digest that an item gives; null for any other item. */
function digestOfItem(item: string): string | null {
  return item.startsWith(HASH) ? item.slice(HASH.length) : null;
}

/** Whether an item is the token itself. */
export function isLiteralToken(item: string): boolean {
  return digestOfItem(item) === null && referencedVariable(item) === null;
}

/** A token in a header: no white space and no control characters. */
const TOKEN = /^[^\s\p{Cc}]{1,256}$/u;

/** The SHA-256 of the token that an item stands for, or why it stands for none; no message shows a token. */
export function digestOfToken(
  item: string,
  read: ReadVariable,
  sha256: Sha256,
): string | { readonly fault: string } {
  const variable = referencedVariable(item);
  const token = variable === null ? item : read(variable);
  if (token === undefined || token === "") return { fault: `refers to variable "${variable}", which is not set` };
  if (variable !== null && !TOKEN.test(token)) {
    return { fault: `refers to variable "${variable}", which must hold 1 to 256 characters without white space` };
  }
  return digestOfItem(item) ?? sha256(new TextEncoder().encode(token));
}

/** The problems of items that refer to variables. */
export function tokenProblems({ server }: GateConfig, read: ReadVariable, sha256: Sha256): ConfigProblem[] {
  return (server.auth?.bearer_tokens ?? []).flatMap((item, index) => {
    const digest = digestOfToken(item, read, sha256);
    return typeof digest === "string" ? [] : [{ path: `server.auth.bearer_tokens[${index}]`, message: digest.fault }];
  });
}
