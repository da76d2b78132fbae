/** Credentials that a service repeats in its response. They are in no evidence, because records keep evidence. */

import { decodeBase64 } from "../../canonical/base64.ts";
import { type Finding, observed } from "../builtin/result.ts";
import type { CallQuestion } from "./call.ts";

/** Characters from which a text is a secret that a response may not repeat by chance. */
const SECRET_CHARACTERS = 8;

/** The texts of a call's credentials in every form in which a service knows them. */
export function secretsOf({ credentials }: Pick<CallQuestion, "credentials">): readonly string[] {
  return credentials.flatMap(([, value]) => {
    const bare = value.replace(/^(?:Bearer|Basic) /, "");
    const decoded = value.startsWith("Basic ") ? decodeBase64(bare) : null;
    const pair = decoded === null ? "" : new TextDecoder().decode(decoded);
    return [bare, pair, pair.slice(pair.indexOf(":") + 1)].filter((text) => text !== "");
  });
}

/** A text without secrets. */
export function hide(text: string, secrets: readonly string[]): string {
  return secrets.reduce((shown, secret) => shown.replaceAll(secret, "[redacted]"), text);
}

/** Whether bytes contain a secret, as it is or in JSON. */
export function repeats(bytes: Uint8Array, secrets: readonly string[]): boolean {
  const long = secrets.filter(({ length }) => length >= SECRET_CHARACTERS);
  if (long.length === 0) return false;
  const text = new TextDecoder("latin1").decode(bytes);
  return long.some((secret) => text.includes(latin1(secret)) || text.includes(latin1(inJson(secret))));
}

/** Whether canonical JSON contains a secret in its texts or names. */
export function repeatsInJson(text: string, secrets: readonly string[]): boolean {
  return secrets.some((secret) => secret.length >= SECRET_CHARACTERS && text.includes(inJson(secret)));
}

function inJson(secret: string): string {
  return JSON.stringify(secret).slice(1, -1);
}

/** The finding in place of a response with a secret. */
export function credentialRepeated(): Finding {
  return observed("credential_repeated", "The response repeats a credential of the call");
}

/** The UTF-8 bytes of a text as characters of Latin-1. */
function latin1(text: string): string {
  return new TextDecoder("latin1").decode(new TextEncoder().encode(text));
}
