/** The console in a browser: people decide, everyone can read it, and attacks end at the page. */

import assert from "node:assert/strict";
import axe from "npm:axe-core@4.14.1";
import { gate } from "../e2e/gate_command.ts";
import { type Page, screenshot } from "./browser_chromium.ts";
import { answer, click, fill, go, makeKey, makeWorld, reviewLaw, textOf, type World } from "./console_world.ts";

/** Where pictures go; none are made where it is not set. */
const PICTURES = Deno.env.get("GATE_BROWSER_PICTURES");

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
  page.until(`document.querySelector("main").innerText.includes(${JSON.stringify(text)})`);

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
  const keys = { alice: await makeKey(alice), bob: await makeKey(bob), carol: await makeKey(carol) };
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
  await answer(alice, "approve", "Looks fine");
  // The stream brings it to the others: nobody reloads.
  await until(bob, "1 of 2 signatures count");
  await until(carol, "signed by alice: true. It counts (verified)");
  await answer(bob, "refuse", "Not on a Friday");
  await until(alice, "bob refused approved");
  await answer(bob, "approve", "It is Monday");
  await until(alice, "run complete");
  await until(carol, "complete");
  assert.match(await textOf(alice), /alice stated a value that satisfies approved: true/);
  const pack = ["--namespace", "2", "--run", run, "--archive", "run.runpack"];
  const exported = await gate(world.folder, "runpack", "export", ...pack);
  assert.equal(exported.code, 0, exported.stderr);
  assert.equal((await gate(world.folder, "runpack", "verify", "run.runpack")).code, 0);
  const shown = (await gate(world.folder, "runpack", "show", "run.runpack")).stdout;
  assert.match(shown, /alice stated a value that satisfies approved: true, by token:[0-9a-f]{64}\n.*\n +Looks fine\n/);
  assert.match(shown, /bob refused approved: false, by token:[0-9a-f]{64}\n.*\n +Not on a Friday\n/);
  const replayed = await gate(world.folder, "replay", "run.runpack", "--law", "other.yaml");
  assert.match(replayed.stdout, /unknown.*true|differ/s, "one signature is enough under the other law");
  await go(bob, "#/verify");
  await bob.choose("pack-file", [`${world.folder}/run.runpack`]);
  await bob.until(`["done", "failed"].includes(document.getElementById("pack-result").dataset.state)`);
  const verified = await textOf(bob);
  for (const text of ["bob refused approved", "It is Monday", "Looks fine"]) assert.ok(verified.includes(text), text);
  for (const page of [alice, bob, carol]) assertQuiet(world, page);
});

/** Sizes and themes in which a state is examined. */
const VIEWS = [
  ["phone", 390, "light"],
  ["laptop", 1280, "dark"],
  ["wide", 1920, "light"],
] as const;

/** The findings of axe in one state, in every view. */
async function examine(page: Page, name: string): Promise<void> {
  for (const [size, width, theme] of VIEWS) {
    await page.call("Emulation.setDeviceMetricsOverride", { width, height: 900, deviceScaleFactor: 1, mobile: false });
    await page.call("Emulation.setEmulatedMedia", { features: [{ name: "prefers-color-scheme", value: theme }] });
    const found = await page.evaluate(
      `axe.run(document, { resultTypes: ["violations"] }).then(({ violations }) => violations.map((one) =>
        one.id + ": " + one.nodes.map(({ html }) => html.slice(0, 120)).join(" | ")))`,
    );
    assert.deepEqual(found, [], `${name}, ${size}, ${theme}`);
    const sideways = await page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth");
    assert.equal(sideways, 0, `${name}, ${size}: the page scrolls sideways`);
    if (PICTURES !== undefined) await screenshot(page, `${PICTURES}/${name}_${size}_${theme}.png`);
  }
}

Deno.test("every page and state has no finding of axe, light and dark, on phone, laptop and wide screens", async () => {
  await using world = await makeWorld();
  await Deno.writeTextFile(`${world.folder}/law.yaml`, reviewLaw(2, { following: ["build", "ship"] }));
  const run = await world.run("law.yaml", "one", "1.4.0");
  await world.run("law.yaml", "two", "1.5.0");
  const page = await world.browser.visit(`${world.origin}/console`, await world.browser.context());
  await page.evaluate(axe.source);
  await until(page, "The server asks for a credential");
  await examine(page, "no_credential");
  const own = await world.open("alice");
  await own.evaluate(axe.source);
  await examine(own, "no_key");
  await trust(world, { alice: await makeKey(own) });
  await examine(own, "key");
  await go(own, routeOf(run));
  await until(own, "Live: changes appear by themselves");
  await examine(own, "run");
  await click(own, `#${QUESTION}`);
  await fill(own, "#answer-comment", "The changelog is complete");
  await examine(own, "sign");
  assert.equal(await own.evaluate("document.activeElement.id"), "answer-comment");
  await own.call("Input.dispatchKeyEvent", {
    type: "keyDown",
    key: "Escape",
    code: "Escape",
    windowsVirtualKeyCode: 27,
  });
  await own.until(`document.querySelector("dialog") === null`);
  assert.equal(await own.evaluate("document.activeElement.id"), QUESTION, "the focus goes back");
  await answer(own, "approve", "The changelog is complete");
  await examine(own, "run_approved");
  await go(own, "#/runs");
  assert.equal(await own.evaluate("document.activeElement.tagName"), "H1");
  await examine(own, "runs");
  await go(own, "#/waiting");
  await examine(own, "waiting");
  await gate(world.folder, "runpack", "export", "--namespace", "2", "--run", run, "--archive", "run.runpack");
  await go(own, "#/verify");
  await own.choose("pack-file", [`${world.folder}/run.runpack`]);
  await own.until(`document.getElementById("pack-result").dataset.state === "done"`);
  await examine(own, "verify");
  await go(own, `#/run/2/release/${"0".repeat(32)}`);
  await until(own, "Cannot find run");
  await examine(own, "missing_run");
  assertQuiet(world, own);
});
