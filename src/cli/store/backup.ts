/** `gate store backup`: copies a store to a file while it is in use. */

import { resolve } from "node:path";
import { loadConfig } from "../../config/load.ts";
import { describeUrl } from "../../config/postgres_address.ts";
import { reasonOf } from "../../store/file_reason.ts";
import type { StorageOptions } from "../../store/types.ts";
import { CliError } from "../terminal/cli_error.ts";
import { foldState, sha256 } from "../run/fold_state.ts";
import { type ConfigFlags, writeAnswer } from "../terminal/output.ts";
import { STORE_SECTIONS, storeFile, storeFiles, type StoreSection, withStoreFile } from "./files.ts";

/** The flags of `gate store backup`. */
export interface StoreBackupOptions extends ConfigFlags {
  readonly store?: string;
}

/** Runs `gate store backup FILE`. */
export async function runStoreBackup(file: string, options: StoreBackupOptions): Promise<number> {
  const section = sectionOf(options.store);
  const config = await loadConfig(options);
  refuseDatabase(config[section]);
  const path = storeFile(config, section);
  const target = resolve(file);
  await requireNew(target);
  const report = await withStoreFile(path, async () => {
    const { backupStore } = await import("../../store/backup/backup.ts");
    return await backupStore(path, target, { sha256, fold: foldState });
  });
  const other = STORE_SECTIONS.find((name) => name !== section);
  const isAlone = storeFiles(config).length === 1;
  const note = isAlone ? "" : `The other store is in another file: gate store backup --store ${other} FILE\n`;
  return writeAnswer("store backup", options, { store: section, path, backup: report }, `${target}\n`, { note });
}

/** A database has tools of its own, which copy one moment of all of its tables. */
function refuseDatabase({ type, url }: StorageOptions): void {
  if (type !== "postgres") return;
  const command = "pg_dump --format=custom --file=FILE backs it up; docs/guide/several_servers.md restores it";
  throw new CliError("usage", `Cannot back up ${describeUrl(url ?? "")}: it is not a SQLite file`, command);
}

function sectionOf(name: string | undefined): StoreSection {
  const section = STORE_SECTIONS.find((known) => known === (name ?? STORE_SECTIONS[0]));
  if (section !== undefined) return section;
  throw new CliError("usage", `Cannot use --store "${name}": must be one of ${STORE_SECTIONS.join(", ")}`);
}

async function requireNew(target: string): Promise<void> {
  try {
    await Deno.lstat(target);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return;
    throw new CliError("usage", `Cannot write "${target}": ${reasonOf(error)}`);
  }
  throw new CliError("file_exists", `Cannot write "${target}": it exists already`, "name a new file");
}
