/**
 * Reads the report of a run of `deno test`: JUnit XML, with one suite for each file and one case for each test and step.
 *
 * @module
 */

/**
 * How one test ended. `cancelled` was running when the run was ended, and `not_run` had not begun. A test that its file
 * marks as ignored is `skipped`.
 */
export type CaseOutcome = "passed" | "failed" | "skipped" | "cancelled" | "not_run";

/** A test, or a step of one: its name then begins with that of the test and " > ". */
export interface TestCase {
  /** Path of the file from the working folder. */
  readonly file: string;
  readonly name: string;
  readonly outcome: CaseOutcome;
  /** How long it took; 0 where it did not end. */
  readonly seconds: number;
}

const CASE = /<testcase name="([^"]*)" classname="([^"]*)"([^>]*)>([^]*?)<\/testcase>/g;

/** Every case of a report. */
export function readReport(xml: string): TestCase[] {
  return [...xml.matchAll(CASE)].map(([, name = "", file = "", attributes = "", body = ""]) => ({
    // A block of documentation is in a file of its own, such as `README.md#12-20.ts`.
    file: unescapeXml(file).replace(/^\.\//, "").replace(/#\d+-\d+\.\w+$/, ""),
    name: unescapeXml(name),
    outcome: outcomeOf(attributes, body),
    seconds: Number(/ time="([\d.]+)"/.exec(attributes)?.[1] ?? 0),
  }));
}

function outcomeOf(attributes: string, body: string): CaseOutcome {
  if (/<error message="Cancelled"/.test(body)) return "cancelled";
  if (/<(?:failure|error)\b/.test(body)) return "failed";
  if (!/<skipped\b/.test(body)) return "passed";
  return / time="/.test(attributes) ? "skipped" : "not_run";
}

const ENTITIES: Readonly<Record<string, string>> = { lt: "<", gt: ">", amp: "&", quot: '"', apos: "'" };

function unescapeXml(text: string): string {
  return text.replace(/&(?:#(\d+)|#x([\da-fA-F]+)|(\w+));/g, (whole, decimal, hex, name) => {
    if (name !== undefined) return ENTITIES[name] ?? whole;
    return String.fromCodePoint(decimal === undefined ? Number.parseInt(hex, 16) : Number(decimal));
  });
}
