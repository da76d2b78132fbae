/**
 * One integrity verification in a process of its own: `verifier_child.ts FOLDER` writes its speed, and how much memory
 * it took at most beyond what it took idle, as one JSON object.
 *
 * @module
 */

import { HOST_PRIMITIVES } from "../../src/evidence/host_primitives.ts";
import { folderPackSource } from "../../src/runpack/host/folder.ts";
import { verificationPrimitives } from "../../src/runpack/host/verification.ts";
import { verifyRunpack } from "../../src/runpack/verify/verify.ts";

const KIBIBYTE = 1024;

/** Memory of this process in bytes, as the system tells it: now, or at most so far. */
function memoryBytes(line: "VmRSS" | "VmHWM"): number {
  const match = new RegExp(`^${line}:\\s+(\\d+) kB`, "m").exec(Deno.readTextFileSync("/proc/self/status"));
  return Number(match?.[1]) * KIBIBYTE;
}

const idle = memoryBytes("VmRSS");
const started = performance.now();
const report = await verifyRunpack(
  folderPackSource(Deno.args[0] ?? ""),
  { runpack_identity: null, profile: "integrity_only_v1", budget: null, trusted_keys: null },
  verificationPrimitives(HOST_PRIMITIVES),
);
const seconds = (performance.now() - started) / 1000;
if (report.claims.some(({ status }) => status.status === "violated" || status.status === "unavailable")) {
  throw new Error(`Cannot measure: ${JSON.stringify(report)}`);
}
const above_idle_bytes = memoryBytes("VmHWM") - idle;
console.log(JSON.stringify({ bytes_per_second: report.budget.bytes_read / seconds, above_idle_bytes }));
