import assert from "node:assert/strict";
import { parse } from "yaml";
import { TARGETS } from "../compile/executable.ts";
import { readTree } from "./tree.ts";

interface Step {
  readonly uses?: string;
  readonly run?: string;
  readonly with?: Readonly<Record<string, unknown>>;
}

interface Job {
  readonly permissions?: Readonly<Record<string, string>>;
  readonly "timeout-minutes"?: number;
  readonly needs?: string;
  readonly steps: readonly Step[];
}

interface Workflow {
  readonly permissions: Readonly<Record<string, string>>;
  readonly jobs: Readonly<Record<string, Job>>;
}

const TREE = await readTree();
const textOf = (path: string): string => TREE.find((file) => file.path === path)?.text ?? "";
const TEXTS = TREE.filter(({ path }) => /^\.github\/workflows\/[^/]+\.yml$/.test(path));
const WORKFLOWS = TEXTS.map(({ path, text }) => ({ path, text, workflow: parse(text) as Workflow }));
const SETTINGS = JSON.parse(textOf("deno.json")) as { readonly tasks: Record<string, unknown> };

Deno.test("workflows take no permission but those that a job names", () => {
  assert.deepEqual(WORKFLOWS.map(({ path }) => path), [".github/workflows/ci.yml", ".github/workflows/release.yml"]);
  const granted = WORKFLOWS.flatMap(({ path, workflow }) => {
    assert.deepEqual(workflow.permissions, {}, path);
    return Object.entries(workflow.jobs).map(([name, { permissions, "timeout-minutes": minutes }]) => {
      assert.ok(minutes !== undefined && minutes <= 90, `${path}: ${name} has no limit of time`);
      return [`${path.split("/").at(-1)} ${name}`, permissions];
    });
  });
  assert.deepEqual(Object.fromEntries(granted), {
    "ci.yml test": { contents: "read" },
    "release.yml test": { contents: "read" },
    "release.yml build": { contents: "read" },
    "release.yml publish": { contents: "write", "id-token": "write", attestations: "write" },
  });
});

Deno.test("actions are named by a commit and the version that it is", () => {
  const lines = WORKFLOWS.flatMap(({ text }) => text.split("\n").filter((line) => /\buses:/.test(line)));
  assert.ok(lines.length > 0);
  for (const line of lines) assert.match(line, /uses: actions\/[a-z-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
});

Deno.test("workflows call tasks that exist, with the runtime of the project, for every platform", () => {
  const runs = WORKFLOWS.flatMap(({ workflow }) =>
    Object.values(workflow.jobs).flatMap(({ steps }) => steps.flatMap(({ run }) => run ?? []))
  );
  const called = runs.flatMap((run) => [...run.matchAll(/deno@([\d.]+) task (\S+)/g)]);
  for (const [line, version, task = ""] of called) {
    assert.equal(version, Deno.version.deno, line);
    assert.ok(Object.hasOwn(SETTINGS.tasks, task), line);
  }
  assert.deepEqual([...new Set(called.map(([, , task]) => task))].sort(), ["compile", "release", "site"]);
  const all = runs.join("\n");
  for (const target of TARGETS) assert.ok(all.includes(` ${target} `) || all.includes(` ${target};`), target);
  // No text of an event stands in a script, where it would be run.
  for (const run of runs) assert.doesNotMatch(run, /\$\{\{/);
});

Deno.test("a release is published after every test and after its build", () => {
  const jobs = WORKFLOWS.find(({ path }) => path.endsWith("/release.yml"))?.workflow.jobs ?? {};
  assert.deepEqual([jobs["build"]?.needs, jobs["publish"]?.needs], ["test", "build"]);
  assert.ok(jobs["test"]?.steps.some(({ run }) => run === "bash .ci/run"));
  for (const { steps } of Object.values(jobs)) {
    const checkout = steps.find(({ uses }) => uses?.startsWith("actions/checkout@"));
    if (checkout !== undefined) assert.equal(checkout.with?.["persist-credentials"], false);
  }
});
