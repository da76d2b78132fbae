/**
 * Reads plans from standard input, starts a worker for each item of each plan that has all of it but this item, and
 * writes a line with the item and the flags that the worker misses.
 *
 * @module
 */

import type { Allowance, PermissionPlan } from "@/cli/permissions/plan.ts";

const CLASSES = ["read", "write", "env", "net", "run", "sys"] as const;

/** Permissions of a worker without an item. */
function without(plan: PermissionPlan, flag: string): Record<string, boolean | string[]> {
  const left = (name: string, allowed: Allowance): string[] =>
    [...allowed].filter((item) => `--allow-${name}=${item}` !== flag);
  return Object.fromEntries(CLASSES.map((name) => [name, left(name, plan[name])]));
}

/** The flags that a worker misses. */
async function missingIn(plan: PermissionPlan, permissions: Record<string, boolean | string[]>): Promise<string[]> {
  const worker = new Worker(new URL("grants_worker.ts", import.meta.url), {
    type: "module",
    deno: { permissions: permissions as Deno.PermissionOptionsObject },
  });
  const { promise, resolve, reject } = Promise.withResolvers<string[]>();
  worker.onmessage = ({ data }) => resolve(data);
  worker.onerror = ({ message }) => reject(new Error(message));
  worker.postMessage(plan);
  try {
    return await promise;
  } finally {
    worker.terminate();
  }
}

const plans = JSON.parse(await new Response(Deno.stdin.readable).text()) as readonly PermissionPlan[];
for (const plan of plans) {
  const flags = CLASSES.flatMap((name) => [...plan[name]].map((item) => `--allow-${name}=${item}`));
  for (const flag of ["", ...flags]) console.log(JSON.stringify([flag, await missingIn(plan, without(plan, flag))]));
}
