/** Signs access tokens for tests, without the package that verifies them. */

import { createHmac, generateKeyPairSync, type KeyObject, sign } from "node:crypto";

/** Members of a JSON object; those of null are left out. */
export type Members = Readonly<Record<string, unknown>>;

/** The keys of an issuer, by the name of their algorithm. */
export const PAIRS = {
  ES256: generateKeyPairSync("ec", { namedCurve: "P-256" }),
  EdDSA: generateKeyPairSync("ed25519"),
  RS256: generateKeyPairSync("rsa", { modulusLength: 2048 }),
};

/** What a token has beside the claims that stand for a valid one. */
export interface TokenWish {
  readonly header?: Members;
  readonly claims?: Members;
  readonly alg?: keyof typeof PAIRS;
  readonly key?: KeyObject;
}

/** A public key for a set of keys. */
export function jwk(key: KeyObject, kid: string | null, more: Members = {}): Members {
  return { ...key.export({ format: "jwk" }), ...kid === null ? {} : { kid }, ...more };
}

/** The set of keys of {@link PAIRS}. */
export const KEY_SET: readonly Members[] = Object.entries(PAIRS).map(([alg, { publicKey }]) => jwk(publicKey, alg));

/** The members that are not null. */
export function given(members: Members): Members {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== null));
}

function part(members: Members): string {
  return new TextEncoder().encode(JSON.stringify(given(members))).toBase64({
    alphabet: "base64url",
    omitPadding: true,
  });
}

/** Makes the function that signs tokens with some claims. */
export function tokens(usual: Members): (wish?: TokenWish) => string {
  return ({ header = {}, claims = {}, alg = "ES256", key = PAIRS[alg].privateKey } = {}) => {
    const text = `${part({ alg, kid: alg, typ: "at+jwt", ...header })}.${part({ ...usual, ...claims })}`;
    const settings = { key, dsaEncoding: "ieee-p1363" as const };
    const signature = sign(alg === "EdDSA" ? null : "sha256", new TextEncoder().encode(text), settings);
    return `${text}.${signature.toString("base64url")}`;
  };
}

/** A token without a signature. */
export function unsigned(claims: Members): string {
  return `${part({ alg: "none", typ: "at+jwt" })}.${part(claims)}.`;
}

/** A token with an HMAC by the text of the public key, as a verifier that trusts `alg` would check it. */
export function signedWithPublicKey(claims: Members): string {
  const text = `${part({ alg: "HS256", kid: "RS256", typ: "at+jwt" })}.${part(claims)}`;
  const secret = PAIRS.RS256.publicKey.export({ format: "pem", type: "spki" });
  return `${text}.${createHmac("sha256", secret).update(text).digest("base64url")}`;
}
