/**
 * The long doses: tests of the other plans with many more rounds, for a machine that has the time.
 *
 * @module
 */

import type { Step } from "./steps.ts";

/** Every step of `deno task proof`. */
export const PROOF_STEPS: readonly Step[] = [
  {
    name: "every property with 5,000 runs",
    kind: "tests",
    options: ["--preload=tests/proof/many_runs.ts"],
    paths: ["src"],
    silentMinutes: 60,
  },
  {
    name: "five thousand random lists, against their operations alone; forty servers killed in the middle of lists",
    kind: "tests",
    options: [],
    paths: ["tests/simulation/apply"],
    environment: { GATE_APPLY_LISTS: "5000", GATE_APPLY_CRASHES: "40" },
    silentMinutes: 30,
  },
  {
    name: "a server killed under load, ninety seeds",
    kind: "tests",
    options: [],
    paths: ["tests/proof/crash_test.ts"],
    silentMinutes: 30,
  },
  {
    name: "a fleet over a database that fails, two hundred seeds",
    kind: "tests",
    options: [],
    paths: ["tests/proof/postgres_failover_test.ts"],
    silentMinutes: 120,
    needs: [{ program: "/usr/lib/postgresql/15/bin/postgres", debianPackage: "postgresql-15" }],
  },
  {
    name: "ten minutes of mixed load over three servers on one database",
    kind: "tests",
    options: [],
    paths: ["tests/proof/postgres_contention_test.ts"],
    silentMinutes: 30,
    needs: [{ program: "/usr/lib/postgresql/15/bin/postgres", debianPackage: "postgresql-15" }],
  },
  {
    name: "a minute without the receiver of events",
    kind: "tests",
    options: [],
    paths: ["tests/proof/notify_test.ts"],
    silentMinutes: 5,
  },
  {
    name: "ten thousand mutations of a runpack",
    kind: "tests",
    options: [],
    paths: ["tests/proof/runpack_mutations_test.ts"],
    silentMinutes: 10,
  },
  {
    name: "a second verifier of runpacks, on two thousand rewritten packs",
    kind: "tests",
    options: [],
    paths: ["tests/full/second_verifier/rewritten_test.ts"],
    environment: { GATE_SECOND_VERIFIER_REWRITES: "250" },
    silentMinutes: 10,
    needs: [{ program: "python3", debianPackage: "python3" }],
  },
  {
    name: "a thousand typed checks of services that misbehave",
    kind: "tests",
    options: [],
    paths: ["tests/proof/typed_peers_test.ts"],
    silentMinutes: 10,
  },
  {
    name: "a thousand rounds with each hostile gRPC server, and random frames",
    kind: "tests",
    options: [],
    paths: ["tests/proof/grpc_rounds_test.ts"],
    silentMinutes: 30,
  },
  {
    name: "six hundred thousand messages for gate and for the SDK's server",
    kind: "tests",
    options: [],
    paths: ["tests/proof/protocol_peer_test.ts"],
    silentMinutes: 30,
  },
  {
    name: "five minutes of mixed load",
    kind: "tests",
    options: [],
    paths: ["tests/proof/load_test.ts"],
    silentMinutes: 10,
  },
  {
    name: "questions to twenty thousand laws, against all evidence of all parties",
    kind: "tests",
    options: [],
    paths: ["tests/proof/law_questions_test.ts", "tests/proof/law_weakenings_test.ts"],
    silentMinutes: 60,
  },
];
