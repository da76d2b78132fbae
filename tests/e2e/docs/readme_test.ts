/** The README as a reader uses it: its commands line by line, its picture, its blocks and links for clients. */
import assert from "node:assert/strict";
import type { ScenarioLaw } from "@/law/types.ts";
import type { UnmetCause } from "@/run/missing/causes.ts";
import { attemptSentences } from "@/run/missing/sentence.ts";
import type { RunRecord } from "@/run/types.ts";
import { pictureOfRecords } from "@/runpack/picture/run_picture.ts";
import { parse as parseToml } from "smol-toml";
import { parse as parseYaml } from "yaml";
import { gate, inFolder } from "../gate_command.ts";
import { drawPicture, type Side } from "./readme_picture.ts";

const CHECKOUT = new URL("../../../", import.meta.url).pathname;
const EXAMPLES = "docs/examples";

/** The part of a page from a heading to the next one of the same level. */
function sectionOf(page: string, heading: string): string {
  const start = page.indexOf(`\n## ${heading}\n`) + 1;
  assert.ok(start > 0, heading);
  return page.slice(start, page.indexOf("\n## ", start));
}

/** The blocks of a section, with their languages. */
function blocksOf(section: string): { readonly language: string; readonly text: string }[] {
  return [...section.matchAll(/^```(\w+)\n([^]*?)\n```$/gm)].map(([, language = "", text = ""]) => ({
    language,
    text,
  }));
}

/** A text without the ids of runs, which are random. */
function withoutRuns(text: string): string {
  return text.replace(/\b[0-9a-f]{32}\b/g, "RUN");
}

/** The exit codes of the commands, in order. */
const EXIT_CODES = [3, 0, 0, 6];

Deno.test("the first gate of the README shows what its commands print, with their exit codes", () =>
  inFolder(async (folder) => {
    const page = await Deno.readTextFile(`${CHECKOUT}README.md`);
    const blocks = blocksOf(sectionOf(page, "A first gate"));
    const [law] = blocks;
    assert.equal(`${law?.text}\n`, await Deno.readTextFile(`${CHECKOUT}${EXAMPLES}/first_gate/release.yaml`));
    await Deno.mkdir(`${folder}/${EXAMPLES}/agent_task`, { recursive: true });
    await Deno.mkdir(`${folder}/${EXAMPLES}/first_gate`);
    const files = ["release.yaml", "two_tests_failed.yaml", "all_tests_passed.yaml"].map((name) =>
      `first_gate/${name}`
    );
    for (const file of [...files, "agent_task/scenario.yaml"]) {
      await Deno.copyFile(`${CHECKOUT}${EXAMPLES}/${file}`, `${folder}/${EXAMPLES}/${file}`);
    }
    const commands = blocks.filter(({ text }) => text.startsWith("gate "));
    const printed = blocks.filter(({ language }) => language === "text");
    assert.equal(commands.length, EXIT_CODES.length);
    for (const [index, { text }] of commands.entries()) {
      const { code, stdout } = await gate(folder, ...text.split(" ").slice(1));
      assert.equal(code, EXIT_CODES[index], text);
      assert.ok(withoutRuns(stdout).startsWith(withoutRuns(printed[index]?.text ?? "none")), stdout);
    }
  }));

/** Stands for npx: notes its call, and runs the runtime of this test. */
const NPX = `#!/bin/sh
echo "$*" >> "$CALLS"
shift 2
exec "$RUNTIME" "$@"
`;

Deno.test("the function of the README looks up the runtime once, and its line puts gate on the PATH", () =>
  inFolder(async (folder) => {
    const page = await Deno.readTextFile(`${CHECKOUT}README.md`);
    const blocks = blocksOf(sectionOf(page, "A first gate")).filter(({ language }) => language === "sh");
    const [lookup, onPath] = ["checkout=", "mkdir "].map((start) => blocks.find(({ text }) => text.startsWith(start)));
    assert.ok(lookup !== undefined && onPath !== undefined);
    await Deno.writeTextFile(`${folder}/npx`, NPX, { mode: 0o755 });
    const script = [lookup.text, "gate --version", "cd /", "gate --version", onPath.text, "gate() { exit 9; }"];
    const { success, stdout, stderr } = await new Deno.Command("bash", {
      args: ["-c", [...script, "unset -f gate checkout deno", "gate --version"].join("\n")],
      cwd: CHECKOUT,
      env: {
        CALLS: `${folder}/calls`,
        RUNTIME: Deno.execPath(),
        HOME: folder,
        DENO_DIR: Deno.env.get("DENO_DIR") ?? `${Deno.env.get("HOME")}/.cache/deno`,
        PATH: `${folder}:${folder}/.local/bin:${Deno.env.get("PATH")}`,
      },
    }).output();
    const [said, errors] = [stdout, stderr].map((bytes) => new TextDecoder().decode(bytes));
    assert.ok(success, errors);
    assert.match(said ?? "", /^(gate .*\n)\1\1$/);
    assert.match(await Deno.readTextFile(`${folder}/calls`), /^-y deno@2\.9\.6 eval .*\n$/);
  }));

Deno.test("the command of the README for a pipeline opens the first gate", () =>
  inFolder(async (folder) => {
    const page = await Deno.readTextFile(`${CHECKOUT}README.md`);
    const [block] = blocksOf(sectionOf(page, "Install")).filter(({ language }) => language === "yaml");
    const [{ run }] = parseYaml(block?.text ?? "") as [{ readonly run: string }];
    const first = `${CHECKOUT}${EXAMPLES}/first_gate`;
    await Deno.copyFile(`${first}/release.yaml`, `${folder}/release.yaml`);
    const evidence = parseYaml(await Deno.readTextFile(`${first}/all_tests_passed.yaml`));
    await Deno.writeTextFile(`${folder}/evidence.json`, JSON.stringify(evidence));
    const words = run.replaceAll('"$GITHUB_SHA"', "4f2a9c1").split(" ");
    const { code, stdout, stderr } = await gate(folder, ...words.slice(1));
    assert.deepEqual([words[0], code], ["gate", 0], stdout + stderr);
    assert.ok((await Deno.stat(`${folder}/release.runpack`)).size > 0);
  }));

interface ConditionValue {
  readonly condition_id: string;
  readonly value: { readonly value: string | number };
}

interface RunAnswer {
  readonly result: {
    readonly run_id: string;
    readonly stages: readonly { readonly stage_id: string; readonly classification: string }[];
    readonly last_attempts: readonly { readonly causes: readonly UnmetCause[] }[];
  };
}

interface RunHistory {
  readonly result: { readonly records: readonly { readonly record: RunRecord }[] };
}

/** Runs the law with a file of evidence, and gives the side of the picture that shows the answer. */
async function readSide(law: ScenarioLaw, folder: string, evidence: string): Promise<Side> {
  const path = `${CHECKOUT}${EXAMPLES}/first_gate/`;
  const key = ["--parameter", "commit=4f2a9c1", "--run-key", "4f2a9c1", "--evidence", `${path}${evidence}`, "--json"];
  const { code, stdout } = await gate(folder, "run", `${path}release.yaml`, ...key);
  const { run_id, stages, last_attempts } = (JSON.parse(stdout) as RunAnswer).result;
  const history = await gate(folder, "history", run_id, "--json");
  const given = parseYaml(await Deno.readTextFile(`${path}${evidence}`)) as readonly ConditionValue[];
  const isOpen = stages.every(({ classification }) => classification === "complete");
  const causes = last_attempts.flatMap((attempt) => attemptSentences(law, attempt.causes));
  return {
    title: isOpen ? "The gate opens" : "The gate stays closed",
    lines: [
      `evidence: ${given.map(({ condition_id, value }) => `${condition_id} ${value.value}`).join(", ")}`,
      isOpen ? "every condition is true" : `why: ${causes.join(", ")}`,
      `exit code ${code}`,
    ],
    run: pictureOfRecords(
      law,
      (JSON.parse(history.stdout) as RunHistory).result.records.map(({ record }) => record),
      ({ condition_id }) => String(given.find((one) => one.condition_id === condition_id)?.value.value),
    ),
  };
}

Deno.test('the picture of the README is what gate answers and draws; "-- --rewrite" writes it', () =>
  inFolder(async (folder) => {
    const built = await gate(folder, "scenario", "build", `${CHECKOUT}${EXAMPLES}/first_gate/release.yaml`);
    const law = JSON.parse(built.stdout) as ScenarioLaw;
    const sides = [
      await readSide(law, folder, "two_tests_failed.yaml"),
      await readSide(law, folder, "all_tests_passed.yaml"),
    ];
    const summary = sides.map(({ title, lines }) => `${title}: ${lines.join("; ")}`).join(". ");
    const file = `${CHECKOUT}${EXAMPLES}/first_gate/closed_then_open.svg`;
    const drawn = drawPicture(law, sides, summary);
    if (Deno.args.includes("--rewrite")) await Deno.writeTextFile(file, drawn);
    assert.equal(await Deno.readTextFile(file), drawn);
  }));

Deno.test('the picture of the authoring guide is what gate scenario graph prints; "-- --rewrite" writes it', async () => {
  const law = "docs/examples/change_approval/scenario.yaml";
  const { code, stdout } = await gate(CHECKOUT, "scenario", "graph", law, "--format", "svg");
  assert.equal(code, 0);
  const file = `${CHECKOUT}docs/guide/pictures/change_approval.svg`;
  if (Deno.args.includes("--rewrite")) await Deno.writeTextFile(file, stdout);
  assert.equal(await Deno.readTextFile(file), stdout);
});

/** Lines of a screen, at the width of a code host. */
const SCREEN_LINES = 40;

Deno.test("the first install block of the README comes before the third screen", async () => {
  const page = await Deno.readTextFile(`${CHECKOUT}README.md`);
  const before = page.slice(0, page.indexOf("gate init\ngate doctor"));
  assert.ok(before.split("\n").length <= 2 * SCREEN_LINES);
});

Deno.test("every block and link for clients in the README starts gate serve", async () => {
  const section = sectionOf(await Deno.readTextFile(`${CHECKOUT}README.md`), "Install");
  const linked = { command: "gate", args: ["serve"] };
  const [visual = "", cursor = ""] = [...section.matchAll(/\]\((https:[^)]+)\)/g)].map(([, link]) => link ?? "");
  const [visualScheme = "", cursorScheme = ""] = section.match(/^(vscode|cursor):.*$/gm) ?? [];
  assert.deepEqual(JSON.parse(new URL(visual).searchParams.get("config") ?? ""), linked);
  assert.deepEqual(JSON.parse(decodeURIComponent(visualScheme.split("?")[1] ?? "")), { name: "gate", ...linked });
  for (const link of [cursor, cursorScheme]) {
    assert.deepEqual(JSON.parse(atob(new URL(link).searchParams.get("config") ?? "")), linked);
  }

  const configured = ["serve", "--config"];
  const starts = blocksOf(section).filter(({ language }) => language === "json" || language === "toml").map((block) => {
    const settings = (block.language === "json" ? JSON.parse(block.text) : parseToml(block.text)) as ClientSettings;
    return settings.mcpServers ?? settings.servers ?? settings.context_servers ?? settings.mcp_servers;
  });
  const [remote, ...local] = starts.map((servers) => servers?.gate).sort((a, b) =>
    (a?.args ? 1 : 0) - (b?.args ? 1 : 0)
  );
  assert.equal(remote?.args, undefined);
  assert.equal(local.length, 5);
  for (const server of local) assert.deepEqual(server?.args?.slice(-3, -1), configured);
});

interface ServerSettings {
  readonly gate: { readonly args?: readonly string[] };
}

/** The settings of a client: each names the servers differently. */
interface ClientSettings {
  readonly mcpServers?: ServerSettings;
  readonly servers?: ServerSettings;
  readonly context_servers?: ServerSettings;
  readonly mcp_servers?: ServerSettings;
}
