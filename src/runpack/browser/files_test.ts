import assert from "node:assert/strict";
import { ADMISSION_ROWS, makeAdmission } from "../../../tests/simulation/pack_vectors/admission_rows.ts";
import { type MemoryPack, memorySource, packOf, PRIMITIVES } from "../../../tests/simulation/runpack/memory.ts";
import { playGoldenRun } from "../../../tests/simulation/runpack/run.ts";
import {
  ARCHIVE_ENTRIES,
  ArchiveError,
  entryHeader,
  MANIFEST_NAME,
  objectName,
  paddingAfter,
  signatureName,
} from "../format/archive.ts";
import { MANIFEST_BYTES, SIGNATURE_BYTES, SIGNATURES } from "../format/types.ts";
import { verifyRunpack } from "../verify/verify.ts";
import { openFiles, openSingleFile, type PackFile, withinFolder } from "./files.ts";
import { all } from "../view/markup.ts";
import { type Asked, readKeys, verifyAndRender } from "./verification.ts";

const PACK = await packOf(playGoldenRun());

const FILES: readonly PackFile[] = [
  { path: MANIFEST_NAME, content: new Blob([new Uint8Array(PACK.manifest)]) },
  ...[...PACK.objects].map(([identity, bytes]) => ({
    path: objectName(identity),
    content: new Blob([new Uint8Array(bytes)]),
  })),
];

function archive(files: readonly PackFile[]): Blob {
  const sorted = files.toSorted((a, b) => a.path < b.path ? -1 : 1);
  const parts = sorted.flatMap(({ path, content }) => [
    entryHeader(path, content.size),
    content,
    new Uint8Array(paddingAfter(content.size)),
  ]);
  return new Blob([...parts, new Uint8Array(1024)]);
}

const ASKED: Asked = {
  keys: "",
  identity: "",
  law: "",
  parameters: "",
  anyParameters: "",
  stage: "",
  producers: "",
  notBefore: "",
  names: "",
  providers: "",
  acceptProcedures: "",
  originUnchecked: false,
  signersUnchecked: false,
  allowAsserted: false,
};

Deno.test("verifyAndRender() returns the common report, from a folder and from a single file", async () => {
  const request = {
    runpack_identity: null,
    profile: "full_replay_v1",
    budget: null,
    trusted_keys: null,
    signatures: [],
  } as const;
  const wanted = await verifyRunpack(memorySource(PACK), request, PRIMITIVES);
  for (const opened of [await openFiles(FILES), await openSingleFile(archive(FILES))]) {
    const { examination: { report }, markup } = await verifyAndRender(opened, ASKED);
    assert.equal(report.report_identity, wanted.report_identity);
    assert.ok(markup.includes("Nothing contradicts this runpack."));
  }
});

Deno.test("openFiles() lists what has no place in a pack, and misses what is not there", async () => {
  const stray = { path: "notes.txt", content: new Blob(["x"]) };
  const codes = async (files: readonly PackFile[]): Promise<string> => {
    const { examination: { report } } = await verifyAndRender(await openFiles(files), ASKED);
    const found = report.claims.flatMap(({ status }) => status.status === "violated" ? [status.reason] : []);
    return found.map((reason) => reason.split(":")[0]).join(" ");
  };
  assert.equal(await codes([...FILES, stray]), "object_unreferenced");
  assert.equal(await codes(FILES.slice(1)), "manifest_missing");
  assert.equal(await codes(FILES.filter((_, index) => index !== 1)), "object_missing");
  assert.equal(await codes([]), "manifest_missing");
});

Deno.test("openSingleFile() rejects a file without a manifest, and opens one that is damaged behind it", async () => {
  await assert.rejects(openSingleFile(new Blob(["none"])), ArchiveError);
  await assert.rejects(openSingleFile(archive(FILES).slice(0, 600)), ArchiveError);
  const whole = archive(FILES);
  const { examination: { report }, markup } = await verifyAndRender(await openSingleFile(whole.slice(0, -1)), ASKED);
  const claim = report.claims.find(({ status }) => status.status === "violated");
  assert.deepEqual([claim?.claim, claim?.status], ["artifact_tree_integrity", {
    status: "violated",
    method: "object_tree_traversal_v6",
    reason: `archive_invalid: byte ${whole.size - 1024}`,
  }]);
  assert.ok(markup.includes("do not believe what this page shows"));
});

/** Entries of a dropped pack against the most that are read, and whether it verifies. */
const ENTRIES: readonly (readonly [most: number, verifies: boolean])[] = [
  [FILES.length + 1, true],
  [FILES.length, true],
  [FILES.length - 1, false],
];

for (const [most, verifies] of ENTRIES) {
  Deno.test(`a dropped pack of ${FILES.length} entries, ${most} of which may be read, verifies: ${verifies}`, async () => {
    assert.equal(ARCHIVE_ENTRIES, 1_000_000);
    const { examination: { report } } = await verifyAndRender(await openSingleFile(archive(FILES), most), ASKED);
    const reasons = report.claims.flatMap(({ status }) => status.status === "violated" ? [status.reason] : []);
    assert.equal(reasons.length === 0, verifies, reasons.join());
    assert.equal(reasons.some((reason) => reason.startsWith("archive_invalid: byte ")), !verifies, reasons.join());
  });
}

/**
 * Bytes of a manifest, and the first fault that the page finds. It is padded behind its end, so that its size alone
 * decides.
 */
const MANIFESTS: readonly (readonly [bytes: number, fault: string])[] = [
  [MANIFEST_BYTES - 1, "manifest_not_canonical"],
  [MANIFEST_BYTES, "manifest_not_canonical"],
  [MANIFEST_BYTES + 1, "manifest_too_large"],
  [MANIFEST_BYTES + 1_000_000, "manifest_too_large"],
];

for (const [bytes, fault] of MANIFESTS) {
  Deno.test(`a dropped pack whose manifest has ${bytes} bytes: ${fault}, and at most ${MANIFEST_BYTES + 1} are read`, async () => {
    const padded = new Blob([new Uint8Array(PACK.manifest), " ".repeat(bytes - PACK.manifest.length)]);
    const files = [{ path: MANIFEST_NAME, content: padded }, ...FILES.slice(1)];
    const opened = await openSingleFile(archive(files));
    const manifest = await opened.source.manifest();
    assert.equal(manifest.length, Math.min(bytes, MANIFEST_BYTES + 1));
    const { examination: { report } } = await verifyAndRender(opened, ASKED);
    const reasons = report.claims.flatMap(({ status }) => status.status === "violated" ? [status.reason] : []);
    assert.equal(reasons[0]?.split(":")[0], fault);
  });
}

const READ = 3_000_000;

for (const size of [READ - 1, READ, READ + 1, READ + 2, 2 * READ]) {
  const most = Math.min(size, READ + 1);
  Deno.test(`an object of ${size} bytes in a dropped pack, ${READ} of which may be read: ${most} are read`, async () => {
    const [identity = ""] = PACK.objects.keys();
    const content = new Blob([new Uint8Array(size)]);
    const { source } = await openSingleFile(archive([{ path: objectName(identity), content }, ...FILES.slice(0, 1)]));
    const chunks = source.object(identity, READ);
    assert.ok(typeof chunks !== "string");
    let read = 0;
    for await (const chunk of chunks) read += chunk.length;
    assert.equal(read, most);
  });
}

/** Envelopes beside a dropped pack: how many of so many bytes, and how many are read. */
const ENVELOPES: readonly (readonly [count: number, bytes: number, read: number])[] = [
  [1, SIGNATURE_BYTES - 1, 1],
  [1, SIGNATURE_BYTES, 1],
  [1, SIGNATURE_BYTES + 1, 0],
  [SIGNATURES - 1, 2, SIGNATURES - 1],
  [SIGNATURES, 2, SIGNATURES],
  [SIGNATURES + 1, 2, SIGNATURES],
];

for (const [count, bytes, read] of ENVELOPES) {
  Deno.test(`a dropped pack with ${count} envelopes of ${bytes} bytes: ${read} are read`, async () => {
    const envelopes = Array.from({ length: count }, (_, index) => ({
      path: signatureName(index.toString(16).padStart(64, "0")),
      content: new Blob([new Uint8Array(bytes)]),
    }));
    assert.equal((await openSingleFile(archive([...FILES, ...envelopes]))).signatures.length, read);
  });
}

Deno.test("readKeys() reads one key on each line, and names an invalid line", () => {
  const key = "11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=";
  assert.deepEqual(readKeys(""), []);
  assert.equal([readKeys(` ${key}\n\n${key}`)].flat().length, 2);
  assert.deepEqual(readKeys(`${key}\nAAAA`), { wrong: "AAAA" });
});

Deno.test("withinFolder() leaves out the folder's own name", () => {
  assert.equal(withinFolder("pack/manifest.json"), "manifest.json");
});

function filesOf(pack: MemoryPack, envelopes: readonly Uint8Array[]): PackFile[] {
  return [
    { path: "manifest.json", content: new Blob([new Uint8Array(pack.manifest)]) },
    ...[...pack.objects].map(([identity, bytes]) => ({
      path: objectName(identity),
      content: new Blob([new Uint8Array(bytes)]),
    })),
    ...envelopes.map((bytes, index) => ({
      path: signatureName(`${index}`.repeat(64)),
      content: new Blob([new Uint8Array(bytes)]),
    })),
  ];
}

// The earliest instant of a run that was completed at 2025-10-09T08:53:24Z, and the exit code.
const EARLIEST: readonly (readonly [string, number])[] = [
  ["2025-10-09t08:53:24.000000z", 0],
  ["2025-10-09T08:53:24.0001Z", 3],
  ["2016-12-31T23:59:60Z", 0],
  ["2025-12-31T23:59:60Z", 3],
];

for (const [notBefore, exit_code] of EARLIEST) {
  Deno.test(`the page decides: not before ${notBefore}: ${exit_code}`, async () => {
    const [row] = ADMISSION_ROWS;
    assert.ok(row !== undefined);
    const { pack, expected: { law } } = await makeAdmission(row);
    const asked = { ...ASKED, law, notBefore, originUnchecked: true };
    const { admission } = await verifyAndRender(await openFiles(filesOf(pack, [])), asked);
    assert.equal(admission?.exit_code, exit_code, admission?.line);
  });
}

for (const row of ADMISSION_ROWS) {
  const { name, exit_code, reasons } = row;
  Deno.test(`the page decides: ${name}: ${exit_code}`, async () => {
    const { pack, envelopes = [], request, producer_keys = [], expected } = await makeAdmission(row);
    // The page sets no limits.
    if (request?.budget !== null) return;
    const { admission, markup } = await verifyAndRender(await openFiles(filesOf(pack, envelopes)), {
      keys: (request.trusted_keys ?? []).join("\n"),
      identity: "",
      law: expected.law,
      parameters: Object.entries(expected.parameters).map(([name, value]) => `${name}=${value}`).join("\n"),
      anyParameters: expected.any_parameters.join("\n"),
      stage: expected.stage ?? "",
      producers: producer_keys.join("\n"),
      notBefore: expected.not_before === null ? "" : new Date(expected.not_before).toISOString(),
      names: Object.entries(expected.keys).map(([name, key]) => `${name}=${key}`).join("\n"),
      providers: Object.entries(expected.providers).map(([name, version]) => `${name}=${version}`).join("\n"),
      acceptProcedures: expected.accept_procedures.join("\n"),
      originUnchecked: expected.origin_unchecked,
      signersUnchecked: expected.signers_unchecked,
      allowAsserted: expected.allow_asserted,
    });
    assert.deepEqual([admission?.exit_code, admission?.reasons.map(({ code }) => code)], [exit_code, reasons]);
    assert.ok(markup.includes(all(admission?.line ?? "").markup));
  });
}
