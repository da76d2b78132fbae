/**
 * One round of a fleet over a database that fails: three servers, 64 callers, and faults in an order that a seed decides. Each
 * caller repeats a call without a certain answer, unchanged, at any server, as clients are told to. Afterwards a new server is held
 * to every answer.
 *
 * @module
 */

import { connect, createServer, type Socket } from "node:net";
import { type Answer, Died, type GateProcess, startGate } from "../../simulation/crash/gate_process.ts";
import {
  type Head,
  headAfter,
  type LoadedRun,
  nextMutation,
  type Sent,
  startRuns,
} from "../../simulation/crash/load.ts";
import { type Random, randomOf } from "../../simulation/crash/random.ts";
import { checkRealTime, type Observation } from "../../simulation/real_time.ts";
import { checkAnswers, type RoundReport } from "../../simulation/crash/round.ts";
import { migrateDatabase } from "../../../src/store/postgres/open.ts";
import { OWNER, type PostgresServer, promote, runSql, setSynchronous, startPostgres, startStandby } from "./server.ts";

const SERVERS = 3;

/** Calls that a fleet has to accept between two faults: the round goes by what was done, not by the clock. */
const CALLS_BETWEEN_FAULTS = 150;

/** How long calls may take to be accepted again after a fault. */
const PATIENCE_MILLIS = 60_000;

/** What a round found. */
export interface FailoverReport extends RoundReport {
  /** Calls whose answer was lost with a server or a database at first. */
  readonly repeated: number;
  /** Faults in the order in which they came. */
  readonly faults: readonly string[];
}

/** A line to the database that can be cut, or stop to deliver. */
interface Line {
  readonly port: number;
  readonly cut: () => void;
  /** Delivers no byte in either direction until {@link Line.resume}, as a line does that lost its machine. */
  readonly stall: () => void;
  readonly resume: () => void;
  readonly close: () => void;
}

async function openLine(target: number): Promise<Line> {
  const pairs = new Set<readonly [Socket, Socket]>();
  let isStalled = false;
  const server = createServer((near) => {
    const far = connect(target, "127.0.0.1");
    const pair = [near, far] as const;
    pairs.add(pair);
    const end = (): void => {
      pairs.delete(pair);
      near.destroy();
      far.destroy();
    };
    for (const [from, to] of [[near, far], [far, near]] as const) {
      from.on("data", (bytes) => void (isStalled || to.write(bytes)));
      from.on("error", end);
      from.on("close", end);
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const destroyAll = (): void => {
    for (const [near, far] of pairs) {
      near.destroy();
      far.destroy();
    }
  };
  return {
    port: typeof address === "object" && address !== null ? address.port : 0,
    cut: destroyAll,
    stall: () => void (isStalled = true),
    resume: () => {
      isStalled = false;
      // What was not delivered is lost, so these connections are too.
      destroyAll();
    },
    close: () => {
      server.close();
      destroyAll();
    },
  };
}

function isUncertain(answer: Answer): boolean {
  const error = answer["error"] as { readonly code?: string; readonly retryable?: boolean } | undefined;
  return error?.retryable === true;
}

interface Load {
  /** One that was killed is replaced. */
  readonly servers: GateProcess[];
  readonly sent: Sent[];
  accepted: number;
  repeated: number;
  /** What certain answers said of the order of revisions. */
  readonly observations: Observation[];
  isOver: boolean;
  /** Why a caller gave up. */
  failure: unknown;
}

/** Repeats one call at any server until its answer is certain. */
async function settleCall(load: Load, mutation: Omit<Sent, "answer">, random: Random): Promise<Answer> {
  for (let attempt = 0;; attempt++) {
    if (attempt === 1) load.repeated += 1;
    const server = load.servers[Math.floor(random() * SERVERS)];
    try {
      const answer = await server?.call(mutation.tool, mutation.input) ?? {};
      if (answer["outcome"] !== undefined) return answer["outcome"] as Answer;
      // Nothing but an unavailable store is uncertain: an internal error or a corrupt store ends the round.
      if (!isUncertain(answer)) throw new Error(`Cannot settle ${mutation.tool}: ${JSON.stringify(answer)}`);
    } catch (error) {
      if (!(error instanceof Died)) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

async function callUntilOver(load: Load, run: LoadedRun, first: Head, random: Random): Promise<void> {
  let head = first;
  while (!load.isOver) {
    const mutation = nextMutation(run, head, random);
    const sent = performance.now();
    const answer = await settleCall(load, mutation, random);
    load.sent.push({ ...mutation, answer });
    const isAdded = answer["outcome"] === "accepted";
    if (isAdded) load.accepted += 1;
    head = headAfter(answer, head);
    const { revision } = head;
    if (isAdded || answer["outcome"] === "stale") {
      load.observations.push({ run: run.run_id, revision, isAdded, sent, answered: performance.now() });
    }
  }
}

async function untilAccepted(load: Load, count: number): Promise<void> {
  const deadline = performance.now() + PATIENCE_MILLIS;
  while (load.accepted < count) {
    if (load.failure !== null) throw load.failure;
    if (performance.now() > deadline) {
      throw new Error(`${load.accepted} calls were accepted in time, expected ${count}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

function shuffled<Item>(items: readonly Item[], random: Random): Item[] {
  return items.map((item) => ({ item, at: random() })).toSorted((a, b) => a.at - b.at).map(({ item }) => item);
}

/** A database of two servers, and the file that gate servers are started with. */
interface World {
  readonly primary: PostgresServer;
  readonly standby: PostgresServer;
  /** The line to the primary. */
  readonly line: Line;
  readonly configPath: string;
  readonly close: () => Promise<void>;
}

async function openWorld(isSynchronous: boolean): Promise<World> {
  const folder = await Deno.makeTempDir({ prefix: "gate-failover-" });
  const primary = await startPostgres(["wal_sender_timeout=2s"]);
  await runSql(primary, "CREATE DATABASE gate");
  const standby = await startStandby(primary);
  await setSynchronous(primary, isSynchronous);
  const line = await openLine(primary.port);
  const url = `postgres://${OWNER}:unused@127.0.0.1:${line.port},127.0.0.1:${standby.port}/gate`;
  const store = `type = "postgres"\nurl = "${url}"\n`;
  const config = `[server.audit]\nenabled = false\n[run_state_store]\n${store}[schema_registry]\n${store}`;
  await Deno.writeTextFile(`${folder}/gate.toml`, config);
  await migrateDatabase({ url: primary.url("gate"), tls_ca_path: null, connections: 1 }, null);
  const close = async (): Promise<void> => {
    line.close();
    await primary[Symbol.asyncDispose]();
    await standby[Symbol.asyncDispose]();
    await Deno.remove(folder, { recursive: true });
  };
  return { primary, standby, line, configPath: `${folder}/gate.toml`, close };
}

type Fault = readonly [name: string, cause: () => Promise<void> | void];

/** The faults that come before the loss of the primary, in an order that the seed decides. */
function firstFaults({ line }: World, killServer: () => Promise<void>, random: Random): readonly Fault[] {
  const faults: readonly Fault[] = [
    ["a server is killed", killServer],
    ["connections to the database are cut", () => line.cut()],
    ["connections to the database deliver nothing", async () => {
      line.stall();
      await new Promise((resolve) => setTimeout(resolve, 1000));
      line.resume();
    }],
  ];
  return shuffled(faults, random);
}

/**
 * Runs one round.
 *
 * @param isSynchronous Whether commits wait for the standby; otherwise it is promoted without what was accepted while it was stopped
 */
export async function failoverRound(seed: number, isSynchronous = true): Promise<FailoverReport> {
  const world = await openWorld(isSynchronous);
  const load: Load = {
    servers: [],
    sent: [],
    observations: [],
    accepted: 0,
    repeated: 0,
    isOver: false,
    failure: null,
  };
  try {
    return await playRound(world, load, randomOf(seed), { seed, isSynchronous });
  } finally {
    load.isOver = true;
    for (const server of load.servers) await server.kill().catch(() => {});
    await world.close();
  }
}

async function playRound(
  world: World,
  load: Load,
  random: Random,
  { seed, isSynchronous }: { readonly seed: number; readonly isSynchronous: boolean },
): Promise<FailoverReport> {
  const start = (): Promise<GateProcess> => startGate(world.configPath, "inherit");
  load.servers.push(...await Promise.all(Array.from({ length: SERVERS }, start)));
  const [first] = load.servers;
  if (first === undefined) throw new Error("No server started");
  const { runs, heads } = await startRuns(first, random);
  const callers = runs.map((run, index) => {
    const at = index % 8 === 7 ? index - 1 : index;
    const own = randomOf(seed * 1000 + index);
    return callUntilOver(load, runs[at] ?? run, heads[at] ?? { record_id: "", revision: 0 }, own)
      .catch((error) => void (load.failure ??= error));
  });
  const killServer = async (): Promise<void> => {
    const index = Math.floor(random() * SERVERS);
    const old = load.servers[index];
    load.servers[index] = await start();
    await old?.kill();
  };
  const goOn = (): Promise<void> => untilAccepted(load, load.accepted + CALLS_BETWEEN_FAULTS);
  const finish = async (): Promise<void> => {
    load.isOver = true;
    await Promise.all(callers);
    if (load.failure !== null) throw load.failure;
  };
  const faults: string[] = [];
  for (const [name, cause] of firstFaults(world, killServer, random)) {
    await goOn();
    faults.push(name);
    await cause();
  }
  await goOn();
  if (!isSynchronous) {
    await world.standby.kill();
    await goOn();
    await finish();
  }
  faults.push("the primary is killed and the standby promoted");
  await world.primary.kill();
  world.line.close();
  if (!isSynchronous) await world.standby.start();
  await promote(world.standby);
  if (isSynchronous) {
    await goOn();
    faults.push("a server is killed");
    await killServer();
    await goOn();
    await finish();
  }
  checkRealTime(load.observations);
  // A new server has only what the database has.
  const witness = await start();
  load.servers.push(witness);
  return { ...await checkAnswers(witness, runs, load.sent), repeated: load.repeated, faults };
}
