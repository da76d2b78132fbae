/** The page of a runpack and the drawing in it, as Chromium shows them: accessibility, text that fits, keyboard, print. */
import assert from "node:assert/strict";
import { drawLaw } from "../../../src/runpack/picture/draw_law.ts";
import { viewPack } from "../../../src/runpack/material_view.ts";
import { renderDocument } from "../../../src/runpack/view/page.ts";
import { forge } from "../../simulation/forged_packs/forge.ts";
import { examineWhole, type MemoryPack, memorySource, packOf, PRIMITIVES } from "../../simulation/runpack/memory.ts";
import { playAdmissionRun } from "../../simulation/pack_vectors/admission_run.ts";
import { playGoldenRun } from "../../simulation/runpack/run.ts";
import { playWaiting } from "../../simulation/forged_packs/waiting.ts";
import { buildPage } from "../../../src/runpack/browser/build.ts";
import { findingsOf, showAs } from "./axe.ts";
import { type Page, PICTURES, screenshot, startChromium } from "./chromium.ts";

const READERS = [["light", 1280], ["dark", 390]] as const;

async function writePage(path: string, pack: MemoryPack): Promise<void> {
  const view = await viewPack(memorySource(pack), PRIMITIVES);
  const examination = await examineWhole(pack);
  await Deno.writeTextFile(path, renderDocument(PRIMITIVES.sha256, { examination, view }));
}

/** Packs whose pages differ in their answer, with a part of its heading. */
async function packs(): Promise<readonly (readonly [name: string, pack: MemoryPack, heading: string])[]> {
  const golden = playGoldenRun();
  const waiting = playWaiting();
  const whole = await packOf(golden);
  const [cut = ""] = [...whole.objects.keys()].slice(-1);
  return [
    ["complete", await packOf(playAdmissionRun()), "Complete, verified"],
    ["open", await packOf(golden, 7), "Not complete, verified"],
    ["held", await packOf(golden, 3), "Not complete, verified"],
    ["waiting", await packOf(waiting, 6), "Not complete, verified"],
    ["digests", whole, "Complete as recorded, not verified"],
    [
      "withheld",
      await packOf(waiting, waiting.records.length, { withheld_conditions: ["c"] }),
      "Not complete as recorded, not verified",
    ],
    [
      "violated",
      forge(golden, (parts) => parts.records[5].attribution.principal = "mallory"),
      "Not verified: do not believe this page",
    ],
    [
      "incomplete",
      { ...whole, objects: new Map([...whole.objects].filter(([name]) => name !== cut)) },
      "Not verified: do not believe this page",
    ],
  ];
}

/** The order in which a page has its sections. */
const SECTIONS = "[...document.querySelectorAll('main section')].map((one) => one.id).join(' ')";

async function assertPage(page: Page, name: string, heading: string): Promise<void> {
  assert.equal(await page.evaluate("document.querySelector('#answer h2').innerText"), heading, name);
  const sections = String(await page.evaluate(SECTIONS));
  assert.ok(["answer stages evidence records claims names", "answer claims names"].includes(sections), sections);
  assert.deepEqual(await findingsOf(page), [], name);
  const tooWide = "document.documentElement.scrollWidth > document.documentElement.clientWidth";
  assert.equal(await page.evaluate(tooWide), false, `${name} scrolls sideways as a whole`);
}

/** Tab reaches the drawing, the list and the links in the order of the page; print is light, and has every record. */
async function assertKeyboardAndPrint(page: Page): Promise<void> {
  await showAs(page, "dark", 390);
  const stops: string[] = [];
  for (let press = 0; press < 4; press++) {
    for (const type of ["keyDown", "keyUp"]) {
      await page.call("Input.dispatchKeyEvent", { type, key: "Tab", code: "Tab", windowsVirtualKeyCode: 9 });
    }
    const stop = "`${document.activeElement.tagName} ${document.activeElement.className}`.trim()";
    stops.push(String(await page.evaluate(stop)));
    assert.equal(await page.evaluate("getComputedStyle(document.activeElement).outlineStyle"), "solid");
  }
  assert.deepEqual(stops, ["DIV graph", "SUMMARY", "A", "DIV scroll"]);
  const features = [{ name: "prefers-color-scheme", value: "dark" }];
  await page.call("Emulation.setEmulatedMedia", { media: "print", features });
  const colours = ["body", ".stage text", ".answer"].map((one) =>
    `getComputedStyle(document.querySelector('${one}')).${one.includes("text") ? "fill" : "backgroundColor"}`
  );
  assert.equal(
    await page.evaluate(`[${colours}].join()`),
    "rgb(255, 255, 255),rgb(27, 31, 36),rgb(255, 255, 255)",
  );
  const { data } = await page.call("Page.printToPDF");
  assert.ok(String(data).length > 10_000);
}

Deno.test("axe-core finds nothing on the page of a runpack, in light and dark, on a phone and a wide screen", async () => {
  const folder = await Deno.makeTempDir({ prefix: "pages-" });
  await using browser = await startChromium();
  try {
    for (const [name, pack, heading] of await packs()) {
      const path = `${folder}/${name}.html`;
      await writePage(path, pack);
      const page = await browser.open(path);
      for (const [scheme, width] of READERS) {
        await showAs(page, scheme, width);
        await assertPage(page, `${name}, ${scheme}`, heading);
        if (PICTURES !== undefined) await screenshot(page, `${PICTURES}/${name}_${scheme}_${width}.png`);
      }
    }
    const path = `${folder}/verify.html`;
    await buildPage(path);
    const verifier = await browser.open(path);
    for (const [scheme, width] of READERS) {
      await showAs(verifier, scheme, width);
      assert.deepEqual(await findingsOf(verifier), [], `verifier, ${scheme}`);
    }
    const themed = await browser.open(`${folder}/held.html`);
    for (
      const [scheme, theme, ground] of [["light", "dark", "20, 23, 26"], ["dark", "light", "251, 251, 250"]] as const
    ) {
      await showAs(themed, scheme, 1280);
      await themed.evaluate(`document.documentElement.dataset.theme = '${theme}'`);
      assert.equal(await themed.evaluate("getComputedStyle(document.body).backgroundColor"), `rgb(${ground})`);
      assert.deepEqual(await findingsOf(themed), [], `${theme} in place of ${scheme}`);
    }
    await assertKeyboardAndPrint(await browser.open(`${folder}/digests.html`));
    // The check itself sees a fault.
    await verifier.evaluate("document.body.append(document.createElement('img'))");
    assert.match((await findingsOf(verifier)).join(), /image-alt/);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

/** Texts of a drawing that leave their box, or that touch another text of it. */
const FAULTS = `[...document.querySelectorAll('.stage, .end')].flatMap((group) => {
  const box = group.querySelector('.box').getBBox();
  const texts = [...group.querySelectorAll('text')].map((one) => [one.textContent, one.getBBox()]);
  const leaves = texts.filter(([, at]) => at.x < box.x || at.x + at.width > box.x + box.width ||
    at.y < box.y || at.y + at.height > box.y + box.height);
  const touches = texts.filter(([, a], index) => texts.some(([, b], other) => other > index &&
    Math.abs(a.y - b.y) < 2 && a.x < b.x + b.width && b.x < a.x + a.width));
  return [...leaves, ...touches].map(([text]) => text);
})`;

Deno.test("texts of every script stay in their box of a drawing, at the widths that Chromium measures", async () => {
  const names = [
    "release",
    "W".repeat(40),
    "m".repeat(36),
    "Ünïcödé-größe-straße",
    "проверка-выпуска",
    "リリース前の確認作業を行う段階",
    "发布前的检查",
    "🚀🚀🚀👩‍👩‍👧‍👦 release",
    "إصدار-البرنامج",
    "ﷺ﷽",
  ];
  const leaf = (id: string): { Condition: string } => ({ Condition: id });
  const law = {
    scenario_id: "names",
    conditions: [],
    acquisition_bindings: [],
    stages: names.map((stage_id) => ({
      stage_id,
      prerequisite: { kind: "root" },
      completion_requirement: { Or: names.map(leaf) },
    } as const)),
    completion_requirement: { And: names.map(leaf) },
  };
  const state = { needed: true, mark: "unavailable", detail: "" } as const;
  const conditions = new Map(names.map((condition_id) => [condition_id, { condition_id, ...state }]));
  const run = {
    isComplete: false,
    stages: new Map(names.map((id) => [id, { mark: "held", detail: "", conditions } as const])),
  };
  const path = await Deno.makeTempFile({ suffix: ".svg" });
  await using browser = await startChromium();
  try {
    await Deno.writeTextFile(path, drawLaw(law, run, { as: "file" }).markup);
    const page = await browser.open(path);
    assert.deepEqual(await page.evaluate(FAULTS), []);
    await page.evaluate("document.querySelector('.box').setAttribute('width', 60)");
    assert.notDeepEqual(await page.evaluate(FAULTS), []);
    const colours = "getComputedStyle(document.querySelector('.ground')).fill";
    const rows = [["light", null, 251], ["dark", null, 20], ["dark", "light", 251], ["light", "dark", 20]] as const;
    for (const [scheme, theme, red] of rows) {
      await showAs(page, scheme, 1280);
      const set = theme === null ? "removeAttribute('data-theme')" : `setAttribute('data-theme', '${theme}')`;
      await page.evaluate(`document.documentElement.${set}`);
      assert.match(String(await page.evaluate(colours)), new RegExp(`^rgb\\(${red}, `), `${scheme} ${theme}`);
    }
  } finally {
    await Deno.remove(path);
  }
});
