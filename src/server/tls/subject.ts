/**
 * Writes the subject of a certificate as one string (RFC 4514): its parts in reverse order, with escaped values, so
 * that no value can imitate another part.
 */

import { certificateBody, FIELDS } from "./certificate.ts";
import { DER_TAGS, type DerElement, DerError, dottedIdentifier, readInside, stringOf } from "./der.ts";

/** Short names of attribute types (RFC 4514 section 3, and descriptors of the LDAP registry that certificates use). */
const SHORT_NAMES: ReadonlyMap<string, string> = new Map([
  ["2.5.4.3", "CN"],
  ["2.5.4.4", "SN"],
  ["2.5.4.5", "serialNumber"],
  ["2.5.4.6", "C"],
  ["2.5.4.7", "L"],
  ["2.5.4.8", "ST"],
  ["2.5.4.9", "STREET"],
  ["2.5.4.10", "O"],
  ["2.5.4.11", "OU"],
  ["2.5.4.12", "title"],
  ["2.5.4.42", "GN"],
  ["2.5.4.46", "dnQualifier"],
  ["2.5.4.97", "organizationIdentifier"],
  ["0.9.2342.19200300.100.1.1", "UID"],
  ["0.9.2342.19200300.100.1.25", "DC"],
  ["1.2.840.113549.1.9.1", "emailAddress"],
]);

/**
 * The subject of a certificate.
 *
 * @param certificate DER of an X.509 certificate (RFC 5280)
 * @throws {DerError} Where it cannot be read
 */
export function certificateSubject(certificate: Uint8Array): string {
  return distinguishedName(certificateBody(certificate).fields[FIELDS.SUBJECT]);
}

/** A `Name` (RFC 5280 section 4.1.2.4) as RFC 4514 writes it. */
function distinguishedName(name: DerElement | undefined): string {
  const parts = readInside(name, DER_TAGS.SEQUENCE).map((part) =>
    readInside(part, DER_TAGS.SET).map(attributeText).reverse().join("+")
  );
  return parts.reverse().join(",");
}

/** Attribute types before `=`: short names of text values by their lower case, and dotted identifiers of hex values. */
const NAMED = new Map([...SHORT_NAMES.values()].map((name) => [name.toLowerCase(), name]));
const DOTTED = /^\d+(?:\.\d+)+$/;

/**
 * The normal form of a name, as {@link distinguishedName} writes it: the case of types and hex digits and the escapes
 * may differ. Only a text that equals its normal form can be the subject of a certificate.
 *
 * @returns Null for a text that is not a name of RFC 4514, or has unknown types
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { writtenSubject } from "@/server/tls/subject.ts";
 *
 * const written = "CN=a\\, b+UID=7,O=Example,1.2.3=#0c0161";
 * assert.equal(writtenSubject(written), written);
 * assert.equal(writtenSubject("street=J\\C3\\B6rg 1,OU=#"), "STREET=J\u00f6rg 1,OU=\\#");
 * for (const text of ["/O=Example/CN=a", "O = Example, CN = a", "O=Example, CN=a"]) assert.equal(writtenSubject(text), null);
 * ```
 */
export function writtenSubject(text: string): string | null {
  let written = "";
  let end = 0;
  for (const { 0: attribute, index } of text.matchAll(/(?:[^\\,+]|\\.)+/gs)) {
    const separator = text.slice(end, index);
    const one = writtenAttribute(attribute);
    if (one === null || separator.length !== (end === 0 ? 0 : 1)) return null;
    written += separator + one;
    end = index + attribute.length;
  }
  return end === text.length && end > 0 ? written : null;
}

function writtenAttribute(text: string): string | null {
  const [, given = "", value = ""] = /^([^=]*)=(.*)$/s.exec(text) ?? [];
  const type = NAMED.get(given.toLowerCase());
  if (/^#(?:[0-9a-f]{2})+$/i.test(value)) {
    return type !== undefined || DOTTED.test(given) ? `${type ?? given}=${value.toLowerCase()}` : null;
  }
  const plain = type === undefined ? null : unescapeValue(value);
  return plain === null ? null : `${type}=${escapeValue(plain)}`;
}

/** The plain text of an escaped value; null if it has an unescaped special character. */
function unescapeValue(value: string): string | null {
  if (/^ |(?<!\\)(?:\\\\)* $/.test(value)) return null;
  const bytes: number[] = [];
  for (const [part, code, char] of value.matchAll(/\\(?:([0-9a-f]{2})|(.))|[^\\]/gisu)) {
    if (code === undefined && char === undefined && /["+,;<>]/.test(part)) return null;
    bytes.push(...code === undefined ? new TextEncoder().encode(char ?? part) : [parseInt(code, 16)]);
  }
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(Uint8Array.from(bytes));
  } catch {
    return null;
  }
}

function attributeText(attribute: DerElement): string {
  const [type, value, ...rest] = readInside(attribute, DER_TAGS.SEQUENCE);
  if (type?.tag !== DER_TAGS.OBJECT_IDENTIFIER || value === undefined || rest.length > 0) {
    throw new DerError("Cannot read certificate: subject has a part that is not an attribute");
  }
  const identifier = dottedIdentifier(type.content);
  const shortName = SHORT_NAMES.get(identifier);
  const text = shortName === undefined ? null : stringOf(value);
  return text === null ? `${shortName ?? identifier}=#${value.whole.toHex()}` : `${shortName}=${escapeValue(text)}`;
}

/**
 * Escapes a value (RFC 4514 section 2.4). Control characters are escaped too, so that a subject is always one line.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { escapeValue } from "@/server/tls/subject.ts";
 *
 * assert.equal(escapeValue(" a,O=b\n"), "\\ a\\,O=b\\0A");
 * assert.deepEqual([" ", "a ", "\\ "].map(escapeValue), ["\\ ", "a\\ ", "\\\\\\ "]);
 * ```
 */
export function escapeValue(value: string): string {
  const escaped = value.replace(/["+,;<>\\]/g, "\\$&").replace(
    // deno-lint-ignore no-control-regex
    /[\x00-\x1f\x7f]/g,
    (char) => `\\${char.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")}`,
  );
  // A single space is escaped as the first character already.
  const ended = value.length > 1 ? escaped.replace(/ $/, "\\ ") : escaped;
  return ended.replace(/^[ #]/, "\\$&");
}
