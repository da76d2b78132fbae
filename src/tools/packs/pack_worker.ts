/**
 * The worker that verifies and exports runpacks. Both hash and replay the whole pack, which would block the serving
 * thread. The worker may read the local repository and nothing else.
 */

import { canonicalize } from "../../canonical/canonicalize.ts";
import { HOST_PRIMITIVES } from "../../evidence/host_primitives.ts";
import { type ExportedPack, exportRun, type ExportSource } from "../../runpack/export.ts";
import { ExportError } from "../../runpack/format/objects.ts";
import { verificationPrimitives } from "../../runpack/host/verification.ts";
import type { ValidateSchema } from "../../runpack/verify/types.ts";
import type { PackOrder, PackQuestion, PackReport, PackWork } from "./pack_protocol.ts";
import { verifyPack } from "./verify_pack.ts";

/** The members of the worker's global scope that are used here. */
interface WorkerScope {
  onmessage: ((event: MessageEvent<PackOrder>) => void) | null;
  readonly postMessage: (report: PackReport) => void;
}

/** A running job. */
interface Job {
  /** Receives the answer to the pending question. */
  answer: ((order: { readonly ok: boolean; readonly value: unknown }) => void) | null;
  cancelled: boolean;
}

type Ask = (question: PackQuestion) => Promise<unknown>;

const scope = globalThis as WorkerScope;
const jobs = new Map<number, Job>();
const { pause = (): Promise<void> => Promise.resolve() } = verificationPrimitives(HOST_PRIMITIVES);

/** The job was cancelled, or the host failed to answer it. */
class JobEnded extends Error {}

async function run(id: number, work: PackWork): Promise<void> {
  const job: Job = { answer: null, cancelled: false };
  jobs.set(id, job);
  const ask: Ask = async (question) => {
    throwIfCancelled(job);
    const answered = new Promise<{ readonly ok: boolean; readonly value: unknown }>((resolve) => job.answer = resolve);
    scope.postMessage({ report: "asks", job: id, question });
    const { ok, value } = await answered;
    throwIfCancelled(job);
    if (!ok) throw new JobEnded();
    return value;
  };
  try {
    const value = work.kind === "export" ? await exportPack(work.source, ask) : await verify(work, job, ask);
    scope.postMessage({ report: "done", job: id, value });
  } catch (error) {
    const code = error instanceof ExportError ? error.code : null;
    const message = error instanceof Error ? error.message : String(error);
    scope.postMessage({ report: "failed", job: id, code, message });
  } finally {
    jobs.delete(id);
  }
}

function throwIfCancelled({ cancelled }: Job): void {
  if (cancelled) throw new JobEnded();
}

function verify({ root, request }: PackWork & { readonly kind: "verify" }, job: Job, ask: Ask): Promise<unknown> {
  const validateSchema: ValidateSchema = async (identity, schema, value) => {
    // As texts: a structured clone of an object would lose a member named "__proto__".
    const texts = { schema: canonicalize(schema), value: canonicalize(value) };
    return await ask({ name: "schema", identity, ...texts }) as Awaited<ReturnType<ValidateSchema>>;
  };
  return verifyPack(root, request, validateSchema, async () => {
    await pause();
    throwIfCancelled(job);
  });
}

async function exportPack(
  source: Omit<ExportSource, "records" | "artifact">,
  ask: Ask,
): Promise<ExportedPack> {
  const stream = exportRun(HOST_PRIMITIVES.sha256, {
    ...source,
    records: async (after, limit) =>
      await ask({ name: "records", after, limit }) as Awaited<ReturnType<ExportSource["records"]>>,
    artifact: async (identity) =>
      await ask({ name: "artifact", identity }) as Awaited<ReturnType<ExportSource["artifact"]>>,
  });
  for (let step = await stream.next();; step = await stream.next()) {
    if (step.done === true) return step.value;
    await ask({ name: "object", ...step.value });
  }
}

scope.onmessage = ({ data }) => {
  if (data.order === "begin") {
    run(data.job, data.work);
    return;
  }
  const job = jobs.get(data.job);
  if (job === undefined) return;
  if (data.order === "cancel") job.cancelled = true;
  const { answer } = job;
  job.answer = null;
  answer?.(data.order === "answer" ? data : { ok: false, value: null });
};
