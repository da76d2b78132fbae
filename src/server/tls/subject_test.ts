import assert from "node:assert/strict";
import { DER_TAGS, DerError } from "./der.ts";
import { certificateSubject } from "./subject.ts";

const CN = [0x55, 4, 3];
const O = [0x55, 4, 10];
const OU = [0x55, 4, 11];
const T61_STRING = 0x14;

function element(tag: number, ...parts: readonly (readonly number[])[]): number[] {
  const content = parts.flat();
  assert.ok(content.length < 0x80);
  return [tag, content.length, ...content];
}

const bytesOf = (text: string): number[] => [...new TextEncoder().encode(text)];
const attribute = (type: readonly number[], value: readonly number[]): number[] =>
  element(DER_TAGS.SEQUENCE, element(DER_TAGS.OBJECT_IDENTIFIER, type), value);
const text = (value: string): number[] => element(DER_TAGS.UTF8_STRING, bytesOf(value));
const part = (...attributes: readonly number[][]): number[] => element(DER_TAGS.SET, ...attributes);
const named = (value: readonly number[]): number[] => part(attribute(CN, value));

/** A certificate of which only the subject says something. */
function certificate(...parts: readonly number[][]): Uint8Array {
  const empty = element(DER_TAGS.SEQUENCE);
  const serial = element(DER_TAGS.INTEGER, [1]);
  const body = element(DER_TAGS.SEQUENCE, serial, empty, empty, empty, element(DER_TAGS.SEQUENCE, ...parts));
  return Uint8Array.from(element(DER_TAGS.SEQUENCE, body));
}

/** What the subject is made of, and the text; null where the certificate is refused. */
const ROWS: readonly (readonly [what: string, parts: readonly number[][], subject: string | null])[] = [
  ["no part", [], ""],
  ["two parts", [part(attribute(O, text("Example"))), named(text("a"))], "CN=a,O=Example"],
  ["two attributes in one part", [part(attribute(CN, text("a")), attribute(OU, text("b")))], "OU=b+CN=a"],
  ["a comma", [named(text("a,O=b"))], "CN=a\\,O=b"],
  ["blanks at both ends", [named(text(" a "))], "CN=\\ a\\ "],
  ["a number sign first", [named(text("#a"))], "CN=\\#a"],
  ["characters that separate", [named(text('a"b+c\\d;<>'))], 'CN=a\\"b\\+c\\\\d\\;\\<\\>'],
  ["a NUL", [named(text("a\0b"))], "CN=a\\00b"],
  ["a line feed", [named(text("a\nb"))], "CN=a\\0Ab"],
  ["UTF-8", [named(text("Jörg"))], "CN=Jörg"],
  ["BMPString", [named(element(DER_TAGS.BMP_STRING, [0, 0x4a, 0, 0xf6]))], "CN=Jö"],
  ["UniversalString", [named(element(DER_TAGS.UNIVERSAL_STRING, [0, 0, 0, 0x4a, 0, 0, 0, 0xf6]))], "CN=Jö"],
  ["T61String", [named(element(T61_STRING, [0x4a, 0xf6]))], "CN=#14024af6"],
  ["a number", [named(element(DER_TAGS.INTEGER, [1]))], "CN=#020101"],
  ["an unknown type", [part(attribute([0x2a, 3], text("a")))], "1.2.3=#0c0161"],
  ["UTF-8 that is not valid", [named(element(DER_TAGS.UTF8_STRING, [0x61, 0xff]))], null],
  ["PrintableString that is not ASCII", [named(element(DER_TAGS.PRINTABLE_STRING, [0x61, 0xe9]))], null],
  ["an attribute type that is not minimal", [part(attribute([0x55, 4, 0x80, 3], text("a")))], null],
  ["an attribute type that begins with zeros", [part(attribute([0x80, 0x55, 4, 3], text("a")))], null],
  ["a length that is not minimal", [named([DER_TAGS.UTF8_STRING, 0x81, 1, 0x61])], null],
  ["an indefinite length", [[DER_TAGS.SET, 0x80, ...attribute(CN, text("a")), 0, 0]], null],
  ["an element that is cut off", [named([DER_TAGS.UTF8_STRING, 2, 0x61])], null],
  [
    "a third element",
    [part(element(DER_TAGS.SEQUENCE, element(DER_TAGS.OBJECT_IDENTIFIER, CN), text("a"), text("b")))],
    null,
  ],
];

for (const [what, parts, subject] of ROWS) {
  Deno.test(`certificateSubject() ${what}: ${subject === null ? "refused" : JSON.stringify(subject)}`, () => {
    const der = certificate(...parts);
    if (subject === null) assert.throws(() => certificateSubject(der), DerError);
    else assert.equal(certificateSubject(der), subject);
  });
}
