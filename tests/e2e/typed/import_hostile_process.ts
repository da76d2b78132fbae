/**
 * Imports files one after the other, and prints for each the outcome, the time and the most memory that the process took so far.
 *
 * @module
 */

import { importInSandbox, type ImportSource } from "../../../src/evidence/typed/import_sandbox.ts";

for (const file of Deno.args) {
  const bytes = await Deno.readFile(file);
  const source: ImportSource = file.endsWith(".proto")
    ? { kind: "grpc", proto: [{ path: "a", text: bytes }] }
    : { kind: "openapi", bytes };
  const options = { provider_id: "hostile", ...source.kind === "grpc" ? { server_url: "grpc.example.test:443" } : {} };
  const started = performance.now();
  const result = await importInSandbox(source, options);
  const milliseconds = Math.round(performance.now() - started);
  const status = await Deno.readTextFile("/proc/self/status");
  const mebibytes = Math.round(Number(/VmHWM:\s+(\d+)/.exec(status)?.[1]) / 1024);
  const codes = result.candidates.flatMap(({ reasons }) => reasons.map(({ code }) => code));
  const head = result.ok ? `checks ${result.contract.checks.length}` : result.code;
  const outcome = [head, ...new Set(codes)].join(" ");
  const detail = result.ok ? "" : result.message.slice(0, 200);
  console.log(JSON.stringify({ outcome, milliseconds, mebibytes, detail }));
}
Deno.exit();
