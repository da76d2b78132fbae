import assert from "node:assert/strict";
import { encodeBase64 } from "../../../src/canonical/base64.ts";
import { entryHeader, objectName, paddingAfter, signatureName } from "../../../src/runpack/format/archive.ts";
import { buildPage } from "../../../src/runpack/browser/build.ts";
import { keyIdOf } from "../../../src/runpack/format/dsse.ts";
import { viewPack } from "../../../src/runpack/material_view.ts";
import { type Examination, examineRunpack } from "../../../src/runpack/verify/verify.ts";
import type { VerificationReport } from "../../../src/runpack/verify/types.ts";
import { renderDocument } from "../../../src/runpack/view/page.ts";
import { FORGED, packOfRow } from "../../simulation/forged_packs/absent_values.ts";
import { FORGERIES } from "../../simulation/forged_packs/forgeries.ts";
import { forge, type Parts } from "../../simulation/forged_packs/forge.ts";
import { identityOf, type MemoryPack, memorySource, packOf, PRIMITIVES } from "../../simulation/runpack/memory.ts";
import { resultLine } from "../../../src/runpack/verify/result_line.ts";
import { ADMISSION_ROWS, makeAdmission } from "../../simulation/pack_vectors/admission_rows.ts";
import { playGoldenRun } from "../../simulation/runpack/run.ts";
import { playWaiting } from "../../simulation/forged_packs/waiting.ts";
import { PEOPLE_ROWS } from "../../simulation/pack_vectors/people_rows.ts";
import { WAITING_ROWS } from "../../simulation/pack_vectors/waiting_rows.ts";
import { type Browser, type Page, PICTURES, screenshot, startChromium } from "./chromium.ts";
import { goldenKey, type GoldenPack, readGolden } from "../second_verifier/packs.ts";

/** The files of a pack by their names. */
function filesOf(pack: MemoryPack, signatures: ReadonlyMap<string, Uint8Array>): readonly [string, Uint8Array][] {
  const objects = [...pack.objects].map(([identity, bytes]): [string, Uint8Array] => [objectName(identity), bytes]);
  const envelopes = [...signatures].map(([keyId, bytes]): [string, Uint8Array] => [signatureName(keyId), bytes]);
  const files: [string, Uint8Array][] = [["manifest.json", pack.manifest], ...objects, ...envelopes];
  return files.sort(([a], [b]) => a < b ? -1 : 1);
}

async function writeFolder(folder: string, pack: MemoryPack): Promise<void> {
  for (const [name, bytes] of filesOf(pack, new Map())) {
    await Deno.mkdir(`${folder}/${name.slice(0, name.lastIndexOf("/") + 1)}`, { recursive: true });
    await Deno.writeFile(`${folder}/${name}`, bytes);
  }
}

function archiveOf(pack: MemoryPack, signatures: ReadonlyMap<string, Uint8Array>): Blob {
  const parts = filesOf(pack, signatures).flatMap(([name, bytes]) => [
    entryHeader(name, bytes.length),
    new Uint8Array(bytes),
    new Uint8Array(paddingAfter(bytes.length)),
  ]);
  return new Blob([...parts, new Uint8Array(1024)]);
}

interface Fixture extends AsyncDisposable {
  readonly browser: Browser;
  /** The built page. */
  readonly page: string;
  readonly folder: string;
}

const built = await Deno.makeTempDir({ prefix: "browser-page-" });
await buildPage(`${built}/verify.html`);
const browser = await startChromium();
Deno.test.afterAll(async () => {
  await browser[Symbol.asyncDispose]();
  await Deno.remove(built, { recursive: true });
});

async function fixture(): Promise<Fixture> {
  const folder = await Deno.makeTempDir({ prefix: "browser-" });
  return {
    browser,
    page: `${built}/verify.html`,
    folder,
    [Symbol.asyncDispose]: () => Deno.remove(folder, { recursive: true }),
  };
}

async function verifyHere(pack: MemoryPack, changes: object = {}): Promise<VerificationReport> {
  return (await examineHere(pack, changes)).report;
}

function examineHere(pack: MemoryPack, changes: object = {}): Promise<Examination> {
  const request = {
    runpack_identity: null,
    profile: "full_replay_v1",
    budget: null,
    trusted_keys: null,
    ...changes,
  } as const;
  return examineRunpack(memorySource(pack), request, PRIMITIVES);
}

const finished = (page: Page): Promise<void> =>
  page.until("['done', 'failed'].includes(document.getElementById('result').dataset.state)");

const textOf = async (page: Page): Promise<string> =>
  String(await page.evaluate("document.getElementById('result').innerText"));

/** The report that the page came to, and that it neither loaded nor sent anything, nor met its policy. */
async function reportOf(page: Page): Promise<unknown> {
  await finished(page);
  assert.deepEqual([page.requests, page.complaints], [[], []]);
  return await page.evaluate("document.getElementById('result').dataset.report");
}

Deno.test("the page verifies a folder as the command line does, and shows stages, timeline and claims", async () => {
  await using tested = await fixture();
  const golden = await readGolden("plain");
  await writeFolder(`${tested.folder}/plain`, golden);
  const page = await tested.browser.open(tested.page);
  await page.choose("folder", [`${tested.folder}/plain`]);
  assert.equal(await reportOf(page), (await verifyHere(golden)).report_identity);
  const text = await textOf(page);
  for (
    const shown of [
      "Nothing contradicts this runpack",
      "attempt 5: true, run complete",
      '"north"',
      "value_not_retained",
    ]
  ) {
    assert.ok(text.includes(shown), shown);
  }
  const counts =
    "['.stage.is-complete', '.record', '.status'].map((one) => document.querySelectorAll(one).length).join()";
  assert.equal(await page.evaluate(counts), "3,11,29");
  assert.equal(await page.evaluate("getComputedStyle(document.querySelector('main')).maxWidth"), "1080px");
  if (PICTURES !== undefined) await screenshot(page, `${PICTURES}/good.png`);
});

Deno.test("the page verifies a single file with its signature, under a key and an identity that were given", async () => {
  await using tested = await fixture();
  const [{ signatures: [envelope], ...golden }, key] = [await readGolden("signed") as GoldenPack, await goldenKey()];
  assert.ok(envelope !== undefined);
  const keyId = keyIdOf(PRIMITIVES.sha256, key);
  const path = `${tested.folder}/signed.runpack`;
  await Deno.writeFile(path, await archiveOf(golden, new Map([[keyId, envelope]])).bytes());
  const page = await tested.browser.open(tested.page);
  await page.evaluate(`document.getElementById('keys').value = ${JSON.stringify(`${encodeBase64(key)}\n`)}`);
  await page.evaluate(`document.getElementById('identity').value = '${identityOf(golden)}'`);
  await page.choose("file", [path]);
  const wanted = await verifyHere(golden, {
    runpack_identity: identityOf(golden),
    trusted_keys: [key],
    signatures: [envelope],
  });
  assert.equal(await reportOf(page), wanted.report_identity);
  assert.ok((await textOf(page)).includes(`runpack_signature:${keyId}`));
});

Deno.test("the page takes a folder or a single file that is dropped on it", async () => {
  await using tested = await fixture();
  const golden = await readGolden("withheld");
  await writeFolder(`${tested.folder}/dropped`, golden);
  await Deno.writeFile(`${tested.folder}/dropped.runpack`, await archiveOf(golden, new Map()).bytes());
  const page = await tested.browser.open(tested.page);
  for (const name of ["dropped", "dropped.runpack"]) {
    await page.reload();
    const data = { items: [], files: [`${tested.folder}/${name}`], dragOperationsMask: 1 };
    for (const type of ["dragEnter", "dragOver", "drop"]) {
      await page.call("Input.dispatchDragEvent", { type, x: 120, y: 120, data });
    }
    const report = await reportOf(page);
    assert.equal(report, (await verifyHere(golden)).report_identity, `${name}: ${await textOf(page)}`);
    assert.ok((await textOf(page)).includes("the values of approved, log"));
  }
});

Deno.test("the page decides as the command line does, and shows the decision first", async () => {
  await using tested = await fixture();
  const page = await tested.browser.open(tested.page);
  for (const row of ADMISSION_ROWS) {
    const { name, exit_code, reasons } = row;
    const { pack, envelopes = [], request, producer_keys = [], expected } = await makeAdmission(row);
    // The page sets no limits.
    if (request?.budget !== null) continue;
    const path = `${tested.folder}/release.runpack`;
    const signatures = new Map(envelopes.map((bytes, index) => [`${index}`.repeat(64), bytes]));
    await Deno.writeFile(path, await archiveOf(pack, signatures).bytes());
    await page.reload();
    const filled: readonly (readonly [string, string])[] = [
      ["law", expected.law],
      ["keys", (request.trusted_keys ?? []).join("\n")],
      ["names", Object.entries(expected.keys).map(([name, key]) => `${name}=${key}`).join("\n")],
      ["providers", Object.entries(expected.providers).map(([name, version]) => `${name}=${version}`).join("\n")],
      ["accept-procedures", expected.accept_procedures.join("\n")],
      ["producers", producer_keys.join("\n")],
      ["parameters", Object.entries(expected.parameters).map(([name, value]) => `${name}=${value}`).join("\n")],
      ["any-parameters", expected.any_parameters.join("\n")],
      ["stage", expected.stage ?? ""],
      ["not-before", expected.not_before === null ? "" : new Date(expected.not_before).toISOString()],
    ];
    for (const [id, value] of filled) {
      await page.evaluate(`document.getElementById('${id}').value = ${JSON.stringify(value)}`);
    }
    await page.evaluate(`document.getElementById('origin-unchecked').checked = ${expected.origin_unchecked}`);
    await page.evaluate(`document.getElementById('signers-unchecked').checked = ${expected.signers_unchecked}`);
    await page.evaluate(`document.getElementById('allow-asserted').checked = ${expected.allow_asserted}`);
    await page.choose("file", [path]);
    await reportOf(page);
    const keys = request.trusted_keys?.map((key) => Uint8Array.fromBase64(key)) ?? null;
    const here = await examineHere(pack, { trusted_keys: keys, signatures: envelopes });
    const data = "JSON.stringify({...document.getElementById('result').dataset})";
    const { verdict, decision } = JSON.parse(String(await page.evaluate(data)));
    assert.deepEqual([verdict, decision], [here.verdict_identity, String(exit_code)], name);
    const line = String(await page.evaluate("document.getElementById('line').innerText"));
    const head = reasons[0] === undefined ? "Admitted: " : `Not admitted (${reasons[0]}): `;
    assert.ok(line.startsWith(`${head}${resultLine(here)}`), line);
  }
});

Deno.test("the page says of tampered packs what the command line says", async () => {
  await using tested = await fixture();
  const golden = await readGolden("plain");
  const names = [...golden.objects.keys()];
  const without = new Map([...golden.objects].slice(1));
  const flipped = new Map(golden.objects);
  const [name = ""] = names.slice(-1);
  const bytes = (golden.objects.get(name) ?? new Uint8Array()).slice();
  bytes[10] = (bytes[10] ?? 0) ^ 1;
  flipped.set(name, bytes);
  const forgery = FORGERIES.find((one) => one.name === "a gate that is opened by a forged trace");
  const outdated = FORGED.find((one) => one.name === "acquired ten days before a maximum age of a minute");
  assert.ok(forgery !== undefined && outdated !== undefined);
  const rows: readonly (readonly [string, MemoryPack, string])[] = [
    ["missing", { ...golden, objects: without }, "object_missing"],
    ["flipped", { ...golden, objects: flipped }, "object_identity_mismatch"],
    [
      "extra",
      { ...golden, objects: new Map([...golden.objects, ["0".repeat(64), new Uint8Array(3)]]) },
      "object_unreferenced",
    ],
    ["cut", { ...golden, manifest: golden.manifest.slice(0, -1) }, "manifest_not_canonical"],
    ["forged", forge(playGoldenRun(), forgery.forge), "decision_mismatch"],
    ["absent", packOfRow(outdated, "branch"), "qualification_mismatch"],
  ];
  const page = await tested.browser.open(tested.page);
  for (const [what, pack, code] of rows) {
    const path = `${tested.folder}/${what}.runpack`;
    await Deno.writeFile(path, await archiveOf(pack, new Map()).bytes());
    await page.reload();
    await page.choose("file", [path]);
    assert.equal(await reportOf(page), (await verifyHere(pack)).report_identity, what);
    const text = await textOf(page);
    assert.ok(text.includes(code) && text.includes("do not believe what this page shows"), what);
    if (PICTURES !== undefined) await screenshot(page, `${PICTURES}/${what}.png`);
  }
});

Deno.test("the page verifies evidence that waited, honest and forged, and shows refusals and withdrawals", async () => {
  await using tested = await fixture();
  const run = playWaiting();
  const base = { run, pack: await packOf(run) };
  const page = await tested.browser.open(tested.page);
  for (const { name, violates, make } of [...WAITING_ROWS, ...PEOPLE_ROWS]) {
    const { pack, request } = make(base);
    assert.ok(pack.manifest !== null, name);
    const whole = { manifest: pack.manifest, objects: pack.objects };
    const path = `${tested.folder}/waiting.runpack`;
    await Deno.writeFile(path, await archiveOf(whole, new Map()).bytes());
    await page.reload();
    const keys = request?.trusted_keys ?? null;
    await page.evaluate(`document.getElementById('keys').value = ${JSON.stringify((keys ?? []).join("\n"))}`);
    await page.choose("file", [path]);
    const here = await examineHere(whole, { trusted_keys: keys?.map((key) => Uint8Array.fromBase64(key)) ?? null });
    assert.equal(await reportOf(page), here.report.report_identity, name);
    assert.equal(await page.evaluate("document.getElementById('result').dataset.verdict"), here.verdict_identity, name);
    const text = await textOf(page);
    for (const reason of Object.values(violates)) assert.ok(text.includes(reason), `${name}: ${reason}`);
    if (name.startsWith("withheld")) assert.ok(text.includes("ci-2 stated a value that is not shown for c"), name);
    if (name !== "a run whose people approve, refuse and withdraw") continue;
    for (const said of ["ci-2 refused c < 5: 9", "ci-1 withdrew its statement on c < 5", "Too early"]) {
      assert.ok(text.includes(said), `${name}: ${said}`);
    }
    if (PICTURES !== undefined) await screenshot(page, `${PICTURES}/waiting.png`);
  }
});

Deno.test("the page names what is no pack, no key and no identity", async () => {
  await using tested = await fixture();
  const golden = await readGolden("plain");
  await Deno.writeFile(`${tested.folder}/plain.runpack`, await archiveOf(golden, new Map()).bytes());
  await Deno.writeTextFile(`${tested.folder}/none.runpack`, "no archive");
  const rows = [
    ["none", "", "", "Cannot read archive at byte 0: it ends in the middle"],
    ["plain", "AAAA", "", 'Expected a public key, 32 bytes in base64, got "AAAA"'],
    ["plain", "", "ff", 'Expected a runpack identity, 64 lower-case hex digits, got "ff"'],
  ] as const;
  const page = await tested.browser.open(tested.page);
  for (const [file, keys, identity, told] of rows) {
    await page.reload();
    await page.evaluate(`document.getElementById('keys').value = '${keys}'`);
    await page.evaluate(`document.getElementById('identity').value = '${identity}'`);
    await page.choose("file", [`${tested.folder}/${file}.runpack`]);
    await finished(page);
    assert.equal(await textOf(page), told);
  }
});

/** Names that would run as script wherever they were taken for markup. */
const HOSTILE =
  `"><img src=x onerror="window.ran=1"></p><script>window.ran=1</script><style>main{display:none}</style>`;

function renamed(parts: Parts): void {
  parts.law.scenario_id = parts.records[0].body.scenario_id = HOSTILE;
  for (const record of parts.records) record.attribution.principal = HOSTILE;
}

Deno.test("a pack's own text runs nothing and loads nothing, in either page", async () => {
  await using tested = await fixture();
  const pack = forge(playGoldenRun(), renamed);
  await Deno.writeFile(`${tested.folder}/hostile.runpack`, await archiveOf(pack, new Map()).bytes());
  const page = await tested.browser.open(tested.page);
  await page.choose("file", [`${tested.folder}/hostile.runpack`]);
  assert.equal(await reportOf(page), (await verifyHere(pack)).report_identity);
  const view = await viewPack(memorySource(pack), PRIMITIVES);
  assert.ok(!("reason" in view));
  const html = renderDocument(PRIMITIVES.sha256, { examination: await examineHere(pack), view });
  await Deno.writeTextFile(`${tested.folder}/shown.html`, html);
  const shown = await tested.browser.open(`${tested.folder}/shown.html`);
  for (const one of [page, shown]) {
    assert.equal(await one.evaluate("window.ran"), undefined);
    assert.ok(String(await one.evaluate("document.body.innerText")).includes(HOSTILE));
    assert.equal(await one.evaluate("document.querySelectorAll('img, iframe, link, object').length"), 0);
    assert.deepEqual([one.requests, one.complaints], [[], []]);
    assert.equal(await one.evaluate("getComputedStyle(document.querySelector('main')).maxWidth"), "1080px");
  }
});

Deno.test("the page can send nothing: its policy stops whatever would, and scripts that are not its own", async () => {
  await using tested = await fixture();
  const { browser, page: path } = tested;
  const page = await browser.open(path);
  const tries = [
    "fetch('http://127.0.0.1:9/').then(() => 'sent', () => 'stopped')",
    "new Promise((done) => { const one = new Image(); one.onload = () => done('sent'); one.onerror = () => done('stopped');" +
    " one.src = 'http://127.0.0.1:9/x.png'; })",
    "new Promise((done) => { try { const one = new WebSocket('ws://127.0.0.1:9/'); one.onopen = () => done('sent');" +
    " one.onerror = () => done('stopped'); } catch { done('stopped'); } })",
    "new Promise((done) => { const one = document.createElement('script'); one.textContent = 'window.ran = 1';" +
    " document.body.append(one); done(window.ran === undefined ? 'stopped' : 'sent'); })",
  ];
  await page.evaluate(
    "addEventListener('securitypolicyviolation', (one) => { (window.stopped ??= []).push(one.effectiveDirective); })",
  );
  for (const attempt of tries) assert.equal(await page.evaluate(attempt), "stopped", attempt);
  // Told apart from connections that were merely refused: the policy stopped each of them.
  await page.until("window.stopped.length === 4");
  const stopped = await page.evaluate("window.stopped.join()");
  assert.equal(stopped, "connect-src,img-src,connect-src,script-src-elem");
});
