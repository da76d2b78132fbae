/** The host side of the provider `json`. */

import type { JsonObject } from "../../canonical/json.ts";
import type { BuiltinProviderEntry } from "../../config/types.ts";
import { createWorkerPool } from "../sandbox/worker_pool.ts";
import type { ProviderAnswer } from "../types.ts";
import { type Engine, type ProviderDependencies, ProviderSetupError } from "./engine.ts";
import { checkJsonFile, type JsonAnswer, type JsonSetup } from "./json_file.ts";
import { describeGrant } from "./permissions.ts";
import { answered, failed, type Source, workerFailure } from "./result.ts";

/**
 * The provider `json`: one worker that may read below the root.
 *
 * @throws {ProviderSetupError} Where the root is not a readable folder
 */
export function createJsonEngine(entry: BuiltinProviderEntry<"json">, dependencies: ProviderDependencies): Engine {
  const { root_id, allow_yaml, max_bytes } = entry.config;
  const { given } = dependencies;
  if (given !== null) {
    const answer: Engine["answer"] = async (query) =>
      answerOfFile(await checkJsonFile({ ...entry.config }, query, given.file), root_id, describeGrant({}));
    return { answer, close: () => {} };
  }
  const root = realFolder(entry.config.root);
  const setup: JsonSetup = { root, allow_yaml, max_bytes };
  const pool = createWorkerPool({
    name: "gate-json",
    module: new URL("./json_worker.ts", import.meta.url),
    setup,
    limits: dependencies.workerLimits,
  });
  const permissions = { read: [root] };
  const grant = describeGrant({ read: [root_id] });
  const limitMillis = entry.timeouts.request_timeout_ms;
  return {
    async answer(query, _context, signal): ReturnType<Engine["answer"]> {
      const reply = await pool.ask<JsonAnswer>(permissions, query, { limitMillis, signal });
      return reply.ok ? answerOfFile(reply.answer, root_id, grant) : failed(workerFailure(reply));
    },
    close: pool.close,
  };
}

/** The provider's answer for a finding below the root with this identifier. */
export function answerOfFile(
  { finding, path }: JsonAnswer,
  root_id: string,
  grant: JsonObject,
): ProviderAnswer {
  return answered(finding, path === null ? null : fileSource(root_id, path), grant);
}

function fileSource(root_id: string, path: string): Source {
  const uri = `gate+file://${root_id}/${path.split("/").map(encodeURIComponent).join("/")}`;
  return { anchor_type: "file_path_rooted", anchor: { path, root_id }, uri };
}

/** The folder's real path: the runtime resolves links before it checks permissions. */
function realFolder(root: string): string {
  try {
    const real = Deno.realPathSync(root);
    if (Deno.statSync(real).isDirectory) return real;
  } catch (error) {
    const reason = error instanceof Deno.errors.NotFound ? "it does not exist" : String(error);
    throw notUsable(`must be a folder that can be read: ${reason}`);
  }
  throw notUsable("must be a folder");
}

function notUsable(message: string): ProviderSetupError {
  return new ProviderSetupError([{ member: "config.root", message }]);
}
