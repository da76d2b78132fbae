/** `gate new`: writes a law to start from, its cases, and a configuration where there is none. */

import { resolve } from "node:path";
import { STARTER_CONFIG } from "../../config/sections/starter.ts";
import { DEFAULT_CONFIG_FILE } from "../../config/load.ts";
import { CliError } from "../terminal/cli_error.ts";
import { writeStarter } from "../serve/init.ts";
import { requireNew, writeNewFile } from "../terminal/new_file.ts";
import { type JsonFlag, writeAnswer } from "../terminal/output.ts";

/** A law to start from, with its cases. */
interface Starter {
  readonly law: string;
  readonly cases: string;
  /** What its configuration has beside that of `gate init`. */
  readonly config?: string;
}

const COMMIT = "3a7bd3e2360a3d29eea436fcfb7e44c735d117c4";

/** The laws to start from. */
const NEW_LAWS: Readonly<Record<string, Starter>> = {
  release: {
    law: `# May this commit be released? Its tests pass.
law: release
parameters:
  commit: text(7..40)
evidence:
  tested_commit: caller
  tests_failed: count
stages:
  ship: tested_commit == commit && tests_failed == 0
`,
    cases: `given: { commit: 4f2a9c1, tested_commit: 4f2a9c1, tests_failed: 0 }
green: { then: complete }
red: { tests_failed: 2, then: "held: tests_failed == 0" }
another commit: { tested_commit: 8d1f2c7, then: "held: tested_commit == commit" }
nothing said: { tests_failed: null, then: "unknown: tests_failed == 0" }
`,
  },
  approval: {
    law: `# May this change go to production? Two different people approve it.
law: approval
parameters:
  commit: text(7..40)
people:
  owners: [alice, bob, carol]
evidence:
  tested_commit: caller
  tests_failed: count
  approved: 2 of owners within 24h
stages:
  checks: tested_commit == commit && tests_failed == 0
  approval: { after: checks, when: approved }
`,
    cases: `given: { commit: 4f2a9c1, tested_commit: 4f2a9c1, tests_failed: 0 }
two people: { sign: [alice, carol], then: complete }
one person twice: { sign: [alice, alice], then: "waits for 1 of bob, carol" }
`,
  },
  migration: {
    law: `# May this migration run? Tests, a backup of today, and two people shortly before.
law: migration
parameters:
  commit: text(40..40)
people:
  dbas: [alice, bob, carol]
evidence:
  tests_failed: count from rest https://ci.example/commits/{commit}/tests $.failed
  backup_at: rest https://backup.example/main $.taken_at
  approved: 2 of dbas within 1h
stages:
  migration:
    - tests_failed == 0
    - backup_at > now - duration("24h")
    - approved
`,
    cases: `given:
  commit: ${COMMIT}
  now: 2026-11-24T21:00:00Z
  answers:
    https://ci.example/commits/${COMMIT}/tests: { failed: 0 }
    https://backup.example/main: { taken_at: "2026-11-24T19:00:00Z" }
two people: { sign: [alice, carol], then: complete }
one person twice: { sign: [alice, alice], then: "waits for 1 of bob, carol" }
an old backup:
  backup_at: now - 25h
  sign: [alice, bob]
  then: 'held: backup_at > now - duration("24h")'
red: { tests_failed: 2, sign: [alice, bob], then: "held: tests_failed == 0" }
`,
    config: `
# The results of tests and the times of backups. Name the hosts that may be asked: allowed_hosts = ["ci.example"]
[[providers]]
name = "rest"
type = "builtin"
`,
  },
  "agent-task": {
    law: `# Is the task of the agent done? What it says of its work, and a maintainer who looked.
law: agent-task
people:
  maintainers: [maintainer]
evidence:
  tests_failed: count
  files_changed: count
  reviewed: 1 of maintainers
stages:
  work: tests_failed == 0 && files_changed <= 20
  review: { after: work, when: reviewed }
`,
    cases: `given: { tests_failed: 0, files_changed: 7 }
reviewed: { sign: [maintainer], then: complete }
not reviewed: { then: [work is true, waits for 1 of maintainer] }
too much at once: { files_changed: 21, sign: [maintainer], then: "held: files_changed <= 20" }
`,
  },
  artifact: {
    law: `# May this artifact be deployed? Its digest is that of the build, and the scan of it found nothing.
law: artifact
parameters:
  digest: sha256
evidence:
  built: sha256 from json build.json $.digest
  scanned: sha256 from json scan.json $.digest
  findings: count from json scan.json $.findings
stages:
  deploy: built == digest && scanned == digest && findings == 0
`,
    cases: `given:
  digest: &digest 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
  files:
    build.json: { digest: *digest }
    scan.json: { digest: *digest, findings: 0 }
as built: { then: complete }
findings: { findings: 1, then: "held: findings == 0" }
not scanned: { files: { scan.json: {} }, then: [error jsonpath_not_found, "unknown: findings == 0"] }
`,
  },
};

/** Runs `gate new`. */
export async function runNew(kind: string, flags: JsonFlag): Promise<number> {
  const starter = Object.hasOwn(NEW_LAWS, kind) ? NEW_LAWS[kind] : undefined;
  if (starter === undefined) {
    throw new CliError("usage", `Cannot write a law of kind "${kind}"`, `expected ${Object.keys(NEW_LAWS).join(", ")}`);
  }
  const files = [[`${kind}.yaml`, starter.law], [`${kind}.cases.yaml`, starter.cases]] as const;
  for (const [path] of files) requireNew(path);
  const hasConfig = await Deno.lstat(DEFAULT_CONFIG_FILE).then(() => true, () => false);
  for (const [path, text] of files) await writeNewFile(path, text);
  if (!hasConfig) await writeStarter(resolve(DEFAULT_CONFIG_FILE), STARTER_CONFIG + (starter.config ?? ""));
  const paths = [...files.map(([path]) => path), ...hasConfig ? [] : [DEFAULT_CONFIG_FILE]];
  const note = `Next: gate scenario test ${kind}.yaml\n`;
  return writeAnswer("new", flags, { files: paths }, paths.map((path) => `${path}\n`).join(""), { note });
}
