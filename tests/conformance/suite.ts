/**
 * Runs the official conformance suite against a server.
 *
 * @module
 */

/** The suite, which is published on npm and runs under Deno. */
export const SUITE = "npm:@modelcontextprotocol/conformance@0.2.0-alpha.12";

/** A run of the suite takes seconds; one that waits for ever fails here with what it printed. */
const DEADLINE_MILLISECONDS = 180_000;

/** How a run ended. */
export interface SuiteRun {
  readonly code: number;
  /** The summary, from its heading on; all of the output where there is none. */
  readonly summary: string;
  /** Scenarios with whether they passed; without those that do not count, where there is no baseline. */
  readonly scenarios: ReadonlyMap<string, boolean>;
}

/**
 * Runs the scenarios that a revision requires. A listed scenario that passes fails the run as an unlisted one that fails.
 *
 * @param url The endpoint
 * @param revision `2026-07-28` or `2025-11-25`
 * @param baseline File with the scenarios that are expected to fail; null where none is
 */
export async function runSuite(url: string, revision: string, baseline: string | null): Promise<SuiteRun> {
  const { code, text } = await runCommand([
    ...["--url", url, "--requirements", revision],
    ...baseline === null ? [] : ["--expected-failures", baseline],
  ]);
  const start = text.indexOf("=== SUMMARY ===");
  const summary = start < 0 ? text : text.slice(start);
  return { code, summary, scenarios: scenariosOf(summary) };
}

/** Runs one scenario; gives all of its output. The code is 0 where every check passes. */
export function runScenario(
  url: string,
  revision: string,
  scenario: string,
): Promise<{ readonly code: number; readonly text: string }> {
  return runCommand(["--url", url, "--spec-version", revision, "--scenario", scenario]);
}

async function runCommand(flags: readonly string[]): Promise<{ readonly code: number; readonly text: string }> {
  const folder = await Deno.makeTempDir({ prefix: "gate-conformance-" });
  const deadline = AbortSignal.timeout(DEADLINE_MILLISECONDS);
  try {
    const command = new Deno.Command(Deno.execPath(), {
      args: ["run", "--no-prompt", "--quiet", "-A", "--no-lock", SUITE, "server", "-o", folder, ...flags],
      cwd: folder,
      env: { NO_COLOR: "1" },
      signal: deadline,
    });
    const { code, stdout, stderr } = await command.output();
    const text = new TextDecoder().decode(stdout) + new TextDecoder().decode(stderr);
    if (deadline.aborted) {
      throw new Error(`Cannot finish ${flags.join(" ")} within ${DEADLINE_MILLISECONDS} ms: ${text}`);
    }
    return { code, text };
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

function scenariosOf(summary: string): ReadonlyMap<string, boolean> {
  const notScored = summary.split("\nNot scored")[1] ?? "";
  const left = new Set([...notScored.matchAll(/^ {2}[✓✗] (\S+)/gm)].map((match) => match[1] ?? ""));
  const found = [...summary.matchAll(/^([✓✗~]) (\S+): \d+ passed/gm)].map((match) =>
    [match[2] ?? "", match[1] === "✓"] as const
  );
  return new Map(found.filter(([name]) => !left.has(name)));
}
