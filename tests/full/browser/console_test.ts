/** The console in a browser: people decide, everyone can read it, and attacks end at the page. */

import assert from "node:assert/strict";
import axe from "npm:axe-core@4.14.1";
import { DatabaseSync } from "node:sqlite";
import { startConsole } from "../../e2e/people/console_process.ts";
import { gate, inFolder, STORES } from "../../e2e/gate_command.ts";
import { type Page, PICTURES, screenshot, startChromium } from "./chromium.ts";
import {
  answer,
  answerByKeyboard,
  click,
  fill,
  go,
  makeKey,
  makeWorld,
  type Person,
  reviewLaw,
  textOf,
  tokenOf,
  type World,
} from "./console_world.ts";

const QUESTION = "approve-review-approved";
const routeOf = (run: string, scenario = "release"): string => `#/run/2/${encodeURIComponent(scenario)}/${run}`;

/** Registers the keys that people made in their browsers, and restarts the server. */
async function trust(world: World, keys: Readonly<Record<string, string>>): Promise<void> {
  for (const [name, key] of Object.entries(keys)) {
    await Deno.writeTextFile(`${world.folder}/${name}.pub`, `${key}\n`);
    const trusted = await gate(world.folder, "key", "trust", `${name}.pub`, "--name", name);
    assert.equal(trusted.code, 0, trusted.stderr);
  }
  await world.restart();
}

const until = (page: Page, text: string): Promise<void> =>
  page.until(`document.querySelector("main")?.innerText.includes(${JSON.stringify(text)})`);

/** Uses a key file of `gate key create`; returns its public half. */
async function keyOfFile(world: World, page: Page): Promise<string> {
  await Deno.writeTextFile(`${world.folder}/pass.txt`, "open sesame\n");
  await gate(world.folder, "key", "create", "locked.key", "--passphrase-file", "pass.txt");
  await page.choose("key-file", [`${world.folder}/locked.key`]);
  await until(page, "This key file is encrypted: gate approve opens it");
  await gate(world.folder, "key", "create", "carol.key");
  // The bytes of a public key would make a private one that everyone knows.
  await page.choose("key-file", [`${world.folder}/carol.key.pub`]);
  await until(page, "This file holds no Ed25519 private key in PEM");
  await page.choose("key-file", [`${world.folder}/carol.key`]);
  await page.until(`document.getElementById("public-key") !== null`);
  const shown = String(await page.evaluate(`document.getElementById("public-key").textContent`));
  assert.equal(shown, (await Deno.readTextFile(`${world.folder}/carol.key.pub`)).trim());
  return shown;
}

/** A page that shows all there is asks nothing more: its stream says when there is more. */
async function comesToRest(page: Page): Promise<void> {
  for (let tries = 0; tries < 10; tries++) {
    const before = page.requests.length;
    await new Promise((resolve) => setTimeout(resolve, 1000));
    if (page.requests.length === before) return;
  }
  assert.fail("the page goes on asking");
}

/** Only this origin was asked, and nothing broke the policy. */
function assertQuiet(world: World, page: Page): void {
  assert.deepEqual(page.requests.filter((url) => new URL(url).origin !== world.origin && !url.startsWith("data:")), []);
  // A lost credential and a restart of the server are answers, not faults of the page.
  assert.deepEqual(page.complaints.filter((text) => !/status of 401|ERR_/.test(text)), []);
}

Deno.test("two people in two browsers: one approves, one refuses and changes their mind, a third may only look", async () => {
  await using world = await makeWorld();
  await Deno.writeTextFile(`${world.folder}/law.yaml`, reviewLaw(2));
  await Deno.writeTextFile(`${world.folder}/other.yaml`, reviewLaw(1));
  const run = await world.run("law.yaml", "one", "1.4.0");
  const [alice, bob, carol] = await Promise.all([world.open("alice"), world.open("bob"), world.open("carol")]);
  const keys = { alice: await makeKey(alice), bob: await makeKey(bob), carol: await keyOfFile(world, carol) };
  assert.equal(
    await alice.evaluate(`new Promise((done) => {
      const opening = indexedDB.open("gate-console", 1);
      opening.onsuccess = () => {
        const get = opening.result.transaction("keys").objectStore("keys").get("approver");
        get.onsuccess = () => crypto.subtle.exportKey("pkcs8", get.result.private_key).then(() => done("read"), () => done("kept"));
      };
    })`),
    "kept",
    "the private key cannot be read out",
  );
  await trust(world, keys);
  for (const page of [alice, bob, carol]) await go(page, routeOf(run));
  await until(carol, "Your key is not one that may answer");
  assert.equal(await carol.evaluate(`document.getElementById("${QUESTION}")`), null);
  await answerByKeyboard(alice, run, "approve", "Looks fine");
  // The stream brings it to the others: nobody reloads.
  await until(bob, "1 of 2: alice signed; bob may");
  await until(carol, "signed by alice: true. It counts (verified)");
  await bob.evaluate(`document.getElementById("refuse-review-approved").click()`);
  await bob.evaluate(`document.querySelector("dialog details").open = true`);
  const statement = JSON.parse(String(await bob.evaluate(`document.querySelector("dialog pre").textContent`)));
  assert.deepEqual([statement.run_id, statement.stage_id, statement.condition_id], [run, "review", "approved"]);
  await bob.evaluate(`document.querySelector("dialog").close()`);
  await bob.until(`document.querySelector("dialog") === null`);
  await click(alice, ".facts button");
  await answerByKeyboard(bob, run, "refuse", "Not on a Friday");
  await until(alice, "bob refused approved");
  assert.equal(await alice.evaluate("document.activeElement.id"), "heading-review", "the focus stays in place");
  await answer(bob, "approve", "It is Monday");
  await until(alice, "run complete");
  await until(carol, "complete");
  await comesToRest(carol);
  assert.match(await textOf(alice), /alice stated a value that satisfies approved: true/);
  const pack = ["--namespace", "2", "--run", run, "--archive", "run.runpack"];
  const exported = await gate(world.folder, "runpack", "export", ...pack);
  assert.equal(exported.code, 0, exported.stderr);
  assert.equal((await gate(world.folder, "runpack", "verify", "run.runpack")).code, 0);
  const shown = (await gate(world.folder, "runpack", "show", "run.runpack")).stdout;
  assert.match(shown, /alice stated a value that satisfies approved: true, by token:[0-9a-f]{64}\n.*\n +Looks fine\n/);
  assert.match(shown, /bob refused approved: false, by token:[0-9a-f]{64}\n.*\n +Not on a Friday\n/);
  const replayed = await gate(world.folder, "replay", "run.runpack", "--law", "other.yaml");
  assert.match(replayed.stdout, /3 of 5 decisions differ\n +revision 5 +review, attempt 2: unknown -> true\n/);
  await go(bob, "#/verify");
  await bob.choose("pack-file", [`${world.folder}/run.runpack`]);
  await bob.until(`["done", "failed"].includes(document.getElementById("pack-result").dataset.state)`);
  const verified = await textOf(bob);
  for (const text of ["bob refused approved", "It is Monday", "Looks fine"]) assert.ok(verified.includes(text), text);
  for (const page of [alice, bob, carol]) assertQuiet(world, page);
});

/** A law that asks two people where all tests have passed. */
const RED = `law: red
evidence:
  tests_failed: count
  approved: 2 of [alice, bob]
stages:
  ship: tests_failed == 0 && approved
`;

Deno.test("the dialog of a reviewer says how many tests failed, and who refused before, when and why", async () => {
  await using world = await makeWorld();
  const config = `${world.folder}/http.toml`;
  await Deno.writeTextFile(config, `${await Deno.readTextFile(config)}\n[evidence]\nallow_raw_values = true\n`);
  await Deno.writeTextFile(`${world.folder}/red.yaml`, RED);
  const red = ["run", "red.yaml", "--run-key", "red", "--set", "tests_failed=2", "--json"];
  const { stdout } = await gate(world.folder, ...red);
  const run = (JSON.parse(stdout) as { result: { run_id: string } }).result.run_id;
  const [alice, bob] = await Promise.all([world.open("alice"), world.open("bob")]);
  await trust(world, { alice: await makeKey(alice), bob: await makeKey(bob) });
  await bob.evaluate(axe.source);
  await go(bob, routeOf(run, "red"));
  await click(bob, "#approve-ship-approved");
  const dialog = `document.querySelector("dialog[open]")?.innerText ?? ""`;
  await bob.until(`(${dialog}).includes("tests_failed == 0: found 2 ✗")`);
  await examine(bob, "dialog_red");
  await bob.evaluate(`document.querySelector("dialog").close()`);
  await go(alice, routeOf(run, "red"));
  await answer(alice, "refuse", "Two tests are red", "ship-approved");
  await until(bob, "alice refused at");
  assert.match(
    await textOf(bob),
    /Asks people: approved\. 0 of 2: alice refused at [-\dT:.]+Z: "Two tests are red"; bob may/,
  );
  await examine(bob, "run_red");
  assertQuiet(world, bob);
});

/** Sizes and themes in which a state is examined, and the rules: another theme changes nothing but contrast. */
const VIEWS = [
  ["phone", 390, "light", "all"],
  ["phone", 390, "dark", "color-contrast"],
  ["laptop", 1280, "dark", "all"],
  ["wide", 1920, "light", "all"],
] as const;

/** Sizes of the pictures, each in both themes. */
const SIZES = [["phone", 390], ["laptop", 1280], ["wide", 1920]] as const;

/** The findings of axe in one state, in every view; with `GATE_BROWSER_PICTURES` also a picture in each size and theme. */
async function examine(page: Page, name: string): Promise<void> {
  for (const [size, width, theme, rules] of VIEWS) {
    const only = rules === "all" ? "" : `, runOnly: ["${rules}"]`;
    await showAs(page, width, theme);
    const found = await page.evaluate(
      `axe.run(document, { resultTypes: ["violations"]${only} }).then(({ violations }) => violations.map((one) =>
        one.id + ": " + one.nodes.map(({ html }) => html.slice(0, 120)).join(" | ")))`,
    );
    assert.deepEqual(found, [], `${name}, ${size}, ${theme}`);
    const sideways = await page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth");
    assert.equal(sideways, 0, `${name}, ${size}: the page scrolls sideways`);
  }
  if (PICTURES === undefined) return;
  for (const [size, width] of SIZES) {
    for (const theme of ["light", "dark"]) {
      await showAs(page, width, theme);
      await screenshot(page, `${PICTURES}/${name}_${size}_${theme}.png`);
    }
  }
}

async function showAs(page: Page, width: number, theme: string): Promise<void> {
  await page.call("Emulation.setDeviceMetricsOverride", { width, height: 900, deviceScaleFactor: 1, mobile: false });
  await page.call("Emulation.setEmulatedMedia", { features: [{ name: "prefers-color-scheme", value: theme }] });
}

/** A node of the tree that a browser gives to a screen reader. */
interface HeardNode {
  readonly nodeId: string;
  readonly ignored: boolean;
  readonly role?: { readonly value: string };
  readonly name?: { readonly value: string };
  readonly childIds?: readonly string[];
}

/** What a reader can go to or is told, besides plain text. */
const HEARD_ROLES = `alert banner button columnheader combobox contentinfo dialog DisclosureTriangle group
  heading image link main navigation region status table textbox`.split(/\s+/);

/** What is heard of a run that waits for a signature of the own key. */
const HEARD_RUN = [
  "link Skip to the content",
  "banner",
  "navigation Console",
  "link Runs",
  "link Waiting for me",
  "link Verify a runpack",
  "link Key and credential",
  "main",
  "heading Run of release",
  "button review",
  "region Graph",
  "heading Graph",
  "group Drawing of the stages",
  "image Stages of release with version",
  "group review: waiting, attempt 1 was unknown. immediately; needs approved",
  "group approved: waiting, 0 of 2: alice or bob may",
  "group build: blocked. after review; needs approved",
  "group approved: not judged",
  "group ship: blocked. after build; needs approved",
  "group approved: not judged",
  "group complete: not reached. complete when ship",
  "group",
  "DisclosureTriangle The stages as a list",
  "group",
  "DisclosureTriangle Who can complete it",
  "region Stages",
  "heading Stages",
  "heading review, waiting",
  "region Conditions of stage review",
  "table Conditions of stage review",
  "columnheader Condition",
  "columnheader Is",
  "columnheader Evidence and why it counts",
  "group",
  "DisclosureTriangle Which evidence counts",
  "group Question approved of stage review",
  "button Approve",
  "button Refuse",
  "heading build, blocked",
  "region Conditions of stage build",
  "table Conditions of stage build",
  "columnheader Condition",
  "columnheader Is",
  "columnheader Evidence and why it counts",
  "group",
  "DisclosureTriangle Which evidence counts",
  "heading ship, blocked",
  "region Conditions of stage ship",
  "table Conditions of stage ship",
  "columnheader Condition",
  "columnheader Is",
  "columnheader Evidence and why it counts",
  "group",
  "DisclosureTriangle Which evidence counts",
  "region Timeline",
  "heading Timeline",
  "heading Run created",
  "heading Opened review",
  "heading Evaluated review, attempt 1: unknown",
  "group Evidence of attempt 1",
  "table",
  "columnheader Condition",
  "columnheader Is",
  "columnheader Evidence",
  "columnheader Says",
  "columnheader Counts",
  "region What this page checked",
  "heading What this page checked",
  "status",
  "contentinfo",
];

/** What is heard of the question before a signature: nothing of the page behind it. */
const HEARD_QUESTION = [
  "dialog Approve",
  "heading Approve",
  "textbox Comment (goes on record)",
  "group",
  "DisclosureTriangle The statement that your key signs",
  "button Sign the approval",
  "button Cancel",
];

/** What is heard of a page once a place is among it: the browser gives the tree some time after the page. */
async function heardWith(page: Page, place: string): Promise<readonly string[]> {
  for (let tries = 0; tries < 400; tries++) {
    const lines = await heard(page);
    if (lines.includes(place)) return lines;
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
  throw new Error(`Nothing is heard of ${place}`);
}

/** Role and name of each place of a page, in the order of reading; random digits are left out. */
async function heard({ call }: Page): Promise<readonly string[]> {
  const { nodes } = await call("Accessibility.getFullAXTree") as unknown as { nodes: readonly HeardNode[] };
  const byId = new Map(nodes.map((node) => [node.nodeId, node]));
  const lines = (id: string): readonly string[] => {
    const { ignored, role, name, childIds = [] } = byId.get(id) ?? { ignored: true };
    const own = !ignored && HEARD_ROLES.includes(role?.value ?? "")
      ? [`${role?.value} ${name?.value ?? ""}`.trim()]
      : [];
    return [...own, ...childIds.flatMap(lines)];
  };
  return lines(nodes[0]?.nodeId ?? "").map((line) => line.replaceAll(/[0-9a-f]{12,}/g, "#"));
}

/** Answers of the network in place of those of the server; null is the server again. */
async function answerWith(page: Page, answered: string | null): Promise<void> {
  const own = answered === null ? "window.honest" : `(address, options) => { ${answered} }`;
  await page.evaluate(`window.honest ??= window.fetch; window.fetch = ${own}; undefined`);
}

/** What a page shows before, and without, an answer of the server. */
async function examineNetwork(page: Page, run: string): Promise<void> {
  const pages = [["runs", "#/runs"], ["waiting", "#/waiting"], ["run", routeOf(run)]] as const;
  for (const [name, route] of pages) {
    await answerWith(page, "return new Promise(() => {})");
    await page.evaluate(`location.hash = ${JSON.stringify(route)}`);
    await page.until(`document.querySelector("[aria-busy=true]") !== null`);
    await examine(page, `${name}_loading`);
    await answerWith(page, "return Promise.reject(new TypeError())");
    await go(page, "#/verify");
    await go(page, route);
    await until(page, "The server does not answer");
    await examine(page, `${name}_unreachable`);
  }
  const nothing = JSON.stringify({ jsonrpc: "2.0", id: 1, result: { completion: { values: [] } } });
  await answerWith(page, `return Promise.resolve(new Response(${JSON.stringify(nothing)}))`);
  await go(page, "#/runs");
  await until(page, "There is no law that you may read");
  await examine(page, "runs_no_role");
  const listening = `options.body.includes("subscriptions/listen")`;
  await answerWith(page, `return ${listening} ? Promise.reject(new TypeError()) : window.honest(address, options)`);
  await go(page, "#/verify");
  await go(page, routeOf(run));
  await until(page, "Not live: reconnecting");
  await examine(page, "run_reconnecting");
  const differs = `{ ...value, waiting: undefined, unreadable: "the store differs from what was written" }`;
  const replacer = `(name, value) => value?.waiting?.length > 0 ? ${differs} : value`;
  const damaged = `(json) => JSON.stringify(JSON.parse(json), ${replacer})`;
  const answered = `await (await window.honest(address, options)).text()`;
  await answerWith(page, `return (async () => new Response((${answered}).replace(/\\{.*\\}/, ${damaged})))()`);
  await go(page, "#/key");
  await go(page, "#/waiting");
  await until(page, "Cannot be read");
  await examine(page, "waiting_unread");
}

/** Keys: none, of an encrypted file, of a file, of the browser, and one that is about to be removed. */
async function examineKeys(world: World, page: Page): Promise<void> {
  await examine(page, "no_key");
  await Deno.writeTextFile(`${world.folder}/pass.txt`, "open sesame\n");
  await gate(world.folder, "key", "create", "locked.key", "--passphrase-file", "pass.txt");
  await page.choose("key-file", [`${world.folder}/locked.key`]);
  await until(page, "This key file is encrypted");
  await examine(page, "key_file_encrypted");
  await gate(world.folder, "key", "create", "open.key");
  await page.choose("key-file", [`${world.folder}/open.key`]);
  await until(page, "A key file is in use");
  await examine(page, "key_file");
  await click(page, "#key-remove");
  await trust(world, { alice: await makeKey(page) });
  await examine(page, "key");
  await click(page, "#key-remove");
  await until(page, "Remove it for ever");
  await examine(page, "key_removal");
  await go(page, "#/runs");
}

/** Evidence that is out of date, a provider without an answer, and a question for other keys. */
async function examineConditions(world: World, page: Page): Promise<void> {
  const law = (scenario: string, policy: Record<string, unknown>): string => {
    const written = JSON.parse(reviewLaw(1, { scenario })) as { conditions: { evidence_use_policy: object }[] };
    Object.assign(written.conditions[0]?.evidence_use_policy ?? {}, policy);
    return JSON.stringify(written);
  };
  const rows = [
    ["expired", law("expired", { freshness: { freshness: "MaximumAge", maximum_age_millis: 1 } }), "Approve"],
    ["unavailable", DISCLOSING.replace("disclosing", "unavailable"), "unavailable"],
    ["not_mine", law("not_mine", { authorized_key_ids: ["bob"] }), "Your key is not one that may answer"],
  ] as const;
  await registerSchemas(world);
  for (const [name, text, shown] of rows) {
    await Deno.writeTextFile(`${world.folder}/${name}.json`, text);
    await go(page, routeOf(await world.run(`${name}.json`, name, "1.4.0"), name));
    await until(page, shown);
    if (name === "expired") {
      await answer(page, "approve", "");
      await until(page, "It does not count: not fresh");
    }
    await examine(page, `run_${name}`);
  }
}

/** Packs: no pack, a damaged one, and one that is not admitted. */
async function examinePacks(world: World, page: Page, run: string): Promise<void> {
  await gate(world.folder, "runpack", "export", "--namespace", "2", "--run", run, "--archive", "run.runpack");
  const bytes = await Deno.readFile(`${world.folder}/run.runpack`);
  const middle = Math.floor(bytes.length / 2);
  bytes[middle] = (bytes[middle] ?? 0) ^ 1;
  await Deno.writeFile(`${world.folder}/damaged.runpack`, bytes);
  await Deno.writeTextFile(`${world.folder}/none.runpack`, "none");
  const rows = [["verify", "run", ""], ["verify_damaged", "damaged", ""], ["verify_failed", "none", ""], [
    "verify_refused",
    "run",
    "0".repeat(64),
  ]] as const;
  for (const [name, file, law] of rows) {
    await go(page, "#/key");
    await go(page, "#/verify");
    await page.evaluate(`document.querySelector("details").open = true`);
    await fill(page, "#pack-law", law);
    await page.choose("pack-file", [`${world.folder}/${file}.runpack`]);
    await page.until(`["done", "failed"].includes(document.getElementById("pack-result").dataset.state)`);
    await examine(page, name);
  }
}

/** Opens the dialog of an answer and examines it. */
async function examineDialog(own: Page, kind: string): Promise<void> {
  await click(own, `#${kind}-review-approved`);
  await own.until(`document.querySelector("dialog[open]") !== null`);
  await examine(own, `dialog_${kind}`);
  await own.evaluate(`document.querySelector("dialog").close()`);
  await own.until(`document.querySelector("dialog") === null`);
}

/** Low windows, in CSS pixels: a laptop with many bars, a phone with its keyboard, and a phone on its side. */
const LOW_WINDOWS = [[1280, 580], [390, 580], [740, 360]] as const;

/** The buttons of the dialog can be clicked without scrolling: nothing is over them, and they are in the window. */
async function buttonsAreSeen(own: Page): Promise<void> {
  for (const [width, height] of LOW_WINDOWS) {
    await own.call("Emulation.setDeviceMetricsOverride", { width, height, deviceScaleFactor: 1, mobile: false });
    const hit = `[...document.querySelectorAll("dialog .actions button")].map((one) => {
      const { left, right, top, bottom } = one.getBoundingClientRect();
      const [x, y] = [(left + right) / 2, (top + bottom) / 2];
      return [[left + 1, y], [right - 1, y], [x, top + 1], [x, bottom - 1]].every(([x, y]) => document.elementFromPoint(x, y) === one);
    }).join()`;
    assert.equal(await own.evaluate(hit), "true,true", `${width} x ${height}`);
    if (PICTURES !== undefined) {
      const { data } = await own.call("Page.captureScreenshot", { format: "png" });
      await Deno.writeFile(`${PICTURES}/sign_low_${width}.png`, Uint8Array.fromBase64(String(data)));
    }
  }
}

/** The dialog, which the keyboard leaves as it entered, and the run after it. */
async function examineSigning(own: Page): Promise<void> {
  await examineDialog(own, "refuse");
  await click(own, `#${QUESTION}`);
  await fill(own, "#answer-comment", "The changelog is complete");
  await examine(own, "sign");
  assert.deepEqual(await heardWith(own, "dialog Approve"), HEARD_QUESTION);
  await own.evaluate(`document.querySelector("dialog details").open = true`);
  await buttonsAreSeen(own);
  await examine(own, "sign_statement");
  assert.equal(await own.evaluate("document.activeElement.id"), "answer-comment");
  await own.call("Input.dispatchKeyEvent", {
    type: "keyDown",
    key: "Escape",
    code: "Escape",
    windowsVirtualKeyCode: 27,
  });
  await own.until(`document.querySelector("dialog") === null`);
  assert.equal(await own.evaluate("document.activeElement.id"), QUESTION, "the focus goes back");
  await answer(own, "refuse", "Not on a Friday");
  await until(own, "alice refused approved");
  await examine(own, "run_refused");
  await examineDialog(own, "withdraw");
  await answer(own, "withdraw", "");
  await until(own, "alice withdrew its statement on approved");
  await examine(own, "run_withdrawn");
  await answer(own, "approve", "The changelog is complete");
  await examine(own, "run_approved");
}

/** A value that is refused, a run that does not exist, and one that was archived. */
async function examineOutcomes(world: World, own: Page): Promise<void> {
  await Deno.writeTextFile(`${world.folder}/number.yaml`, reviewLaw(1, { scenario: "number", asksNumber: true }));
  const number = await world.run("number.yaml", "three", "1.6.0");
  await go(own, routeOf(number, "number"));
  await click(own, "#answer-review-approved");
  await fill(own, "#answer-value", "12");
  await click(own, "#answer-sign");
  await own.until(`document.querySelector("dialog [role=alert]") !== null`);
  assert.match(
    String(await own.evaluate(`document.querySelector("dialog [role=alert]").textContent`)),
    /The server refused the statement \(payload rejected\): Expected at most 9, got 12/,
  );
  await examine(own, "refused_value");
  await fill(own, "#answer-value", "7");
  await click(own, "#answer-sign");
  await until(own, "run complete");
  await go(own, `#/run/2/release/${"0".repeat(32)}`);
  await until(own, "Cannot find run");
  await examine(own, "missing_run");
  const archived = await gate(world.folder, "store", "archive", "--before", new Date(Date.now() + 1).toISOString());
  assert.equal(archived.code, 0, archived.stderr);
  await go(own, routeOf(number, "number"));
  await until(own, "This run is archived");
  await examine(own, "run_archived");
}

Deno.test("every page and state has no finding of axe, light and dark, on phone, laptop and wide screens", async () => {
  await using world = await makeWorld();
  const own = await world.open("alice");
  await own.evaluate(axe.source);
  await go(own, "#/waiting");
  await examine(own, "waiting_empty");
  await go(own, "#/runs");
  await until(own, "0 runs");
  await examine(own, "runs_empty");
  await go(own, "#/key");
  await examineKeys(world, own);
  await Deno.writeTextFile(`${world.folder}/law.yaml`, reviewLaw(2, { following: ["build", "ship"] }));
  const run = await world.run("law.yaml", "one", "1.4.0");
  const other = await world.run("law.yaml", "two", "1.5.0");
  const page = await world.browser.visit(`${world.origin}/console`, await world.browser.context());
  await page.evaluate(axe.source);
  await until(page, "The server asks for a credential");
  const files = page.requests.filter((url) => !url.endsWith("/mcp") && !url.startsWith("data:"));
  assert.deepEqual(files.map((url) => url.replace(/-[0-9a-f]{16}/, "")).sort(), [
    `${world.origin}/console/console.css`,
    `${world.origin}/console/console.js`,
  ], "the first view is the document and two files");
  await examine(page, "no_credential");
  await go(own, routeOf(run));
  await until(own, "Live: changes appear by themselves");
  await examine(own, "run");
  assert.deepEqual(await heardWith(own, "button Refuse"), HEARD_RUN);
  await examineSigning(own);
  await go(own, "#/runs");
  assert.equal(await own.evaluate("document.activeElement.tagName"), "H1");
  await examine(own, "runs");
  await fill(own, "[name=scenario]", "no such scenario");
  await until(own, "0 runs");
  await examine(own, "runs_no_match");
  await go(own, "#/waiting");
  const [mine = "", others = ""] = (await textOf(own)).split("For other keys");
  assert.deepEqual([mine.includes(other.slice(0, 12)), mine.includes(run.slice(0, 12))], [true, false], mine);
  assert.ok(others.includes(run.slice(0, 12)), others);
  assert.ok(others.includes("no registered key left"), "the law names Bob too, whose key is not registered");
  await examine(own, "waiting");
  await examinePacks(world, own, run);
  await examineConditions(world, own);
  await examineOutcomes(world, own);
  assertQuiet(world, own);
  await examineNetwork(own, run);
});

/** Text that would run as script, load something or break out wherever it was taken for markup. */
const HOSTILE =
  `"><img src=x onerror="window.ran=1"></b><script>window.ran=1</script><a href="javascript:window.ran=1">x</a>`;
const LINKS = "javascript:window.ran=1 https://evil.test/?q=1 //evil.test \u202egnp.exe";

/** Hostile JSON: in the payload of a packet, and read by a provider. */
const HOSTILE_JSON = { [HOSTILE]: [LINKS, { "</script>": HOSTILE }] };

/**
 * A law whose packets have hostile texts in every place. Its provider reads a file that does not exist, and a file with
 * {@link HOSTILE_JSON}.
 */
const DISCLOSING = JSON.stringify({
  spec_version: "dag-v3",
  namespace_id: 2,
  scenario_id: "disclosing",
  parameters: [{ parameter_id: "version", domain: { domain: "String", minimum_bytes: 1, maximum_bytes: 256 } }],
  conditions: [{
    condition_id: "read",
    observation_domain: { domain: "String", minimum_bytes: 1, maximum_bytes: 256 },
    predicate: { predicate: "Equals", expected: { value: `${HOSTILE}${LINKS}`, value_type: "String" } },
  }, {
    condition_id: "told",
    observation_domain: { domain: "Json", maximum_bytes: 4096 },
    predicate: { predicate: "Equals", expected: { value: HOSTILE_JSON, value_type: "Json" } },
  }],
  acquisition_bindings: [
    ["read", `${HOSTILE}${LINKS}`],
    ["told", "told.json"],
  ].map(([id, file]) => ({
    binding_id: `json.${id}`,
    condition_id: id,
    channel: "local_acquisition",
    provider_id: "json",
    check_id: "path",
    params: { file, jsonpath: `$.${id}` },
  })),
  stages: [{
    stage_id: "disclose",
    prerequisite: { kind: "root" },
    completion_requirement: { And: [{ Condition: "read" }, { Condition: "told" }] },
    entry_packets: [{
      packet_id: "told",
      schema_id: "told",
      content_type: "application/json",
      visibility_labels: [],
      targets: [{ kind: "agent", agent_id: "told" }],
      payload: { kind: "json", value: HOSTILE_JSON },
    }, {
      packet_id: HOSTILE,
      schema_id: HOSTILE,
      content_type: "text/html",
      visibility_labels: [HOSTILE],
      targets: [{ kind: "external", system: HOSTILE, target: LINKS }, { kind: "agent", agent_id: LINKS }],
      payload: {
        kind: "external",
        content_ref: { uri: LINKS, content_hash: { algorithm: "sha256", value: "0".repeat(64) } },
      },
    }],
  }],
  completion_requirement: { Condition: "disclose" },
});

/** Registers the schemas that the packets of {@link DISCLOSING} name. */
async function registerSchemas({ folder }: World): Promise<void> {
  for (const schema_id of ["told", HOSTILE]) {
    const record = { schema_id, version: "1", namespace_id: 2, description: "Any value", schema: {} };
    const call = { record: { ...record, created_at: { kind: "unix_millis", value: 1 } } };
    await Deno.writeTextFile(`${folder}/schema.json`, JSON.stringify(call));
    const { code, stderr } = await gate(folder, "client", "call", "schemas_register", "--input", "schema.json");
    assert.equal(code, 0, stderr);
  }
}

/** Everything on a page that could run, load, lead elsewhere, or look like another text. */
const DANGERS = `[
  window.ran,
  document.querySelectorAll("img, iframe, object, embed, form[action], main script, base, meta[http-equiv]").length,
  [...document.querySelectorAll("a")].filter((one) => !one.getAttribute("href").startsWith("#")).length,
  [...document.querySelectorAll("*")].filter((one) => [...one.attributes].some(({ name }) => name.startsWith("on"))).length,
  document.body.textContent.includes("\u202e") || document.querySelector("[aria-label*='\u202e'], [title*='\u202e']") !== null,
]`;
const NO_DANGER = [null, 0, 0, 0, false];

/** Records what the page sends, and lets a test change what it is answered: a hostile server. */
const HOSTILE_SERVER = `
  window.sent = [];
  window.swap = null;
  const honest = window.fetch;
  window.fetch = async (address, options) => {
    window.sent.push(String(options.body));
    const response = await honest(address, options);
    if (window.swap === null || !options.body.includes('"name":"' + window.swap.tool + '"')) return response;
    const text = await response.text();
    return new Response(text.replaceAll(window.swap.from, window.swap.to), { status: response.status });
  };
`;

const sentOf = (tool: string): string => `window.sent.filter((one) => one.includes('"name":"${tool}"'))`;

Deno.test("hostile ids, parameters and comments are text, and a hostile server gets no signature for what was not shown", async () => {
  await using world = await makeWorld();
  const names = { scenario: HOSTILE, stage: `s${LINKS}`, condition: `c"'<b>&amp;` };
  await Deno.writeTextFile(`${world.folder}/law.yaml`, reviewLaw(2));
  await Deno.writeTextFile(`${world.folder}/hostile.yaml`, reviewLaw(2, names));
  const run = await world.run("law.yaml", "one", "1.4.0");
  await Deno.writeTextFile(`${world.folder}/disclosing.yaml`, DISCLOSING);
  await registerSchemas(world);
  const hostile = await world.run("hostile.yaml", "two", `${HOSTILE}\u202e`);
  await Deno.writeTextFile(`${world.folder}/evidence/told.json`, JSON.stringify({ told: HOSTILE_JSON }));
  const disclosing = await world.run("disclosing.yaml", "three", "1.4.0");
  const alice = await world.open("alice");
  await alice.evaluate(HOSTILE_SERVER);
  await trust(world, { alice: await makeKey(alice) });
  await go(alice, "#/runs");
  assert.deepEqual(await alice.evaluate(DANGERS), NO_DANGER, "runs");
  await go(alice, routeOf(hostile, HOSTILE));
  await until(alice, "Live: changes appear by themselves");
  const shown = await textOf(alice);
  assert.ok(shown.includes(HOSTILE), "the id is shown as it is");
  assert.ok(shown.includes("\\u{202e}"), "a direction mark is written out");
  const question = `s${LINKS}-${names.condition}`;
  await alice.evaluate(`document.getElementById(${JSON.stringify(`approve-${question}`)}).click()`);
  await fill(alice, "#answer-comment", `${HOSTILE}\u202e`);
  assert.deepEqual(await alice.evaluate(DANGERS), NO_DANGER, "the dialog");
  await click(alice, "#answer-sign");
  await until(alice, "Your key has a statement on record");
  assert.deepEqual(await alice.evaluate(DANGERS), NO_DANGER, "the run");
  await gate(world.folder, "runpack", "export", "--namespace", "2", "--run", hostile, "--archive", "hostile.runpack");
  await go(alice, "#/verify");
  await alice.choose("pack-file", [`${world.folder}/hostile.runpack`]);
  await alice.until(`document.getElementById("pack-result").dataset.state === "done"`);
  assert.ok((await textOf(alice)).includes(HOSTILE), "the comment in the runpack");
  assert.deepEqual(await alice.evaluate(DANGERS), NO_DANGER, "the runpack");
  for (const route of [routeOf(HOSTILE), "#/run/x/%/%ff", "#/__proto__", "#/constructor", `#/${HOSTILE}`]) {
    await go(alice, route);
    assert.deepEqual(await alice.evaluate(DANGERS), NO_DANGER, route);
  }
  await go(alice, routeOf(disclosing, "disclosing"));
  const disclosed = await textOf(alice);
  for (const text of [`file_not_found: File "${HOSTILE.slice(0, 9)}`, "javascript:window.ran=1", HOSTILE]) {
    assert.ok(disclosed.includes(text), text);
  }
  const row =
    `[...document.querySelectorAll("main tbody tr")].find((one) => one.querySelector("b")?.textContent.startsWith("told == json("))`;
  const told = String(await alice.evaluate(`${row}.innerText`));
  for (const text of ["It counts", `${JSON.stringify(HOSTILE).slice(1, -1)}":["javascript:window.ran=1`]) {
    assert.ok(told.includes(text), told);
  }
  assert.deepEqual(await alice.evaluate(DANGERS), NO_DANGER, "packets, the value and the error of a provider");
  await policyHolds(alice);
  await refusesFrames(world);
  await signsWhatWasShown(world, alice, run);
  await replaysNothing(alice, run, await world.run("law.yaml", "another", "1.4.0"));
  const stranger = await world.browser.visit(`${world.origin}/console${routeOf(run)}`, await world.browser.context());
  await until(stranger, "The server asks for a credential");
  assert.equal(await stranger.evaluate("location.href.includes('0000')"), false, "no credential in an address");
  const used = await alice.evaluate(
    "JSON.stringify([location.href, document.cookie, { ...localStorage }, { ...sessionStorage }])",
  );
  assert.doesNotMatch(String(used), /alice0/, "the token is nowhere but in memory");
  await pagesRuns(alice, run);
  await showsAllThatWaits(world, alice, run);
  await readsTenThousandRuns(world, alice, run);
  await showsLargeLaw(world, alice);
});

/** Markup and foreign addresses are stopped by the policy, also for a script that runs in the page. */
async function policyHolds(page: Page): Promise<void> {
  const tries = [
    [`(() => { document.body.innerHTML = "<b>x</b>"; return "done"; })()`, "stopped"],
    [`(() => { new DOMParser().parseFromString("<b>x</b>", "text/html"); return "done"; })()`, "stopped"],
    [`fetch("http://127.0.0.1:9/").then(() => "done")`, "stopped"],
    [
      `new Promise((done, fail) => { const one = new Image(); one.onload = done; one.onerror = fail; one.src = "/x.png"; })`,
      "stopped",
    ],
    [
      `(() => { const one = document.createElement("script"); one.textContent = "window.ran=1"; return "done"; })()`,
      "stopped",
    ],
  ] as const;
  for (const [attempt, outcome] of tries) {
    const result = await page.evaluate(`(async () => ${attempt})().catch(() => "stopped")`);
    assert.equal(result, outcome, attempt);
  }
}

/** A page of another site cannot show the console in a frame. */
async function refusesFrames(world: World): Promise<void> {
  const frame = `<iframe src="${world.origin}/console#/runs" onload="document.title = 'framed'"></iframe>`;
  await using site = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen: () => {} },
    () => new Response(`<!doctype html><title>Game</title>${frame}`, { headers: { "content-type": "text/html" } }),
  );
  const page = await world.browser.visit(`http://127.0.0.1:${site.addr.port}/`, await world.browser.context());
  await page.until(`document.title === "framed"`);
  await page.call("Page.navigate", { url: "about:blank" });
  assert.match(page.complaints.join("\n"), /frame/i);
  assert.deepEqual(page.requests.filter((url) => url.includes("/console/console-")), [], "no script of it was loaded");
}

/** A law of 200 stages is drawn whole, with a bounded number of elements for each stage, and fits the page. */
async function showsLargeLaw(world: World, page: Page): Promise<void> {
  const following = Array.from({ length: 199 }, (_, index) => `stage ${index}`);
  await Deno.writeTextFile(`${world.folder}/large.yaml`, reviewLaw(2, { scenario: "large", following }));
  await go(page, routeOf(await world.run("large.yaml", "large", "1.4.0"), "large"));
  const counted = await page.evaluate(`[
    document.querySelectorAll("svg.gate-graph g.stage").length,
    document.querySelectorAll(".stage-card").length,
    document.documentElement.scrollWidth - document.documentElement.clientWidth,
  ]`);
  assert.deepEqual(counted, [200, 200, 0]);
  const nodes = Number(await page.evaluate(`document.querySelectorAll("*").length`));
  assert.ok(nodes < 200 * 100, `${nodes} elements`);
  await click(page, ".facts button");
  assert.equal(await page.evaluate(`document.activeElement.closest(".stage-card").id`), "stage-review");
}

/** Runs are shown in pages of 100, so that ten thousand runs are no more work for a page than a hundred. */
async function pagesRuns(page: Page, run: string): Promise<void> {
  const started = await page.evaluate(`(async () => {
    const law = document.querySelectorAll(".facts code")[1].textContent;
    const ask = async (name, input) => (await (await fetch("/mcp", { method: "POST", headers: {
      "content-type": "application/json", authorization: "Bearer ${tokenOf("alice")}",
      "mcp-protocol-version": "2026-07-28", "mcp-method": "tools/call", "mcp-name": name,
    }, body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name, arguments: input, _meta: {
      "io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {},
    } } }) })).json()).result.structuredContent;
    const parameters = [{ parameter_id: "version", value: { value: "2", value_type: "String" } }];
    let count = 0;
    for (let index = 0; index < 202; index++) {
      const { outcome } = await ask("scenario_start", { namespace_id: 2, scenario_id: "release",
        scenario_law_identity: law, creation_request_id: index.toString(16).padStart(32, "0"),
        correlation: { kind: "set", correlation_id: "'&lt&#60%3Cb%3E|~^*+" }, genesis: { kind: "parameters", parameters } });
      const { run_key, head } = outcome.result;
      const opened = await ask("scenario_open_stage", { ...run_key, scenario_id: "release", stage_id: "review",
        expected_head: head, operation_id: "a".repeat(32) });
      if (opened.outcome.outcome === "accepted") count++;
    }
    return count;
  })()`);
  assert.equal(started, 202);
  await go(page, "#/runs");
  const rows: unknown[] = [];
  const countRows = async (): Promise<void> => {
    rows.push(await page.evaluate(`document.querySelectorAll("main tbody tr").length`));
  };
  await countRows();
  const nodes = Number(await page.evaluate(`document.querySelectorAll("*").length`));
  assert.ok(nodes < 2500, `${nodes} elements`);
  for (const shown of [200, 206]) {
    await click(page, "#more");
    await page.until(`document.querySelectorAll("main tbody tr").length === ${shown}`);
    await countRows();
  }
  assert.deepEqual(rows, [100, 200, 206]);
  assert.deepEqual(await page.evaluate(DANGERS), NO_DANGER, "correlation ids");
  assert.ok((await textOf(page)).includes("'&lt&#60%3Cb%3E|~^*+"), "the characters that a correlation id may have");
  assert.equal(await page.evaluate(`document.getElementById("more")`), null, "there are no more");
  assert.ok((await textOf(page)).includes(run.slice(0, 12)), "the oldest run is on the last page");
}

/** Every active run is read, and one that cannot be read hides no other one. */
async function showsAllThatWaits(world: World, page: Page, run: string): Promise<void> {
  using database = new DatabaseSync(`${world.folder}/gate.db`);
  const [row] = database.prepare("SELECT run_row, run_id FROM runs ORDER BY run_row DESC LIMIT 1 OFFSET 50").all();
  database.prepare("UPDATE records SET record = record || ' ' WHERE run_row = ?").run(Number(row?.["run_row"]));
  const unread = String(row?.["run_id"]).slice(0, 12);
  // The server had the run in memory.
  await world.restart();
  await page.evaluate("window.sent.length = 0");
  await go(page, "#/waiting");
  const shown = await textOf(page);
  for (const text of ["206 active runs read", "Cannot be read", "Show more of "]) {
    assert.ok(shown.includes(text), text);
  }
  const [, failed = ""] = shown.split("Cannot be read");
  assert.ok(failed.includes(unread), failed);
  assert.equal(
    await page.evaluate(`document.querySelectorAll("main tbody tr").length`),
    102,
    "a page, one of another key, and the failure",
  );
  const pages = `${sentOf("runs_list")}.filter((one) => one.includes('"include":["waiting"]')).length`;
  const counted = await page.evaluate(`[${pages}, ${sentOf("scenario_status")}.length]`);
  assert.deepEqual(counted, [3, 0], "a call for each hundred runs, and none for one of them");
  for (let more = 1; more < 3; more++) {
    await page.evaluate(
      `[...document.querySelectorAll("main button")].find((one) => !one.parentElement.hidden).click()`,
    );
  }
  assert.equal(await page.evaluate(`document.querySelectorAll("main tbody tr").length`), 205);
  assert.ok((await textOf(page)).includes(run.slice(0, 12)), "the oldest run");
}

/** Starts so many runs of the law of a run, from the test itself. */
async function startMany(world: World, run: string, count: number): Promise<void> {
  const call = async (name: string, input: object): Promise<Record<string, unknown>> => {
    const headers = {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      authorization: `Bearer ${tokenOf("alice")}`,
      "mcp-protocol-version": "2025-11-25",
    };
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name, arguments: input } });
    const answer = await (await fetch(`${world.origin}/mcp`, { method: "POST", headers, body })).json();
    return answer.result.structuredContent;
  };
  using database = new DatabaseSync(`${world.folder}/gate.db`, { readOnly: true });
  const bound = database.prepare("SELECT law_identity FROM runs WHERE run_id = ?").get(run);
  const parameters = [{ parameter_id: "version", value: { value: "2", value_type: "String" } }];
  let next = 0;
  await Promise.all(Array.from({ length: 32 }, async () => {
    while (next < count) {
      const { outcome } = await call("scenario_start", {
        namespace_id: 2,
        scenario_id: "release",
        scenario_law_identity: bound?.["law_identity"],
        creation_request_id: `e${(next++).toString(16).padStart(31, "0")}`,
        correlation: { kind: "unset" },
        genesis: { kind: "parameters", parameters },
      });
      assert.equal((outcome as { outcome: string }).outcome, "accepted");
    }
  }));
}

/** Ten thousand runs are no more for the page than its first hundred, and each is found. */
async function readsTenThousandRuns(world: World, page: Page, run: string): Promise<void> {
  await startMany(world, run, 10_000 - 206);
  await go(page, "#/runs");
  const counted = `[document.querySelectorAll("main tbody tr").length, document.querySelectorAll("*").length < 2500]`;
  assert.deepEqual(await page.evaluate(counted), [100, true]);
  assert.ok(!(await textOf(page)).includes(run.slice(0, 12)), "the oldest run is on the last page");
  await fill(page, "input[name=run]", run.slice(0, 8));
  await click(page, "form.filters button");
  await until(page, run.slice(0, 12));
  assert.equal(await page.evaluate(`document.querySelectorAll("main tbody tr").length`), 1);
  await page.evaluate("window.sent.length = 0");
  await go(page, "#/waiting");
  await until(page, "10000 active runs read");
  const pages = `${sentOf("runs_list")}.filter((one) => one.includes('"include":["waiting"]')).length`;
  assert.deepEqual(await page.evaluate(`[${pages}, ${sentOf("scenario_status")}.length]`), [100, 0]);
  assert.ok((await textOf(page)).includes("Show more of "));
}

/** A server that shows another law or history between showing and signing gets nothing. */
async function signsWhatWasShown(world: World, page: Page, run: string): Promise<void> {
  await go(page, routeOf(run));
  await until(page, "Live: changes appear by themselves");
  const law = String(await page.evaluate(`document.querySelectorAll(".facts code")[1].textContent`));
  const swaps = [
    ["scenarios_get", `"minimum":2`, `"minimum":1`, "The server shows another law than"],
    ["scenario_history", law, "0".repeat(64), "The server shows another law than|Cannot find law"],
    ["scenario_history", `"principal":"stdio"`, `"principal":"other"`, "Cannot fold record"],
    ["scenario_history", run, "0".repeat(32), "Cannot fold record"],
  ] as const;
  for (const [tool, from, to, refused] of swaps) {
    await click(page, `#${QUESTION}`);
    const before = await page.evaluate(`${sentOf("scenario_submit")}.length`);
    await page.evaluate(`window.swap = ${JSON.stringify({ tool, from, to })}`);
    await click(page, "#answer-sign");
    await page.until(`document.querySelector("dialog [role=alert]") !== null`);
    const why = String(await page.evaluate(`document.querySelector("dialog [role=alert]").textContent`));
    assert.match(why, new RegExp(refused), `${tool} ${from}`);
    assert.equal(await page.evaluate(`${sentOf("scenario_submit")}.length`), before, "nothing was sent");
    await page.evaluate(`window.swap = null; document.querySelector("dialog").close()`);
    await page.until(`document.querySelector("dialog") === null`);
  }
  const waiting = await gate(world.folder, "waiting", "--json", "--evidence-keys", "evidence-keys");
  assert.match(waiting.stdout, /"have":0/);
}

/** Replays of an approval: the run, whose credential, what is changed, and why it is refused. */
const REPLAYS:
  readonly (readonly [what: string, run: "same" | "other", person: Person, change: string, why: RegExp])[] = [
    ["as it is", "same", "alice", "", /statement_not_newer/],
    ["by another person", "same", "bob", "", /statement_not_newer/],
    ["in another run of the law, with its opening", "other", "alice", "", /payload_rejected/],
    ["as if it were newer", "same", "alice", "payload.observed_at += 1000", /signature/],
    ["with another comment", "same", "alice", "payload.observed_at += 1000; payload.comment = 'No'", /signature/],
    [
      "with the opposite value",
      "same",
      "alice",
      "payload.observed_at += 1000; payload.value.value = false",
      /signature/,
    ],
  ];

/** A recorded approval cannot be sent again: not at once, not after a withdrawal, not elsewhere, and not changed. */
async function replaysNothing(page: Page, run: string, other: string): Promise<void> {
  await answer(page, "approve", "Yes");
  const approval = JSON.parse(String(await page.evaluate(`${sentOf("scenario_submit")}.at(-1)`))) as {
    params: { arguments: Record<string, unknown> };
  };
  await until(page, "Your key has a statement on record");
  const replay = async (moment: string): Promise<void> => {
    const revisions = new Set<string | undefined>();
    for (const [what, which, person, change, why] of REPLAYS) {
      const outcome = String(
        await page.evaluate(`(async () => {
        const call = ${JSON.stringify(approval)};
        const ask = (name, input) => fetch("/mcp", { method: "POST", headers: {
          "content-type": "application/json", authorization: "Bearer ${tokenOf(person)}",
          "mcp-protocol-version": "2026-07-28", "mcp-method": "tools/call", "mcp-name": name,
        }, body: JSON.stringify({ ...call, params: { ...call.params, name, arguments: input } }) }).then((one) => one.json());
        const run = { namespace_id: 2, scenario_id: "release", run_id: "${which === "same" ? run : other}" };
        const { result } = await ask("scenario_status", run);
        const expected_head = result.structuredContent.accepted_head;
        const { value: payload } = call.params.arguments.payload;
        ${change};
        const submit = () => ask("scenario_submit",
          { ...call.params.arguments, ...run, expected_head, operation_id: crypto.randomUUID().replaceAll("-", "") });
        let replayed = await submit();
        const outcome = replayed.result?.structuredContent?.outcome;
        if (outcome?.outcome === "stage_open_mismatch") {
          call.params.arguments.scope.stage_open_record_id = outcome.result.stage_open_record_id;
          replayed = await submit();
        }
        return expected_head.revision + " " + JSON.stringify(replayed.result?.structuredContent ?? replayed);
      })()`),
      );
      if (which === "same") revisions.add(outcome.split(" ")[0]);
      assert.match(outcome, why, `${moment}, ${what}: ${outcome}`);
      assert.doesNotMatch(outcome, /"outcome":"accepted"/, `${moment}, ${what}`);
    }
    assert.equal(revisions.size, 1, `${moment}: no replay moved the run`);
  };
  await replay("at once");
  await answer(page, "withdraw", "");
  await until(page, "alice withdrew its statement on approved");
  await replay("after a withdrawal");
}

Deno.test("gate console: the browser that opens the address first is its caller, and keeps no secret where others find it", () =>
  inFolder(async (folder) => {
    await Deno.writeTextFile(`${folder}/gate.toml`, STORES);
    await Deno.writeTextFile(`${folder}/law.yaml`, reviewLaw(2));
    const started = await gate(folder, "run", "law.yaml", "--run-key", "one", "--parameter", "version=1", "--json");
    const run = String(JSON.parse(started.stdout).result.run_id).slice(0, 12);
    await using served = await startConsole(folder, ["--no-open"]);
    await using browser = await startChromium();
    const { address, url, secret } = served;
    const [own, other] = [await browser.context(), await browser.context()];
    const page = await browser.visit(`${url}/console`, own);
    await until(page, "Open the address that gate console printed");
    // The server takes the link, and its answer is lost: the browser is the caller all the same.
    await page.evaluate(`{
      const honest = window.fetch;
      window.fetch = async (target, options) => {
        const answer = await honest(target, options);
        if (!options.headers.authorization?.includes(".")) return answer;
        window.lost = answer.status;
        throw new TypeError();
      };
      location.hash = ${JSON.stringify(new URL(address).hash)};
    }`);
    await until(page, run);
    assert.equal(await page.evaluate("window.lost"), 200);
    const session = String(await page.evaluate(`localStorage.getItem("gate-console-session")`));
    assert.match(session, /^[A-Za-z0-9_-]{43}$/);
    const { entries } = await page.call("Page.getNavigationHistory") as {
      entries: readonly { readonly url: string }[];
    };
    const seen = [
      ...entries.map((entry) => entry.url),
      String(await page.evaluate("location.href + document.cookie + document.referrer")),
      page.requests.join("\n"),
      served.process.errors(),
    ].join("\n");
    for (const one of [secret, session]) assert.ok(!seen.includes(one), seen);
    const needed = "Open the address that gate console printed";
    const rows = [
      ["another tab", `${url}/console`, own, run],
      ["the address again", address, own, run],
      ["another user without the address", `${url}/console`, other, needed],
      ["another user with a stolen address", address, other, needed],
      ["the browser after that", `${url}/console#/runs`, own, run],
    ] as const;
    for (const [what, visited, context, shown] of rows) {
      const tab = await browser.visit(visited, context);
      await until(tab, shown).catch(async () => assert.fail(`${what}: ${await textOf(tab)}`));
      if (what.includes("stolen")) {
        await tab.evaluate(axe.source);
        await examine(tab, "link_needed");
      }
      assert.deepEqual(tab.complaints.filter((text) => !/status of 401/.test(text)), [], what);
    }
    await page.call("Page.reload");
    await until(page, run);
    // As the guide has it: a key of the browser, registered on the same machine, then the same port again.
    await go(page, "#/key");
    await Deno.writeTextFile(`${folder}/me.pub`, `${await makeKey(page)}\n`);
    const trusted = await gate(folder, "key", "trust", "me.pub", "--name", "alice", "--evidence-keys", "evidence-keys");
    assert.equal(trusted.code, 0, trusted.stderr);
    served.process.signal("SIGINT");
    assert.equal(await served.process.ended(), 0);
    const port = new URL(url).port;
    await using again = await startConsole(folder, ["--no-open", "--port", port, "--evidence-keys", "evidence-keys"]);
    const signing = await browser.visit(again.address, own);
    await until(signing, run);
    await go(signing, routeOf(String(JSON.parse(started.stdout).result.run_id)));
    await answer(signing, "approve", "");
    await until(signing, "Your key has a statement on record");
  }));
