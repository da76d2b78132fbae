import assert from "node:assert/strict";
import { parse as parseYaml } from "yaml";
import { gate, gateArgs, inFolder, processOf } from "../gate_command.ts";

const EXAMPLE = new URL("../../../docs/examples/pipelines/", import.meta.url);
const PAGE = new URL("../../../docs/guide/pipelines.md", import.meta.url);

/** How a block of a pipeline ended. */
interface Block {
  readonly name: string;
  readonly text: string;
  /** Variables that the pipeline sets for the block. */
  readonly env: Readonly<Record<string, string>>;
  /** Whether it runs after a failure too. */
  readonly always: boolean;
}

// deno-lint-ignore no-explicit-any
type Parsed = any;

/** Replaces the expressions of GitHub in a value. */
function expanded(value: string): string {
  return value.replace(/\$\{\{ *([A-Za-z_.]+) *\}\}/g, (_, name: string) => {
    const known: Readonly<Record<string, string>> = {
      "github.repository": "acme/shop",
      "github.sha": "3f2a1c0",
      "vars.REVIEWED": "",
    };
    const found = known[name];
    assert.ok(found !== undefined, `unknown expression ${name}`);
    return found;
  });
}

/** The shell blocks of the workflow, in order. */
async function githubBlocks(): Promise<Block[]> {
  const workflow: Parsed = parseYaml(await Deno.readTextFile(new URL("github_actions.yml", EXAMPLE)));
  const steps: Parsed[] = workflow.jobs.gate.steps;
  return steps.filter(({ run }) => run !== undefined).map(({ name, run, env = {}, if: condition }) => ({
    name,
    text: run,
    env: Object.fromEntries(
      Object.entries(env as Record<string, string>).map(([key, value]) => [key, expanded(value)]),
    ),
    always: condition === "always()",
  }));
}

/** The shell blocks of the GitLab pipeline, in the order of its stages. */
async function gitlabBlocks(): Promise<Block[]> {
  const pipeline: Parsed = parseYaml(await Deno.readTextFile(new URL("gitlab_ci.yml", EXAMPLE)));
  const jobs: readonly string[] = pipeline.stages;
  return jobs.map((name) => ({
    name,
    text: pipeline[name].script.join("\n"),
    env: { CI_PROJECT_PATH: "acme/shop", CI_COMMIT_SHA: "3f2a1c0" },
    always: false,
  }));
}

/** A folder with the example, a `gate` on the path, and scripts in place of the project's own. */
async function withProject(
  body: (folder: string, results: (text: string) => Promise<void>) => Promise<void>,
): Promise<void> {
  await inFolder(async (folder) => {
    for (const name of ["release.yaml", "evidence.sh"]) {
      await Deno.copyFile(new URL(name, EXAMPLE), `${folder}/${name}`);
    }
    const script = async (name: string, text: string): Promise<void> => {
      await Deno.writeTextFile(`${folder}/${name}`, `#!/bin/sh\n${text}\n`);
      await Deno.chmod(`${folder}/${name}`, 0o755);
    };
    await Deno.chmod(`${folder}/evidence.sh`, 0o755);
    await Deno.mkdir(`${folder}/bin`);
    const { command, args } = processOf(gateArgs());
    await script("bin/gate", `exec ${[command, ...args].map((word) => `'${word}'`).join(" ")} "$@"`);
    await script("release.sh", "touch released");
    await body(folder, (text) => script("test.sh", `echo '${text}'`));
  });
}

/** The variables that blocks have written for the blocks after them. */
async function writtenBy(file: string): Promise<Record<string, string>> {
  const lines = (await Deno.readTextFile(file).catch(() => "")).split("\n").filter((line) => line.includes("="));
  return Object.fromEntries(lines.map((line) => [line.slice(0, line.indexOf("=")), line.slice(line.indexOf("=") + 1)]));
}

/** Runs blocks as a runner does: each in a shell that stops at an error; after a failure only those that run always. */
async function runBlocks(
  folder: string,
  blocks: readonly Block[],
  env: Readonly<Record<string, string>>,
): Promise<Map<string, number>> {
  const codes = new Map<string, number>();
  await Deno.remove(`${folder}/results.env`).catch(() => {});
  let failed = false;
  for (const { name, text, env: own, always } of blocks) {
    if (failed && !always) continue;
    const { code, stderr } = await new Deno.Command("bash", {
      args: ["-e", "-c", text],
      cwd: folder,
      env: {
        PATH: `${folder}/bin:${Deno.env.get("PATH")}`,
        NO_COLOR: "1",
        GATE_CONFIG: "",
        GITHUB_ENV: `${folder}/results.env`,
        GITHUB_STEP_SUMMARY: `${folder}/summary.md`,
        ...await writtenBy(`${folder}/results.env`),
        ...own,
        ...env,
      },
      stdin: "null",
    }).output();
    assert.equal(new TextDecoder().decode(stderr), "", name);
    codes.set(name, code);
    failed ||= code !== 0;
  }
  return codes;
}

const SYSTEMS = [
  ["GitHub Actions", githubBlocks, "Ask whether the commit may be released", "Release"],
  ["GitLab CI", gitlabBlocks, "gate", "release"],
] as const;

/** What the tests print, the variables of the pipeline, the exit code of the gate, and its summary. */
const PASSES: readonly [string, Readonly<Record<string, string>>, number, RegExp][] = [
  [
    "40 passed, 2 failed",
    {},
    3,
    /^## ⛔ `release`: 0 of 2 stages complete\n[^]*\n- Stage `check`: `tests_failed == 0: found 2 ✗`\n/,
  ],
  ["no tests", {}, 4, /\n- Stage `check`: `tests_run > 0: nothing known yet \?`\n/],
  ["0 passed, 0 failed", { REVIEWED: "true" }, 3, /\n- Stage `check`: `tests_run > 0: found 0 ✗`\n/],
  [
    "42 passed, 0 failed",
    {},
    4,
    /: 1 of 2 stages complete\n[^]*\n- Stage `release`: `reviewed: nothing known yet \?`\n/,
  ],
  ["42 passed, 0 failed", { REVIEWED: "true" }, 0, /^## ✅ `release`: complete\n/],
];

for (const [system, blocksOf, gateBlock, releaseBlock] of SYSTEMS) {
  Deno.test(`the pipeline for ${system} releases when the gate is open, and says why it is closed`, () =>
    withProject(async (folder, results) => {
      const blocks = await blocksOf();
      for (const [printed, env, code, summary] of PASSES) {
        await results(printed);
        const codes = await runBlocks(folder, blocks, env);
        assert.equal(codes.get(gateBlock), code, printed);
        assert.equal(codes.get(releaseBlock), code === 0 ? 0 : undefined);
        assert.match(await Deno.readTextFile(`${folder}/summary.md`), summary);
        assert.equal((await gate(folder, "runpack", "verify", "release.runpack")).code, 0);
      }
      assert.ok((await Deno.stat(`${folder}/released`)).isFile);
      // Every pass went on with the same run, which all commands find in the folder without a configuration.
      const { result } = JSON.parse((await gate(folder, "runs", "--json")).stdout);
      assert.deepEqual(result.runs.map(({ status }: { status: string }) => status), ["complete"]);
      const run = result.runs[0].run_key.run_id;
      assert.equal((await gate(folder, "explain", run)).code, 0);
      const exported = await gate(folder, "runpack", "export", "--namespace", "2", "--run", run, "--archive", "again");
      assert.deepEqual([exported.code, exported.stderr], [0, ""]);
      assert.deepEqual(await Deno.readFile(`${folder}/again`), await Deno.readFile(`${folder}/release.runpack`));
    }));
}

/** What a pull request makes of the law, and the exit code of the job that compares it. */
const CHANGES: readonly (readonly [what: string, change: (law: string) => string, code: number])[] = [
  ["nothing", (law) => law, 0],
  ["a comment", (law) => `# Changed.\n${law}`, 0],
  [
    "fewer failures are not asked for",
    (law) => law.replace("  tests_failed: count\n", "").replace(" && tests_failed == 0", ""),
    3,
  ],
  ["ten tests in place of one", (law) => law.replace("tests_run > 0", "tests_run > 9"), 0],
  [
    "more tests, and failed ones",
    (law) => law.replace("tests_run > 0", "tests_run > 9").replace("tests_failed == 0", "tests_failed < 2"),
    3,
  ],
];

for (const [system, file] of [["GitHub Actions", "github_actions.yml"], ["GitLab CI", "gitlab_ci.yml"]] as const) {
  Deno.test(`the pipeline for ${system} refuses a pull request that weakens the law`, () =>
    withProject(async (folder) => {
      const parsed: Parsed = parseYaml(await Deno.readTextFile(new URL(file, EXAMPLE)));
      const { law } = parsed.jobs ?? parsed;
      const [text, base] = law.steps === undefined
        ? [law.script.join("\n"), "CI_MERGE_REQUEST_DIFF_BASE_SHA"]
        : [law.steps.find(({ run }: Parsed) => run !== undefined).run, "BASE"];
      const run = async (command: string, env: Readonly<Record<string, string>> = {}): Promise<number> => {
        const path = `${folder}/bin:${Deno.env.get("PATH")}`;
        const options = { cwd: folder, env: { PATH: path, NO_COLOR: "1", GATE_CONFIG: "", ...env } };
        return (await new Deno.Command("bash", { args: ["-e", "-c", command], ...options }).output()).code;
      };
      const commit = "git -c user.name=a -c user.email=a@example.com commit -qm base --allow-empty";
      assert.equal(await run(`git init -q . && ${commit} && git tag empty && git add release.yaml && ${commit}`), 0);
      const own = await Deno.readTextFile(`${folder}/release.yaml`);
      for (const [what, change, code] of CHANGES) {
        assert.ok(what === "nothing" || change(own) !== own, what);
        await Deno.writeTextFile(`${folder}/release.yaml`, change(own));
        assert.equal(await run(text, { [base]: "HEAD" }), code, what);
        assert.equal(await run(text, { [base]: "empty" }), 0, "a law that is new is compared with none");
      }
    }));
}

/** The fenced blocks of a page, with their languages. */
function blocksOfPage(text: string): { readonly language: string; readonly text: string }[] {
  return [...text.matchAll(/^```(\w+)\n([^]*?)^```$/gm)].map(([, language = "", text = ""]) => ({ language, text }));
}

Deno.test("the page of the example shows what its commands print", () =>
  withProject(async (folder) => {
    const blocks = blocksOfPage(await Deno.readTextFile(new URL("README.md", EXAMPLE)));
    const commands = blocks.filter(({ language }) => language === "sh").map(({ text }) =>
      text.replace("cd docs/examples/pipelines\n", "")
    );
    const [summary] = blocks.filter(({ language }) => language === "text");
    const { code, stdout, stderr } = await new Deno.Command("bash", {
      args: ["-e", "-c", commands.join("\n")],
      cwd: folder,
      env: { PATH: `${folder}/bin:${Deno.env.get("PATH")}`, NO_COLOR: "1", GATE_CONFIG: "" },
    }).output();
    const text = new TextDecoder().decode(stdout);
    assert.deepEqual([code, new TextDecoder().decode(stderr)], [0, ""]);
    assert.deepEqual([...text.matchAll(/^exit code (\d)$/gm)].map(([, exit]) => exit), ["3", "4"]);
    assert.ok((await Deno.readTextFile(`${folder}/summary.md`)).startsWith(summary?.text ?? "none"));
  }));

Deno.test("the guide shows what gate run prints for its law and its evidence", () =>
  inFolder(async (folder) => {
    const blocks = blocksOfPage(await Deno.readTextFile(PAGE));
    const block = (language: string): string => blocks.find((one) => one.language === language)?.text ?? "";
    await Deno.writeTextFile(`${folder}/release.yaml`, block("yaml"));
    await Deno.writeTextFile(`${folder}/evidence.json`, block("json"));
    const { code, stdout } = await gate(folder, "run", "release.yaml", "--evidence", "evidence.json");
    const shown = block("text").replace(/[0-9a-f]{32}/, /[0-9a-f]{32}/.exec(stdout)?.[0] ?? "");
    assert.equal(code, 3);
    assert.ok(stdout.startsWith(shown), stdout);
  }));
