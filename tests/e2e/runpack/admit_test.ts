import assert from "node:assert/strict";
import { join } from "node:path";
import { canonicalize } from "../../../src/canonical/canonicalize.ts";
import { signatureName } from "../../../src/runpack/format/archive.ts";
import { lawAsJson } from "../../../src/law/normal_form.ts";
import { admissionLaw, playAdmissionRun } from "../../simulation/pack_vectors/admission_run.ts";
import { ADMISSION_ROWS, type AdmissionCase, makeAdmission } from "../../simulation/pack_vectors/admission_rows.ts";
import { NOW } from "../../simulation/kernel/fixture.ts";
import { gate as gateIn, gateUnder } from "../gate_command.ts";
import { writeTree } from "../../simulation/runpack/files.ts";
import { packOf } from "../../simulation/runpack/memory.ts";

const ROOT = new URL("../../..", import.meta.url).pathname;

/** Runs gate with read permission only. */
async function gate(...args: string[]): Promise<{ readonly code: number; readonly out: string; readonly err: string }> {
  const { code, stdout, stderr } = await gateUnder("--allow-read", ...args);
  return { code, out: stdout, err: stderr };
}

async function withFolder(test: (folder: string) => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir({ prefix: "gate-admit-" });
  try {
    await test(folder);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

const PACK = await packOf(playAdmissionRun());

/** Writes a pack and its keys, and returns the arguments that name them. */
async function argumentsOf(
  folder: string,
  { pack, envelopes = [], producer_keys = [], expected }: AdmissionCase,
): Promise<string[]> {
  const path = join(folder, "release");
  await writeTree(path, pack);
  await Deno.mkdir(join(path, "signatures"), { recursive: true });
  for (const [index, bytes] of envelopes.entries()) {
    await Deno.writeFile(join(path, signatureName(`${index}`.repeat(64))), bytes);
  }
  const keysOf = async (flag: string, keys: readonly string[]): Promise<string[]> => {
    const files = keys.map((key, index) => [join(folder, `${flag}-${index}.pub`), key] as const);
    for (const [file, key] of files) await Deno.writeTextFile(file, key);
    return files.flatMap(([file]) => [`--${flag}`, file]);
  };
  const namedKeys = async (keys: Readonly<Record<string, string>>): Promise<string[]> => {
    const named = Object.entries(keys).map(([name, key]) => [name, join(folder, `${name}.pub`), key] as const);
    for (const [, file, key] of named) await Deno.writeTextFile(file, key);
    return named.flatMap(([name, file]) => ["--key", `${name}=${file}`]);
  };
  return [
    path,
    ...await keysOf("producer-key", producer_keys),
    ...await namedKeys(expected.keys),
    ...Object.entries(expected.providers).flatMap(([name, version]) => ["--provider", `${name}=${version}`]),
    ...expected.accept_procedures.flatMap((name) => ["--accept-procedure", name]),
    ...expected.signers_unchecked ? ["--signers-unchecked"] : [],
    ...Object.entries(expected.parameters).flatMap(([name, value]) => ["--parameter", `${name}=${value}`]),
    ...expected.any_parameters.flatMap((name) => ["--any-parameter", name]),
    ...expected.stage === null ? [] : ["--stage", expected.stage],
    ...expected.not_before === null ? [] : ["--not-before", new Date(expected.not_before).toISOString()],
    ...expected.origin_unchecked ? ["--origin-unchecked"] : [],
    ...expected.allow_asserted ? ["--allow-asserted"] : [],
  ];
}

for (const row of ADMISSION_ROWS) {
  const { name, exit_code, reasons, waived = [] } = row;
  Deno.test(`gate runpack admit: ${name}: exit code ${exit_code}`, () =>
    withFolder(async (folder) => {
      const given = await makeAdmission(row);
      // The command sets no limits.
      if (given.request?.budget !== null) return;
      const args = await argumentsOf(folder, given);
      const { code, out, err } = await gate("runpack", "admit", ...args, "--law", given.expected.law, "--json");
      assert.equal(code, exit_code, out + err);
      if (exit_code === 2) {
        const { error } = JSON.parse(err);
        assert.equal(error.code, "usage");
        assert.ok(error.reasons[0].endsWith(`[${reasons[0]}]`), err);
        return;
      }
      const { ok, result } = JSON.parse(out);
      assert.deepEqual([ok, result.admitted, result.exit_code], [code === 0, code === 0, code]);
      assert.deepEqual(result.reasons.map((reason: { code: string }) => reason.code), reasons);
      assert.deepEqual(result.waived, waived);
    }));
}

Deno.test("gate runpack admit: the first line repeats the waivers, and each reason has a line", () =>
  withFolder(async (folder) => {
    await writeTree(join(folder, "release"), PACK);
    const law = admissionLaw().scenario_law_identity;
    const waived = await gate("runpack", "admit", join(folder, "release"), "--law", law, "--origin-unchecked");
    assert.equal(waived.code, 0, waived.err);
    assert.equal(waived.out.split("\n")[0], `Admitted: Complete; law ${law}; no parameters; waived: origin`);
    const refused = await gate("runpack", "admit", join(folder, "release"), "--law", law);
    assert.equal(refused.code, 4);
    assert.match(
      refused.out,
      /^Not admitted \(origin_unknown\): Complete; law .*\n {2}origin_unknown: No producer key /,
    );
    assert.match(refused.out, /\nverdict [0-9a-f]{64}\n/);
  }));

Deno.test("gate runpack admit: a law may be a scenario file, and another file of the same ids is another law", () =>
  withFolder(async (folder) => {
    await writeTree(join(folder, "release"), PACK);
    const rows = [["law.json", admissionLaw(), 0], ["lax.json", admissionLaw(true), 6]] as const;
    for (const [name, law, code] of rows) {
      await Deno.writeTextFile(join(folder, name), canonicalize(lawAsJson(law.law)));
      const args = ["--law", join(folder, name), "--origin-unchecked"];
      const ended = await gate("runpack", "admit", join(folder, "release"), ...args);
      assert.equal(ended.code, code, ended.out + ended.err);
    }
  }));

// Flags that do not fit, whatever the runpack is, and the message.
const USAGE: readonly (readonly [string, readonly string[], RegExp])[] = [
  ["no law", [], /Required option "--law /],
  ["a law that is neither a file nor an identity", ["--law", "none.yaml"], /none\.yaml/],
  ["a parameter without a value", ["--law", "0".repeat(64), "--parameter", "commit"], /expected NAME=VALUE/],
  ["a parameter twice", ["--law", "0".repeat(64), "--parameter", "a=1", "--parameter", "a=2"], /"a" is repeated/],
  [
    "a parameter given and waived",
    ["--law", "0".repeat(64), "--parameter", "a=1", "--any-parameter", "a"],
    /named twice/,
  ],
  ["a day in place of an instant", ["--law", "0".repeat(64), "--not-before", "2026-03-01"], /expected an instant/],
  [
    "a key that is no file",
    ["--law", "0".repeat(64), "--producer-key", "none.pub"],
    /Cannot read public key "none\.pub"/,
  ],
];

for (const [what, args, message] of USAGE) {
  Deno.test(`gate runpack admit: ${what}: exit code 2`, async () => {
    const { code, out, err } = await gate("runpack", "admit", join(ROOT, "tests/vectors/runpack/v6/plain"), ...args);
    assert.deepEqual([code, out], [2, ""], err);
    assert.match(err, message);
  });
}

/** The instant at which the run is complete, in seconds and in milliseconds after them. */
const COMPLETED = new Date(NOW + 4000).toISOString().slice(0, -1);

// Digits after those of the millisecond, or another form, and the exit code.
const INSTANTS: readonly (readonly [string, number])[] = [
  [`${COMPLETED}Z`, 0],
  [`${COMPLETED}000z`, 0],
  [`${COMPLETED}0001Z`, 3],
  [`${COMPLETED}9Z`, 3],
  ["2016-12-31T23:59:60Z", 0],
  ["9999-06-30T23:59:60Z", 3],
];

for (const [instant, expected] of INSTANTS) {
  Deno.test(`gate runpack admit: completed at ${COMPLETED}Z, not before ${instant}: exit code ${expected}`, () =>
    withFolder(async (folder) => {
      await writeTree(join(folder, "release"), PACK);
      const { scenario_law_identity: law } = admissionLaw();
      const args = ["--law", law, "--origin-unchecked", "--not-before", instant];
      const { code, out, err } = await gate("runpack", "admit", join(folder, "release"), ...args);
      assert.equal(code, expected, out + err);
    }));
}

/** The first block of a language in the section of the page about admissions. */
async function blockOf(language: string): Promise<string> {
  const page = await Deno.readTextFile(join(ROOT, "docs/reference/cli.md"));
  const section = page.slice(page.indexOf("## Admitting a runpack"), page.indexOf("## Scenario files"));
  return new RegExp(`\`\`\`${language}\\n([^\`]*)\`\`\``).exec(section)?.[1] ?? assert.fail(language);
}

Deno.test("a run of gate run is admitted and refused as the page about commands shows it", () =>
  withFolder(async (folder) => {
    await Deno.writeTextFile(join(folder, "release.yaml"), await blockOf("yaml"));
    const codes: number[] = [];
    for (const step of (await blockOf("console")).split("$ gate ").slice(1)) {
      const [command = "", ...shown] = step.trimEnd().split("\n");
      const { code, stdout, stderr } = await gateIn(folder, ...command.split(" "));
      codes.push(code);
      const found = `${stdout}${stderr}`.replaceAll(/law [0-9a-f]{64}/g, "law LAW");
      assert.ok(found.startsWith(shown.join("\n")), `${command}: ${found}`);
    }
    assert.deepEqual(codes, [0, 0, 6, 4, 2]);
  }));
