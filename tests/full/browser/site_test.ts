/**
 * The site as readers get it: pages in headless Chromium from disk, their links, the search, and the playground with the
 * kernel's vectors.
 */

import assert from "node:assert/strict";
import { posix } from "node:path";
import axe from "npm:axe-core@4.14.1";
import { bundleScript } from "../../../src/runpack/browser/build.ts";
import { pagesOf, readTree } from "../../checks/tree.ts";
import { inFolder } from "../../e2e/gate_command.ts";
import { LAW_CHARACTERS_MAXIMUM } from "@/playground/share.ts";
import { type SiteFile, siteFiles, writeSite } from "../../site/main.ts";
import { addressOf } from "../../site/pages.ts";
import { type Browser, type Page, PICTURES, screenshot, startChromium } from "./chromium.ts";

const textOf = ({ bytes }: SiteFile): string => new TextDecoder().decode(bytes);

Deno.test("the site: bytes, links, search, playground", (t) =>
  inFolder(async (folder) => {
    const site = `${folder}/site`;
    const files = await writeSite(site);
    await t.step("a second build has the same bytes", async () => {
      const second = await siteFiles();
      assert.deepEqual(second.map(({ path }) => path), files.map(({ path }) => path));
      second.forEach(({ path, bytes }, index) => assert.deepEqual(bytes, files[index]?.bytes, path));
    });
    await t.step("every link leads to a file of the site, and to an anchor of it", () => assertLinks(files));
    await t.step("every picture of the documentation is in the site, has its size, and is loaded late", () =>
      assertPictures(files));
    await t.step("every page is in the navigation of every page", () =>
      assertNavigation(files));
    await using browser = await startChromium();
    await t.step("a static server offers the same pages", () => isServed(browser, files));
    for (const [name, test] of IN_BROWSER) await t.step(name, () => test(browser, site));
  }));

/** The policy of a server that permits no worker. */
const NO_WORKER = { "content-security-policy": "worker-src 'none'" };

const MEDIA_TYPES: Readonly<Record<string, string>> = {
  css: "text/css",
  html: "text/html",
  js: "text/javascript",
  svg: "image/svg+xml",
};

/** Opens pages from a server that knows nothing but files. They ask it for files of the site alone. */
async function isServed(browser: Browser, files: readonly SiteFile[]): Promise<void> {
  const asked = new Set<string>();
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, ({ url }) => {
    const path = new URL(url).pathname.slice(1);
    asked.add(path);
    const found = files.find((file) => file.path === path);
    const type = MEDIA_TYPES[path.split(".").at(-1) ?? ""] ?? "text/plain";
    if (found === undefined) return new Response(null, { status: 404 });
    const more = url.endsWith("?no-worker") ? NO_WORKER : {};
    return new Response(new Uint8Array(found.bytes), { headers: { "content-type": type, ...more } });
  });
  const root = `http://127.0.0.1:${server.addr.port}`;
  try {
    const index = await browser.visit(`${root}/index.html`);
    const page = await browser.visit(`${root}/playground/index.html`);
    await judged(page);
    assert.match(await shown(page, "law-verdict"), /^Closed: stage ship not complete\./);
    for (const one of [index, page]) {
      assert.deepEqual(requestsBeyond(one, `${root}/`), []);
      assert.deepEqual(one.complaints, []);
    }
    // Where a server permits no worker, the page finds the answers itself.
    const alone = await browser.visit(`${root}/playground/index.html?no-worker`);
    await judged(alone);
    assert.equal(await shown(alone, "law-verdict"), await shown(page, "law-verdict"));
    assert.match(alone.complaints.join("\n"), /^[^\n]*"worker-src 'none'"[^\n]*$/);
    assert.deepEqual([...asked].filter((path) => !files.some((file) => file.path === path)), []);
    assert.ok(asked.has("playground.js"));
  } finally {
    await server.shutdown();
  }
}

/** Links that leave the site; everything else must be in it. */
const EXTERNAL = /^(?:https|vscode|cursor):/;

function linksOf(html: string): readonly { readonly kind: string; readonly target: string }[] {
  return [...html.matchAll(/<(\w+)[^>]*?\s(?:href|src)="([^"]*)"/g)].map(([, kind = "", target = ""]) => ({
    kind,
    target: target.replaceAll("&amp;", "&"),
  }));
}

function assertLinks(files: readonly SiteFile[]): void {
  const pages = new Map(files.map((file) => [file.path, file]));
  const anchors = new Map<string, Set<string>>();
  const anchorsOf = (path: string): Set<string> => {
    const known = anchors.get(path);
    if (known !== undefined) return known;
    const file = pages.get(path);
    const found = [...(file === undefined ? "" : textOf(file)).matchAll(/\sid="([^"]*)"/g)].map(([, id = ""]) => id);
    const made = new Set(found);
    anchors.set(path, made);
    return made;
  };
  let followed = 0;
  for (const file of files.filter(({ path }) => path.endsWith(".html"))) {
    // A browser asks a server for a picture of the site in any case.
    assert.match(textOf(file), /<link rel="icon" /, file.path);
    for (const { kind, target } of linksOf(textOf(file))) {
      if (EXTERNAL.test(target)) {
        assert.equal(kind, "a", `${file.path} loads ${target}`);
        continue;
      }
      const [path = "", anchor] = target.split("#");
      const to = path === "" ? file.path : posix.normalize(posix.join(posix.dirname(file.path), decodeURI(path)));
      assert.ok(pages.has(to), `${file.path} links to ${target}`);
      if (anchor !== undefined) assert.ok(anchorsOf(to).has(decodeURIComponent(anchor)), `${file.path}: ${target}`);
      followed++;
    }
  }
  assert.ok(followed > 1000);
}

/** Pictures in Markdown. */
const PICTURES_OF_PAGES = /!\[[^\]]*\]\(([^)\s]+)\)/g;

async function assertPictures(files: readonly SiteFile[]): Promise<void> {
  const paths = new Set(files.map(({ path }) => path));
  let shown = 0;
  for (const { path, text } of pagesOf(await readTree())) {
    const named = [...text.matchAll(PICTURES_OF_PAGES)].map(([, target = ""]) => target);
    const page = files.find((file) => file.path === addressOf(path));
    const found = page === undefined ? [] : [...textOf(page).matchAll(/<img [^>]*>/g)].map(([tag]) => tag);
    assert.equal(found.length, named.length, path);
    for (const [at, target] of named.entries()) {
      const file = posix.join(posix.dirname(path), target);
      assert.ok(paths.has(file), `${path} shows ${file}`);
      assert.match(found[at] ?? "", /^<img src="[^"]+" alt="[^"]+" width="\d+" height="\d+" loading="lazy">$/, file);
      shown++;
    }
  }
  assert.ok(shown > 10);
}

/** Every picture has the shape that its page keeps free for it. */
async function showsPictures(browser: Browser, site: string): Promise<void> {
  for (const path of ["index.html", "docs/benchmarks.html", "docs/guide/console.html"]) {
    const page = await open(browser, site, path);
    const shapes = `[...document.querySelectorAll("article img")].map((one) => {
      one.loading = "eager";
      return [one.src, one.width / one.height, one.getAttribute("width") / one.getAttribute("height")];
    })`;
    const before = await page.evaluate(shapes) as [string, number, number][];
    await page.until(
      `[...document.querySelectorAll("article img")].every((one) => one.complete && one.naturalWidth > 0)`,
    );
    for (const rows of [before, await page.evaluate(shapes) as [string, number, number][]]) {
      for (const [picture, shape, kept] of rows) {
        assert.ok(Math.abs(shape / kept - 1) < 0.02, `${picture}: ${shape}, ${kept}`);
      }
    }
    const natural = await page.evaluate(
      `[...document.querySelectorAll("article img")].map((one) => one.naturalWidth / one.naturalHeight)`,
    ) as number[];
    before.forEach(([picture, , kept], at) => assert.ok(Math.abs((natural[at] ?? 0) / kept - 1) < 0.02, picture));
    assertQuiet(page, site);
  }
}

async function assertNavigation(files: readonly SiteFile[]): Promise<void> {
  const pages = pagesOf(await readTree());
  const index = files.find(({ path }) => path === "index.html");
  assert.ok(index !== undefined);
  const navigation = /<nav .*?<\/nav>/s.exec(textOf(index))?.[0] ?? "";
  const listed = linksOf(navigation).map(({ target }) => target);
  assert.equal(new Set(listed).size, listed.length);
  assert.deepEqual([...navigation.matchAll(/<summary>(.*?)<\/summary>/g)].map(([, name]) => name), [
    "Guide",
    "Reference",
    "Specification",
    "Design",
  ]);
  assert.deepEqual(listed.toSorted(), pages.map(({ path }) => addressOf(path)).toSorted());
}

/** Opens a page of the site. It may load what is beside it, and nothing else, and its policy stops nothing of its own. */
async function open(browser: Browser, site: string, path: string): Promise<Page> {
  const page = await browser.open(`${site}/${path}`);
  assertQuiet(page, site);
  return page;
}

/** What a page asked for outside of the site. A blob is text of the page itself: the program of its worker. */
function requestsBeyond({ requests }: Page, root: string): readonly string[] {
  return requests.filter((url) =>
    !url.startsWith(root) && !/^blob:(?:null|http:\/\/127\.0\.0\.1:\d+)\/[-0-9a-f]+$/.test(url)
  );
}

function assertQuiet(page: Page, site: string): void {
  assert.deepEqual(requestsBeyond(page, `file://${site}/`), []);
  assert.deepEqual(page.complaints, []);
}

/** Checks that axe-core finds nothing in a page that has loaded it, by all of its rules. */
async function assertAccessible(page: Page, what: string): Promise<void> {
  const found = await page.evaluate(
    "axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) => violations.map((one) => " +
      "one.id + ': ' + one.nodes.slice(0, 3).map((node) => node.html.slice(0, 200)).join(' | ')))",
  );
  assert.deepEqual(found, [], what);
}

async function emulate(page: Page, scheme: "dark" | "light", width: number): Promise<void> {
  await page.call("Emulation.setEmulatedMedia", { features: [{ name: "prefers-color-scheme", value: scheme }] });
  const metrics = { width, height: 800, deviceScaleFactor: 1, mobile: width < 600 };
  await page.call("Emulation.setDeviceMetricsOverride", metrics);
}

/** Colour schemes and widths of a screen, in CSS pixels. */
const LOOKS = [["light", 1280], ["dark", 1280], ["dark", 360], ["light", 360]] as const;

/** A page of each template and kind of content; the looks in which axe-core reads it. It fits in every look. */
const LOOKED_AT: readonly (readonly [path: string, looks: readonly (typeof LOOKS[number])[]])[] = [
  ["docs/guide/concepts.html", LOOKS],
  ["docs/examples/first_gate/release.yaml.html", LOOKS],
  ["tests/vectors/runpack/index.html", LOOKS],
  ["docs/benchmarks.html", [LOOKS[0], LOOKS[2]]],
  ["index.html", [LOOKS[0]]],
  ["docs/index.html", [LOOKS[0]]],
  ["docs/reference/configuration.html", [LOOKS[0]]],
  ["docs/format/records.html", [LOOKS[0]]],
];

/** Checks that a page fits in every look, and that axe-core finds nothing in some of them. */
async function assertLooks(page: Page, what: string, judged: readonly (typeof LOOKS[number])[]): Promise<void> {
  await page.evaluate(`${axe.source}; undefined`);
  for (const look of LOOKS) {
    const [scheme, width] = look;
    await emulate(page, scheme, width);
    const ground = await page.evaluate("getComputedStyle(document.body).backgroundColor");
    assert.equal(ground, scheme === "dark" ? "rgb(20, 23, 26)" : "rgb(251, 251, 250)");
    const over = await page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth");
    assert.equal(over, 0, `${what} is wider than ${width}`);
    const top = await page.evaluate("document.querySelector('main').getBoundingClientRect().top");
    assert.ok(Number(top) < 400, `${what} begins at ${top} on a screen of ${width}`);
    if (judged.includes(look)) await assertAccessible(page, `${what}, ${scheme}, ${width}`);
    if (PICTURES !== undefined) {
      await screenshot(page, `${PICTURES}/${what.replaceAll("/", "_")}_${scheme}_${width}.png`);
    }
  }
}

async function looksRight(browser: Browser, site: string): Promise<void> {
  for (const [path, looks] of LOOKED_AT) await assertLooks(await open(browser, site, path), path, looks);
}

/** A fault that axe-core finds in one look only is found there. */
async function findsPlanted(browser: Browser, site: string): Promise<void> {
  const page = await open(browser, site, "docs/guide/concepts.html");
  await page.evaluate(`${axe.source}; undefined`);
  const rows = [
    ["document.querySelector('article p').style.color = '#333'", "dark", 1280, /color-contrast/],
    ["document.querySelector('article p').innerHTML = '<img src=\"\">'", "light", 360, /image-alt/],
  ] as const;
  for (const [plant, scheme, width, found] of rows) {
    await page.evaluate(`${plant}; undefined`);
    await emulate(page, scheme, width);
    await assert.rejects(assertAccessible(page, "planted"), found);
  }
}

async function searches(browser: Browser, site: string): Promise<void> {
  const page = await open(browser, site, "docs/guide/concepts.html");
  const rows = [
    ["quorum", "docs/"],
    ["full_replay_v1", "docs/"],
    ["webhook notifications", "docs/"],
    ["zzzzzz", null],
    ["<img src=x onerror=alert(1)>", undefined],
  ] as const;
  for (const [query, expected] of rows) {
    const typed = `{ const field = document.getElementById('search'); field.value = ${JSON.stringify(query)};
      field.dispatchEvent(new Event('input')); }`;
    await page.evaluate(typed);
    await page.until(`document.getElementById('results').dataset.query === ${JSON.stringify(query)}`);
    const first = await page.evaluate("document.querySelector('#results a')?.getAttribute('href') ?? null");
    if (expected === null) assert.equal(first, null, query);
    if (typeof expected === "string") assert.ok(String(first).startsWith(`../../${expected}`), `${query}: ${first}`);
    assert.equal(await page.evaluate("document.querySelectorAll('#results img').length"), 0);
    assert.doesNotMatch(await shown(page, "results"), /\]\(|---/, `${query}: marks of Markdown in an excerpt`);
  }
  assertQuiet(page, site);
}

async function judged(page: Page): Promise<void> {
  await page.until("document.getElementById('output').dataset.state === 'done'");
}

const shown = async (page: Page, id: string): Promise<string> =>
  String(await page.evaluate(`document.getElementById('${id}').innerText`));

async function enter(page: Page, id: string, value: string): Promise<void> {
  await page.evaluate(`{ const field = document.getElementById(${JSON.stringify(id)});
    field.value = ${JSON.stringify(value)}; field.dispatchEvent(new Event('input', { bubbles: true })); }`);
  await judged(page);
}

async function plays(browser: Browser, site: string): Promise<void> {
  const page = await open(browser, site, "playground/index.html");
  await judged(page);
  // The example: two tests failed; the law wants none, the changed law at most two.
  assert.match(
    await shown(page, "law-verdict"),
    /^Closed: stage ship not complete\.[^]*tests_failed == 0\s+false\s+found 2[^]*What is missing:\s*tests_failed == 0/,
  );
  assert.match(await shown(page, "changed-verdict"), /^Open: the run is complete\./);
  assert.match(await shown(page, "law-verdict"), /Who can complete it: caller alone/);
  assert.match(await shown(page, "changed-verdict"), /^The change: the run: looser/m);
  await enter(page, "evidence:tests_failed", "0");
  assert.match(await shown(page, "law-verdict"), /^Open: the run is complete\./);
  // Nothing passes by absence.
  await enter(page, "evidence:tests_failed", "");
  for (const side of ["law", "changed"]) {
    assert.match(
      await shown(page, `${side}-verdict`),
      /^Closed[^]*tests_failed (?:== 0|<= 2)\s+unknown\s+nothing known yet/,
    );
  }
  await enter(page, "evidence:tests_failed", "two");
  assert.equal(await shown(page, "law-verdict"), "tests_failed: expected integer");
  await enter(page, "law", "stages: [");
  assert.match(await shown(page, "law-problems"), /^Error in line 1, column \d+: /);
  assert.equal(await shown(page, "law-verdict"), "Nothing is decided under a text that is not a law.");
  assertQuiet(page, site);
}

/** Types a text into a field as a person pastes it; returns the characters that the field then has. */
async function paste(page: Page, id: string, text: string): Promise<number> {
  await page.evaluate(
    `{ const field = document.getElementById(${JSON.stringify(id)}); field.focus(); field.select(); }`,
  );
  await page.call("Input.insertText", { text });
  return Number(await page.evaluate(`document.getElementById(${JSON.stringify(id)}).value.length`));
}

async function refusesLongTexts(browser: Browser, site: string): Promise<void> {
  const page = await open(browser, site, "playground/index.html");
  await judged(page);
  const maximum = LAW_CHARACTERS_MAXIMUM;
  for (const [id, place] of [["law", "law-problems"], ["evidence:tests_failed", "linked"]] as const) {
    const characters = (extra: number): string => "#".repeat(maximum + extra);
    assert.equal(await paste(page, id, characters(-1)), maximum - 1, id);
    assert.equal(await paste(page, id, characters(0)), maximum, id);
    for (const length of [maximum + 1, 10_000_000]) {
      assert.equal(await paste(page, id, "#".repeat(length)), maximum, id);
      const message = `Cannot insert the text: expected at most ${maximum} characters, got ${length}`;
      assert.equal(await shown(page, place), message);
    }
    assert.equal(await paste(page, id, "a"), 1, id);
    await judged(page);
    assert.doesNotMatch(await shown(page, place), /Cannot insert/);
  }
  await enter(page, "law", "[".repeat(maximum));
  assert.match(await shown(page, "law-problems"), /^Error in line 1, column 1: Values are nested too deep$/);
  await enter(page, "law", "#".repeat(maximum + 1));
  assert.match(await shown(page, "law-problems"), /: Expected at most 65536 characters, got 65537$/);
  assertQuiet(page, site);
}

/** The page does none of the work for a long text, and asks once about changes that come while an answer is open. */
async function staysFree(browser: Browser, site: string): Promise<void> {
  const page = await open(browser, site, "playground/index.html");
  await judged(page);
  await page.evaluate(`{
    window.asked = [];
    const { postMessage } = Worker.prototype;
    Worker.prototype.postMessage = function (question) {
      window.asked.push(question.texts[0].length);
      return postMessage.call(this, question);
    };
    globalThis.gateAnswer = () => { throw new Error("The page answers"); };
    const field = document.getElementById("law");
    for (const length of [65_000, 65_100, 65_200, 65_300]) {
      field.value = "[]".repeat(length / 2);
      field.dispatchEvent(new Event("input", { bubbles: true }));
    }
  }`);
  await judged(page);
  assert.deepEqual(await page.evaluate("window.asked"), [65_000, 65_300]);
  assert.match(await shown(page, "law-problems"), /^Error in line 1, column 3: /);
  assertQuiet(page, site);
}

async function offersExamples(browser: Browser, site: string): Promise<void> {
  const page = await open(browser, site, "playground/index.html");
  const names = await page.evaluate("[...document.querySelectorAll('#example option')].map(({ value }) => value)");
  for (const name of names as string[]) {
    await page.evaluate(`{ const picker = document.getElementById('example'); picker.value = ${JSON.stringify(name)};
      picker.dispatchEvent(new Event('change')); }`);
    await judged(page);
    assert.match(await shown(page, "law-verdict"), /^Closed: /, name);
    assert.match(await shown(page, "changed-verdict"), /^Open: /, name);
    assert.equal(await page.evaluate("document.querySelectorAll('.problems .error').length"), 0, name);
  }
  assert.equal((names as string[]).length, 3);
  // The last example: stages stand in the order of the drawing.
  const stages = "[...document.querySelectorAll('#law-verdict h3 code')].map(({ textContent }) => textContent)";
  assert.deepEqual(await page.evaluate(stages), ["static-checks", "tests", "release"]);
}

async function shares(browser: Browser, site: string): Promise<void> {
  const page = await open(browser, site, "playground/index.html");
  await judged(page);
  await enter(page, "evidence:tests_failed", "1");
  await page.evaluate("document.getElementById('share').click()");
  const fragment = String(await page.evaluate("location.hash"));
  assert.match(fragment, /^#[A-Za-z0-9_-]+$/);
  const other = await open(browser, site, "playground/index.html");
  await other.evaluate(`location.hash = ${JSON.stringify(fragment)}`);
  await other.until("document.getElementById('evidence:tests_failed')?.value === '1'");
  await judged(other);
  assert.equal(await shown(other, "law-verdict"), await shown(page, "law-verdict"));
  // What was entered after the address was made is there again when the page is loaded again.
  await enter(other, "evidence:tests_failed", "7");
  await other.evaluate("window.before = true");
  await other.call("Page.reload");
  await other.until("window.before === undefined && document.getElementById('output')?.dataset.state === 'done'");
  assert.equal(await other.evaluate("document.getElementById('evidence:tests_failed').value"), "7");
  await other.evaluate(`location.hash = ${JSON.stringify(fragment.slice(0, -1))}`);
  await other.until("document.getElementById('linked').textContent.startsWith('Cannot read the address')");
}

/** Texts that would run as script wherever they were taken for markup. */
const HOSTILE = `"><img src=x onerror="window.ran=1"><script>window.ran=1</script>`;

async function runsNothing(browser: Browser, site: string): Promise<void> {
  const spec = {
    spec_version: "dag-v3",
    namespace_id: 2,
    scenario_id: HOSTILE,
    conditions: [{
      condition_id: HOSTILE,
      observation_domain: { domain: "String", minimum_bytes: 0, maximum_bytes: 999 },
      predicate: { predicate: "Equals", expected: { value: HOSTILE, value_type: "String" } },
    }],
    stages: [{
      stage_id: HOSTILE,
      prerequisite: { kind: "root" },
      completion_requirement: { Condition: HOSTILE },
      entry_packets: [],
    }],
    completion_requirement: { Condition: HOSTILE },
  };
  const held = { law: JSON.stringify(spec), changed: HOSTILE, evidence: { [HOSTILE]: `${HOSTILE}!` }, parameters: {} };
  const fragmentOf = (value: unknown): string =>
    new TextEncoder().encode(JSON.stringify(value)).toBase64({ alphabet: "base64url", omitPadding: true });
  const whole = { ...held, signed: [HOSTILE], at: "" };
  const rows: readonly (readonly [name: string, fragment: string, isHeld: boolean])[] = [
    ["a hostile law", fragmentOf(whole), true],
    ["a member too many", fragmentOf({ ...whole, more: 1 }), false],
    ["a member missing", fragmentOf(held), false],
    ["a number for a text", fragmentOf({ ...whole, at: 1 }), false],
    ["evidence that is no text", fragmentOf({ ...whole, evidence: { a: 1 } }), false],
    ["no base64", "%3Cscript%3E", false],
    ["too long", "A".repeat(65_537), false],
  ];
  for (const [name, fragment, isHeld] of rows) {
    const page = await open(browser, site, "playground/index.html");
    await judged(page);
    await page.evaluate(`location.hash = ${JSON.stringify(`#${fragment}`)}`);
    await page.until(
      isHeld
        ? "document.getElementById('changed').value.includes('onerror')"
        : "document.getElementById('linked').textContent.startsWith('Cannot read the address')",
    );
    await judged(page);
    if (isHeld) assert.ok((await shown(page, "law-verdict")).includes(HOSTILE));
    assert.deepEqual(
      await page.evaluate("[window.ran ?? null, document.querySelectorAll('main img, main script[src]').length]"),
      [null, 0],
      name,
    );
    assertQuiet(page, site);
  }
}

/** Folders with vectors of what the playground runs. The verifier of runpacks has its own page and its own test. */
const KERNEL_VECTORS = ["canonical", "law", "run", "values"];

/** What vectors are judged with. */
const NO_VECTORS = new Set(["run/evidence_statements.keys", "run/submitted_statements.keys"]);

/** Lists of strings that are compared as a whole. */
const WHOLE = new Set(["canonical/order.utf16_code_units", "canonical/order.code_points"]);

/** The published vectors of the kernel: how many comparisons each section of each file takes at least. */
async function kernelVectors(): Promise<ReadonlyMap<string, number>> {
  const sections = new Map<string, number>();
  for (const folder of KERNEL_VECTORS) {
    const root = new URL(`../../vectors/${folder}/`, import.meta.url);
    for await (const { name } of Deno.readDir(root)) {
      const file = JSON.parse(await Deno.readTextFile(new URL(name, root))) as Record<string, unknown>;
      for (const [member, value] of Object.entries(file)) {
        const section = `${folder}/${name.replace(/\.json$/, "")}.${member}`;
        if (typeof value === "string" || NO_VECTORS.has(section)) continue;
        sections.set(section, Array.isArray(value) && !WHOLE.has(section) ? value.length : 1);
      }
    }
  }
  return sections;
}

async function passesVectors(browser: Browser, site: string): Promise<void> {
  const page = await open(browser, site, "playground/index.html");
  const script = await bundleScript(new URL("./site_vectors.ts", import.meta.url));
  await page.evaluate(`${script}; undefined`);
  const { counts, differing } = await page.evaluate("gateVectors") as {
    counts: Record<string, number>;
    differing: string[];
  };
  assert.deepEqual(differing, []);
  const sections = await kernelVectors();
  assert.ok(sections.size > 30, `${sections.size} sections`);
  for (const [section, length] of sections) {
    assert.ok(
      (counts[section] ?? 0) >= length,
      `${section} has ${length} vectors, of which ${counts[section] ?? 0} ran`,
    );
  }
  // The vectors can fail: another order differs where strings are in order.
  const faulty = "globalThis.gate = { ...gate, sortedBy: (items) => [...items] }";
  await page.evaluate(`${faulty}; ${script}; undefined`);
  const found = await page.evaluate("gateVectors.differing.map((one) => one.split(' ')[0])");
  assert.deepEqual(found, ["canonical/order.code_points"]);
}

/** What the playground shows, each after the one before it: fields and their texts, and what is then there. */
const STATES: readonly {
  readonly name: string;
  readonly fields: Readonly<Record<string, string>>;
  readonly has: string;
}[] = [
  { name: "an example", fields: {}, has: "#law-verdict .banner.bad, #changed-verdict .banner.good" },
  {
    name: "evidence that is no value",
    fields: { "evidence:tests_failed": "two" },
    has: "#law-verdict .problems .error",
  },
  {
    name: "no evidence",
    fields: { "evidence:tests_failed": "", "evidence:tested_commit": "" },
    has: "#law-verdict table",
  },
  { name: "a faulty law", fields: { law: "stages: [" }, has: "#law-problems .error" },
  { name: "no law", fields: { law: "", changed: "" }, has: "#law-verdict .note" },
];

async function looksRightInEveryState(browser: Browser, site: string): Promise<void> {
  const page = await open(browser, site, "playground/index.html");
  await judged(page);
  for (const { name, fields, has } of STATES) {
    for (const [id, text] of Object.entries(fields)) await enter(page, id, text);
    assert.notEqual(await page.evaluate(`document.querySelector(${JSON.stringify(has)})`), null, name);
    await assertLooks(page, `playground/${name}`, LOOKS);
  }
}

const IN_BROWSER: readonly (readonly [string, (browser: Browser, site: string) => Promise<void>])[] = [
  ["pages fit wide and narrow screens, light and dark, and axe-core finds nothing", looksRight],
  ["axe-core finds what is wrong in one look only", findsPlanted],
  ["the playground looks right in every state", looksRightInEveryState],
  ["pictures have the shape that their pages keep for them", showsPictures],
  ["the search finds sections, and takes no query for markup", searches],
  ["the playground decides, explains, and says what is missing", plays],
  ["a field takes a text of the maximum length, and refuses a longer one", refusesLongTexts],
  ["a worker reads long texts, and a question waits for the one before it", staysFree],
  ["each example is closed under its law and open under the changed one", offersExamples],
  ["an address holds the laws and the evidence", shares],
  ["nothing in a law, in evidence or in an address is run", runsNothing],
  ["the kernel in the playground passes every published vector of the kernel", passesVectors],
];
