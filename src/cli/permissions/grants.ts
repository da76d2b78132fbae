/** The permissions of a plan as flags of the runtime, and compared with those that this process has. */

import type { Allowance, PermissionPlan } from "./plan.ts";

/** The item of `sys` for the certificate authorities of the system. A named set of permissions may have it, no flag. */
export const AUTHORITIES = "ca";

/** Each class of permissions, and how the runtime is asked for one of its items. */
const CLASSES = {
  read: (path) => ({ name: "read", path }),
  write: (path) => ({ name: "write", path }),
  env: (variable) => ({ name: "env", variable }),
  net: (host) => ({ name: "net", host }),
  run: (command) => ({ name: "run", command }),
  sys: (kind) => ({ name: "sys", kind: kind as "statfs" }),
} satisfies Record<string, (item: string) => Deno.PermissionDescriptor>;

const NAMES = Object.keys(CLASSES) as readonly (keyof typeof CLASSES)[];

/** Classes that no plan has. */
const NEVER_NEEDED = ["ffi", "import"] as const;

/** Formats a plan as flags of `deno run` and `deno compile`. */
export function grantFlags(plan: PermissionPlan): readonly string[] {
  return [...NAMES.flatMap((name) => flagOf(name, plan[name])), ...deniedFlag(plan)];
}

function flagOf(name: string, allowed: Allowance): readonly string[] {
  if (allowed === "all" || name === "sys" && allowed.includes(AUTHORITIES)) return [`--allow-${name}`];
  return allowed.length === 0 ? [] : [`--allow-${name}=${allowed.join(",")}`];
}

function deniedFlag({ deny_net }: PermissionPlan): readonly string[] {
  return deny_net.length === 0 ? [] : [`--deny-net=${deny_net.join(",")}`];
}

/** How the permissions of a process differ from a plan. */
export interface Comparison {
  /** The flags that are missing. */
  readonly missing: readonly string[];
  /** The flags that take the place of classes that are granted whole. */
  readonly narrower: readonly string[];
}

/**
 * Compares the permissions of this process with a plan. A process cannot list what it was granted. So a class is wider
 * than the plan where the whole of it is granted in place of a list, or of nothing.
 */
export function compareGrants(plan: PermissionPlan): Comparison {
  const missing: string[] = [];
  const narrower: string[] = [];
  for (const name of NAMES) {
    const allowed = plan[name];
    if (isGranted({ name })) {
      narrower.push(
        ...allowed.length === 0 ? [`--deny-${name}`] : flagOf(name, allowed).filter((flag) => flag.includes("=")),
      );
    } else {
      missing.push(
        ...flagOf(name, allowed === "all" ? allowed : allowed.filter((item) => !isGranted(CLASSES[name](item)))),
      );
    }
  }
  narrower.push(...NEVER_NEEDED.filter((name) => isGranted({ name })).map((name) => `--deny-${name}`));
  const [denied] = plan.deny_net;
  const isDenied = denied === undefined || !isGranted({ name: "net", host: denied.replace(/\/\d+$/, "") });
  return { missing, narrower: [...narrower, ...isDenied ? [] : deniedFlag(plan)] };
}

/** Gives up each class of permissions that a plan does not need, but what is kept. */
export function revokeOthers(plan: PermissionPlan, kept: readonly (keyof typeof CLASSES)[] = []): void {
  const others = NAMES.filter((one) => plan[one].length === 0 && !kept.includes(one));
  for (const name of others) Deno.permissions.revokeSync({ name });
  for (const name of NEVER_NEEDED) Deno.permissions.revokeSync({ name });
}

/** Says that permissions are wider than a configuration needs; null where they are not. */
export function describeWider({ narrower }: Comparison): string | null {
  return narrower.length === 0
    ? null
    : `permissions are wider than the configuration needs: narrower are ${narrower.join(" ")}`;
}

/** Whether this process has a permission. */
export function isGranted(descriptor: Deno.PermissionDescriptor): boolean {
  return Deno.permissions.querySync(descriptor).state === "granted";
}
