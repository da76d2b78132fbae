/**
 * The group of a provider's process: the process and all that it starts, which ends as a whole, and with gate.
 *
 * @module
 */

/**
 * The program that signals groups where gate may run no more than named programs: the runtime itself signals only for whoever
 * may run all.
 */
export const KILL_PROGRAM = "/bin/kill";

/** Whether processes are started in groups of their own here. */
export const HAS_GROUPS = Deno.build.os !== "windows";

/** Milliseconds between asking a group to end and ending it. */
const GRACE_MILLISECONDS = 1000;

/** Groups with a process that has not ended. */
const running = new Set<Deno.ChildProcess>();

/** Takes a process that leads its group; what is left of the group ends with it, and with gate. */
export function watchGroup(leader: Deno.ChildProcess): void {
  if (running.size === 0) globalThis.addEventListener("unload", endAll);
  running.add(leader);
  leader.status.then(() => {
    running.delete(leader);
    if (running.size === 0) globalThis.removeEventListener("unload", endAll);
    signalGroup(leader, "SIGKILL");
  });
}

/** Asks a group to end, and ends it where its leader does not. */
export function stopGroup(leader: Deno.ChildProcess): void {
  signalGroup(leader, "SIGTERM");
  const timer = setTimeout(() => signalGroup(leader, "SIGKILL"), GRACE_MILLISECONDS);
  leader.status.then(() => clearTimeout(timer));
}

/** Ends a group at once. */
export function killGroup(leader: Deno.ChildProcess): void {
  signalGroup(leader, "SIGKILL");
}

function endAll(): void {
  for (const leader of running) signalGroup(leader, "SIGKILL");
}

function signalGroup(leader: Deno.ChildProcess, signal: "SIGTERM" | "SIGKILL"): void {
  // Where the group cannot be signalled, its leader can.
  for (const attempt of HAS_GROUPS ? [signalAll, signalLeader] : [signalLeader]) {
    try {
      return attempt(leader, signal);
    } catch {
      // It is gone, or gate may not.
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
