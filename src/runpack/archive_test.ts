import assert from "node:assert/strict";
import fc from "fast-check";

import { SHA256 } from "../../tests/simulation/kernel_fixture.ts";
import {
  type ArchiveBytes,
  ArchiveError,
  END_BYTES,
  entryHeader,
  objectName,
  paddingAfter,
  readArchiveIndex,
  readEntryName,
  signatureName,
  strayName,
} from "./archive.ts";
import { MANIFEST_BYTES, OBJECT_BYTES, SIGNATURE_BYTES, SIGNATURES } from "./types.ts";

const bytesOf = (...parts: readonly Uint8Array[]): Uint8Array => {
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
};

function entry(name: string, text: string): Uint8Array {
  const bytes = new TextEncoder().encode(text);
  return bytesOf(entryHeader(name, bytes.length), bytes, new Uint8Array(paddingAfter(bytes.length)));
}

const END = new Uint8Array(END_BYTES);

function over(bytes: Uint8Array, size = bytes.length): ArchiveBytes {
  return {
    size,
    read: (offset, count) => Promise.resolve(bytes.subarray(offset, Math.min(bytes.length, offset + count))),
  };
}

const [LOW = "", HIGH = ""] = [objectName(SHA256("a")), objectName(SHA256("b"))].sort();
const SIGNATURE = signatureName(SHA256("key"));
const PACK = bytesOf(
  entry("manifest.json", "{}"),
  entry(LOW, "x".repeat(512)),
  entry(HIGH, ""),
  entry(SIGNATURE, "{}"),
  END,
);

Deno.test("readArchiveIndex() finds every entry", async () => {
  const index = await readArchiveIndex(over(PACK));
  assert.deepEqual([...index.values()], [
    { name: "manifest.json", offset: 512, bytes: 2 },
    { name: LOW, offset: 1536, bytes: 512 },
    { name: HIGH, offset: 2560, bytes: 0 },
    { name: SIGNATURE, offset: 3072, bytes: 2 },
  ]);
});

Deno.test("entryHeader() is one that tar reads", async () => {
  const folder = await Deno.makeTempDir();
  try {
    await Deno.writeFile(`${folder}/pack.tar`, PACK);
    const { code, stdout } = await new Deno.Command("tar", { args: ["-tvf", `${folder}/pack.tar`], env: { TZ: "UTC" } })
      .output();
    assert.equal(code, 0);
    const lines = new TextDecoder().decode(stdout).trim().split("\n");
    assert.deepEqual(lines.map((line) => line.split(/\s+/).at(-1)), ["manifest.json", LOW, HIGH, SIGNATURE]);
    assert.match(lines[0] ?? "", /^-rw-r--r-- 0\/0 +2 1970-01-01 00:00/);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

/** An entry whose header says another size than it has, with a right sum. */
const sized = (name: string, bytes: number): Uint8Array => bytesOf(entryHeader(name, bytes), new Uint8Array(1024), END);

/** A header with one field overwritten and its sum corrected, as another tar would write it. */
function foreign(name: string, offset: number, text: string): Uint8Array {
  const header = entryHeader(name, 0);
  header.set(new TextEncoder().encode(text), offset);
  header.set(new TextEncoder().encode("        "), 148);
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.set(new TextEncoder().encode(`${sum.toString(8).padStart(6, "0")}\0 `), 148);
  return bytesOf(header, END);
}

const UPPER = `objects/AB/${"AB".repeat(32)}`;

// Archives that are none of a pack, and what the error says.
const REFUSED: readonly [string, Uint8Array, RegExp][] = [
  ["nothing", new Uint8Array(), /it ends in the middle/],
  ["half a header", PACK.subarray(0, 100), /it ends in the middle/],
  ["no end", PACK.subarray(0, PACK.length - END_BYTES), /is cut short|ends in the middle/],
  ["half an end", PACK.subarray(0, PACK.length - 512), /is cut short/],
  ["a byte behind the end", bytesOf(PACK, Uint8Array.of(0)), /zero bytes and the end/],
  ["a record of zeros behind the end", bytesOf(PACK, new Uint8Array(512)), /zero bytes and the end/],
  ["an entry behind the end", bytesOf(PACK, entry(SIGNATURE, "")), /zero bytes and the end/],
  ["an entry cut short", sized(LOW, 4096), /is cut short/],
  ["a name that leads out", bytesOf(entry("../manifest.json", "{}"), END), /has no place/],
  ["an absolute name", bytesOf(entry("/manifest.json", "{}"), END), /has no place/],
  ["a name from a folder", bytesOf(entry("./manifest.json", "{}"), END), /has no place/],
  ["an object in another's folder", bytesOf(entry(`objects/zz/${SHA256("a")}`, "{}"), END), /has no place/],
  ["a name in capitals", bytesOf(entry(UPPER, ""), END), /has no place/],
  ["another file", bytesOf(entry("README", ""), END), /has no place/],
  ["an object twice", bytesOf(entry(LOW, ""), entry(LOW, ""), END), /does not come after/],
  ["objects out of order", bytesOf(entry(HIGH, ""), entry(LOW, ""), END), /does not come after/],
  ["a link", foreign(LOW, 156, "2"), /is not the one it has to be/],
  ["a folder", foreign(LOW, 156, "5"), /is not the one it has to be/],
  ["another mode", foreign(LOW, 100, "0000755"), /is not the one it has to be/],
  ["another time", foreign(LOW, 136, "00000000001"), /is not the one it has to be/],
  ["an owner's name", foreign(LOW, 265, "root"), /is not the one it has to be/],
  ["a prefix", foreign(LOW, 345, "etc"), /is not the one it has to be/],
  ["a size in spaces", foreign(LOW, 124, "          0"), /is not the one it has to be/],
  ["a size that is none", foreign(LOW, 124, "xxxxxxxxxxx"), /has more than/],
  ["a filling that is not zero", PACK.with(512 + 100, 1), /the filling/],
  ["a manifest beyond its limit", sized("manifest.json", MANIFEST_BYTES + 1), /has more than 1048576 bytes/],
  ["an object beyond its limit", sized(LOW, OBJECT_BYTES + 1), /has more than/],
  ["a signature beyond its limit", sized(SIGNATURE, SIGNATURE_BYTES + 1), /has more than/],
];

for (const [what, bytes, message] of REFUSED) {
  Deno.test(`readArchiveIndex() refuses ${what}`, async () => {
    await assert.rejects(
      readArchiveIndex(over(bytes)),
      (error) => error instanceof ArchiveError && message.test(error.message),
    );
  });
}

Deno.test("readArchiveIndex() takes 64 signatures, and not 65", async () => {
  const names = Array.from({ length: SIGNATURES + 1 }, (_, index) => signatureName(SHA256(`key ${index}`))).sort();
  const archive = (count: number): ArchiveBytes =>
    over(bytesOf(...names.slice(0, count).map((name) => entry(name, "")), END));
  assert.equal((await readArchiveIndex(archive(SIGNATURES))).size, SIGNATURES);
  await assert.rejects(readArchiveIndex(archive(SIGNATURES + 1)), ArchiveError);
});

Deno.test("readArchiveIndex() refuses every change of a header's byte", async () => {
  await fc.assert(fc.asyncProperty(fc.nat(511), fc.integer({ min: 1, max: 255 }), async (at, change) => {
    const bytes = bytesOf(entry(LOW, "abc"), END);
    const changed = bytes.with(at, (bytes[at] ?? 0) ^ change);
    await assert.rejects(readArchiveIndex(over(changed)), ArchiveError);
  }));
});

// Paths that have no place in a pack, and what each is called.
const STRAYS: readonly (readonly [string, string])[] = [
  ["README", "README"],
  ["notes/of/today", "notes"],
  ["objects/README", "objects/README"],
  ["objects/zz/file", "objects/zz"],
  ["objects/ab/file", "objects/ab/file"],
  [`${LOW}/file`, LOW],
  ["signatures/of/somebody", "signatures/of"],
];

for (const [path, name] of STRAYS) {
  Deno.test(`strayName() calls ${path} ${name}`, () => assert.equal(strayName(path), name));
}

Deno.test("readEntryName() reads the three forms of a name", () => {
  assert.deepEqual(readEntryName("manifest.json"), { part: "manifest" });
  assert.deepEqual(readEntryName(LOW), { part: "object", identity: LOW.slice(11) });
  assert.deepEqual(readEntryName(SIGNATURE), { part: "signature", keyId: SHA256("key") });
  for (const name of ["", "manifest.json\n", "objects/ab", `${LOW}/x`, `signatures/${SHA256("a")}`]) {
    assert.equal(readEntryName(name), null);
  }
});
