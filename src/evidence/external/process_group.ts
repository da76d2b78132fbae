/**
 * The process group of a provider: the process and its descendants. The group ends as a whole, at the latest with gate.
 */

/**
 * The program that signals groups where gate may run named programs only: the runtime itself signals only with the
 * permission to run any program.
 */
export const KILL_PROGRAM = "/bin/kill";

/** Whether this system starts processes in groups of their own. */
export const HAS_GROUPS = Deno.build.os !== "windows";

/** Milliseconds between SIGTERM and SIGKILL. */
const GRACE_MILLISECONDS = 1000;

/** Leaders of groups that have not ended. */
const running = new Set<Deno.ChildProcess>();

/** Registers the leader of a group: the rest of the group is killed when the leader or gate ends. */
export function watchGroup(leader: Deno.ChildProcess): void {
  if (running.size === 0) globalThis.addEventListener("unload", endAll);
  running.add(leader);
  leader.status.then(() => {
    running.delete(leader);
    if (running.size === 0) globalThis.removeEventListener("unload", endAll);
    signalGroup(leader, "SIGKILL");
  });
}

/** Terminates a group, and kills it where its leader does not exit in time. */
export function stopGroup(leader: Deno.ChildProcess): void {
  signalGroup(leader, "SIGTERM");
  const timer = setTimeout(() => signalGroup(leader, "SIGKILL"), GRACE_MILLISECONDS);
  leader.status.then(() => clearTimeout(timer));
}

/** Kills a group at once. */
export function killGroup(leader: Deno.ChildProcess): void {
  signalGroup(leader, "SIGKILL");
}

function endAll(): void {
  for (const leader of running) signalGroup(leader, "SIGKILL");
}

function signalGroup(leader: Deno.ChildProcess, signal: "SIGTERM" | "SIGKILL"): void {
  // The leader can be signalled where the group cannot.
  for (const attempt of HAS_GROUPS ? [signalAll, signalLeader] : [signalLeader]) {
    try {
      return attempt(leader, signal);
    } catch {
      // It has exited, or gate lacks the permission.
    }
  }
}

function signalAll({ pid }: Deno.ChildProcess, signal: "SIGTERM" | "SIGKILL"): void {
  if (Deno.permissions.querySync({ name: "run" }).state === "granted") return Deno.kill(-pid, signal);
  const args = ["-s", signal.slice("SIG".length), "--", `-${pid}`];
  const { success } = new Deno.Command(KILL_PROGRAM, { args, clearEnv: true, stdout: "null", stderr: "null" })
    .outputSync();
  if (!success) throw new Deno.errors.NotFound();
}

function signalLeader(leader: Deno.ChildProcess, signal: "SIGTERM" | "SIGKILL"): void {
  leader.kill(signal);
}
