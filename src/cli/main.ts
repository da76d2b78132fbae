/**
 * The command line: runs a command and returns its exit code.
 *
 * Clients wait for the first answer of `serve`, so it bypasses the command parser and loads only what it needs.
 */

/** Runs a command line, without the program's own name; returns the exit code. */
export async function main(argv: readonly string[]): Promise<number> {
  const serves = argv[0] === "serve" && !asksForHelp(argv);
  try {
    if (serves) {
      const { runServe } = await import("./serve/serve.ts");
      return await runServe(argv.slice(1));
    }
    if (argv[0] === "--version" || argv[0] === "-V") {
      const { runVersion } = await import("./version.ts");
      return runVersion(argv.slice(1));
    }
    const { runProgram } = await import("./program.ts");
    return await runProgram(argv);
  } catch (error) {
    const output = await import("./terminal/output.ts").catch(reportUnreadable);
    if (output === null) return 2;
    const { ownWords, reportFailure, reportStartFailure } = output;
    const asJson = ownWords(argv).includes("--json");
    return serves && !asJson ? reportStartFailure(error) : reportFailure(error, asJson);
  }
}

/** Says that the modules which are loaded when they are needed cannot be read. */
function reportUnreadable(): null {
  const folder = decodeURIComponent(new URL("..", import.meta.url).pathname).replace(/\/$/, "");
  const message = `gate: Cannot start: this process was started without --allow-read=${folder}\n`;
  Deno.stderr.writeSync(new TextEncoder().encode(message));
  return null;
}

function asksForHelp(argv: readonly string[]): boolean {
  return argv.includes("--help") || argv.includes("-h");
}
