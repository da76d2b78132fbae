/** Compares audit logs with the heads that their servers recorded in the database. */

import { loadConfig } from "../config/load.ts";
import { countOf } from "../config/problems.ts";
import type { ChainState } from "../server/audit/line.ts";
import type { AuditReport } from "../server/audit/verify.ts";
import type { AuditHead } from "../store/postgres/audit_heads.ts";
import { withStoreErrors } from "./store/files.ts";
import { CliError } from "./terminal/cli_error.ts";
import { writeOut } from "./terminal/output.ts";

/** Why the files of a chain differ from its recorded heads. */
type ChainFault =
  /** None of the files has a recorded line: a file is missing, or was replaced. */
  | "file_missing"
  /** The files end before the newest recorded line. */
  | "end_missing"
  /** A line has another hash than the recorded one. */
  | "head_mismatch"
  /** A file of the chain is broken. */
  | "file_broken"
  /** The database has no head of the chain. */
  | "not_recorded";

/** The files of one chain against its recorded heads. */
export interface ChainReport {
  readonly chain_id: string;
  /** The server that recorded the newest head, and the path of its log; null where none is recorded. */
  readonly server: string | null;
  readonly log: string | null;
  /** The newest recorded line, and when it was recorded in Unix milliseconds. */
  readonly sequence: number | null;
  readonly recorded_at: number | null;
  /** The recorded heads that are lines of the files. */
  readonly heads_found: number;
  readonly fault: ChainFault | null;
  /** The first line that differs, for `head_mismatch`; the first recorded line that no file has, for `file_missing`. */
  readonly line: number | null;
}

/** The recorded heads, and what was seen of them in files. */
export interface RecordedHeads {
  /** Receives each line of the files. */
  readonly see: (line: ChainState) => void;
  /** Compares after all files were verified. */
  readonly compare: (reports: readonly AuditReport[]) => readonly ChainReport[];
}

interface Chain {
  /** Hashes by line, in ascending order, of the lines that were not seen. */
  readonly heads: Map<number, string>;
  newest: AuditHead;
  found: number;
  mismatch: number | null;
}

/** Reads the recorded heads from the database of a configuration. */
export async function readRecordedHeads(configPath: string): Promise<RecordedHeads> {
  const config = await loadConfig({ config: configPath });
  if (config.run_state_store.type !== "postgres") {
    throw new CliError(
      "usage",
      `Cannot compare with recorded heads: run_state_store.type is "${config.run_state_store.type}"`,
      'servers record heads in a database of type "postgres"; leave --config out to verify the files alone',
    );
  }
  const chains = await withStoreErrors(async () => {
    const { openAuditHeads } = await import("../store/postgres/open.ts");
    const heads = await openAuditHeads(config.run_state_store);
    try {
      return await readChains(heads.list());
    } finally {
      await heads.close();
    }
  });
  return { see: (line) => see(chains, line), compare: (reports) => compare(chains, reports) };
}

async function readChains(heads: AsyncIterable<AuditHead>): Promise<ReadonlyMap<string, Chain>> {
  const chains = new Map<string, Chain>();
  for await (const head of heads) {
    const chain = chains.get(head.chain_id) ??
      { heads: new Map(), newest: head, found: 0, mismatch: null };
    chain.heads.set(head.sequence, head.head);
    // Heads come in the order of their lines.
    chain.newest = head;
    chains.set(head.chain_id, chain);
  }
  return chains;
}

function see(chains: ReadonlyMap<string, Chain>, { chain_id, sequence, head }: ChainState): void {
  const chain = chains.get(chain_id);
  const expected = chain?.heads.get(sequence);
  if (chain === undefined || expected === undefined) return;
  if (expected !== head) {
    chain.mismatch ??= sequence;
    return;
  }
  // The first line of the next file names the last one of this file again.
  chain.heads.delete(sequence);
  chain.found += 1;
}

function compare(chains: ReadonlyMap<string, Chain>, reports: readonly AuditReport[]): readonly ChainReport[] {
  const ids = new Set([...chains.keys(), ...reports.flatMap(({ chain_id }) => chain_id ?? [])]);
  return [...ids].map((id) => {
    const chain = chains.get(id);
    const fault = faultOf(chain, reports.filter(({ chain_id }) => chain_id === id));
    return {
      chain_id: id,
      server: chain?.newest.server ?? null,
      log: chain?.newest.log ?? null,
      sequence: chain?.newest.sequence ?? null,
      recorded_at: chain?.newest.recorded_at ?? null,
      heads_found: chain?.found ?? 0,
      fault,
      line: fault === "file_missing" ? firstMissing(chain) : chain?.mismatch ?? null,
    };
  });
}

function faultOf(chain: Chain | undefined, files: readonly AuditReport[]): ChainFault | null {
  if (chain === undefined) return "not_recorded";
  if (chain.mismatch !== null) return "head_mismatch";
  if (files.some(({ sound }) => !sound)) return "file_broken";
  const missing = firstMissing(chain);
  if (missing === null) return null;
  const last = Math.max(0, ...files.map(({ last_sequence }) => last_sequence ?? 0));
  return files.length > 0 && last < missing ? "end_missing" : "file_missing";
}

function firstMissing(chain: Chain | undefined): number | null {
  return chain?.heads.keys().next().value ?? null;
}

/** Shows the comparison of one chain. */
export function showChain(report: ChainReport): void {
  const { chain_id, server, log, sequence, recorded_at, heads_found, fault, line } = report;
  const of = server === null ? "" : ` of server ${server}, ${log}`;
  writeOut(`chain ${chain_id}${of}: ${fault === null ? "sound" : `broken (${fault})`}\n`);
  const since = recorded_at === null ? "" : `line ${sequence}, recorded at ${new Date(recorded_at).toISOString()}`;
  const text: Readonly<Record<ChainFault, string>> = {
    file_missing: `the files do not have line ${line}, which is recorded: a file is missing or was replaced`,
    end_missing: `the files end before ${since}: lines at the end are missing`,
    head_mismatch: `line ${line} is not the recorded one: the file was written anew`,
    file_broken: "a file of the chain is broken",
    not_recorded: "the database has no head of it",
  };
  writeOut(
    `  ${fault === null ? `${countOf(heads_found, "recorded head")} found, the newest is ${since}` : text[fault]}\n`,
  );
}
