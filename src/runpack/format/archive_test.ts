import assert from "node:assert/strict";
import fc from "../../../tests/packages/fast_check.ts";

import { SHA256 } from "../../../tests/simulation/kernel/fixture.ts";
import {
  type ArchiveBytes,
  END_BYTES,
  entryHeader,
  objectName,
  paddingAfter,
  readArchiveIndex,
  readEntryName,
  signatureName,
  strayName,
  verifiableEntries,
} from "./archive.ts";

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
  const { entries, fault } = await readArchiveIndex(over(PACK));
  assert.equal(fault, null);
  assert.deepEqual([...entries.values()], [
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

/** Where the end of {@link PACK} begins. */
const END_AT = PACK.length - END_BYTES;

// Archives that do not hold a pack: the offset of the fault, its reason, and the entries before it.
const REFUSED: readonly [string, Uint8Array, number, RegExp, number][] = [
  ["nothing", new Uint8Array(), 0, /it ends in the middle/, 0],
  ["half a header", PACK.subarray(0, 100), 0, /it ends in the middle/, 0],
  ["half a file", PACK.subarray(0, 1600), 1024, /is cut short/, 1],
  ["no end", PACK.subarray(0, END_AT), END_AT, /it ends in the middle/, 4],
  ["half an end", PACK.subarray(0, END_AT + 512), END_AT, /zero bytes and the end/, 4],
  ["a byte behind the end", bytesOf(PACK, Uint8Array.of(0)), END_AT, /zero bytes and the end/, 4],
  ["a record of zeros behind the end", bytesOf(PACK, new Uint8Array(512)), END_AT, /zero bytes and the end/, 4],
  ["an entry behind the end", bytesOf(PACK, entry(SIGNATURE, "")), END_AT, /zero bytes and the end/, 4],
  ["an entry cut short", sized(LOW, 4096), 0, /is cut short/, 0],
  ["a name that leads out", bytesOf(entry("../manifest.json", "{}"), END), 0, /has no place/, 0],
  ["an absolute name", bytesOf(entry("/manifest.json", "{}"), END), 0, /has no place/, 0],
  ["a name from a folder", bytesOf(entry("./manifest.json", "{}"), END), 0, /has no place/, 0],
  ["an object in another's folder", bytesOf(entry(`objects/zz/${SHA256("a")}`, "{}"), END), 0, /has no place/, 0],
  ["a name in capitals", bytesOf(entry(UPPER, ""), END), 0, /has no place/, 0],
  ["another file", bytesOf(entry("README", ""), END), 0, /has no place/, 0],
  ["an object twice", bytesOf(entry(LOW, ""), entry(LOW, ""), END), 512, /does not come after/, 1],
  ["objects out of order", bytesOf(entry(HIGH, ""), entry(LOW, ""), END), 512, /does not come after/, 1],
  ["a link", foreign(LOW, 156, "2"), 0, /is not the one it has to be/, 0],
  ["a folder", foreign(LOW, 156, "5"), 0, /is not the one it has to be/, 0],
  ["another mode", foreign(LOW, 100, "0000755"), 0, /is not the one it has to be/, 0],
  ["another time", foreign(LOW, 136, "00000000001"), 0, /is not the one it has to be/, 0],
  ["an owner's name", foreign(LOW, 265, "root"), 0, /is not the one it has to be/, 0],
  ["a prefix", foreign(LOW, 345, "etc"), 0, /is not the one it has to be/, 0],
  ["a size in spaces", foreign(LOW, 124, "          0"), 0, /is not the one it has to be/, 0],
  ["a size that is none", foreign(LOW, 124, "xxxxxxxxxxx"), 0, /is not the one it has to be/, 0],
  ["a size below none", foreign(LOW, 124, "-0000000001"), 0, /is not the one it has to be/, 0],
  ["a filling that is not zero", PACK.with(512 + 100, 1), 514, /the filling/, 1],
];

for (const [what, bytes, offset, why, before] of REFUSED) {
  Deno.test(`readArchiveIndex() finds ${what} at byte ${offset}, and ${before} entries before it`, async () => {
    const { entries, fault } = await readArchiveIndex(over(bytes));
    assert.equal(fault?.offset, offset);
    assert.match(fault.why, why);
    assert.equal(entries.size, before);
  });
}

Deno.test("readArchiveIndex() of an archive that is cut anywhere finds where, and verifiableEntries() what is left", async () => {
  for (let length = 0; length < PACK.length; length += 37) {
    const index = await readArchiveIndex(over(PACK.subarray(0, length)));
    assert.ok(index.fault !== null && index.fault.offset <= length, `${length}`);
    // The manifest takes two blocks.
    if (length >= 1024) assert.ok(verifiableEntries(index, null).has("manifest.json"));
    else assert.throws(() => verifiableEntries(index, "a.runpack"), /Cannot read archive "a.runpack" at byte 0: /);
  }
});

Deno.test("readArchiveIndex() accepts entries up to the limit, and not one more", async () => {
  const names = Array.from({ length: 5 }, (_, index) => objectName(SHA256(`${index}`))).sort();
  const archive = over(bytesOf(...names.map((name) => entry(name, "")), END));
  for (const [most, offset] of [[4, 4 * 512], [5, undefined], [6, undefined]] as const) {
    const { entries, fault } = await readArchiveIndex(archive, most);
    assert.deepEqual([entries.size, fault?.offset], [Math.min(most, 5), offset]);
  }
});

Deno.test("readArchiveIndex() rejects every change of a byte of a header", async () => {
  await fc.assert(fc.asyncProperty(fc.nat(511), fc.integer({ min: 1, max: 255 }), async (at, change) => {
    const bytes = bytesOf(entry(LOW, "abc"), END);
    const changed = bytes.with(at, (bytes[at] ?? 0) ^ change);
    assert.notEqual((await readArchiveIndex(over(changed))).fault, null);
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
