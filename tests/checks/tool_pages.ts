/**
 * The pages of `docs/reference/tools`, one a tool, generated from what the tools publish. Run as a program, it writes the pages.
 *
 * @module
 */

import { isJsonObject, type JsonObject, member } from "../../src/canonical/json.ts";
import { contractSchema } from "../../src/evidence/contract/check.ts";
import { profileSchema } from "../../src/evidence/typed/runtime_profile.ts";
import { withTools } from "../../src/tools/tests/tools_fixture.ts";
import { withTypes } from "../../src/tools/framework/output.ts";
import { referenceOf } from "../../src/tools/framework/reference.ts";
import { sharedTypes } from "../../src/tools/framework/result_types.ts";
import type { Tool } from "../../src/tools/framework/types.ts";
import { schemaText } from "./schema_text.ts";
import { settingsFile } from "./settings_page.ts";
import type { SourceFile } from "./source.ts";
import { tableText } from "./table_text.ts";
import { ROOT_URL } from "./tree.ts";

/** The list of pages that the program itself reads. */
const LIST_PATH = "src/docs/tool_pages.ts";

const GROUPS: Readonly<Record<Tool["group"], string>> = {
  Authoring: "writes laws and contracts",
  Run: "moves runs, or reads what moving them takes",
  Read: "reads",
  Audit: "publishes and verifies the record",
};

/** Every file that is generated from the tools of this build. */
export async function toolFiles(): Promise<readonly SourceFile[]> {
  let files: readonly SourceFile[] = [];
  await withTools(async ({ tools }) => {
    const all = [...tools.values()];
    const pages = all.map(async (tool) => ({
      path: `docs/reference/tools/${tool.name}.md`,
      text: await toolPage(tool),
    }));
    files = [
      { path: "docs/reference/tools/README.md", text: indexPage(all) },
      ...await Promise.all(pages),
      { path: LIST_PATH, text: listModule(all) },
    ];
  });
  return files;
}

function indexPage(tools: readonly Tool[]): string {
  const rows = tools.map(({ name, title, group }) => [`[\`${name}\`](${name}.md)`, title, group]);
  return [
    "# Tools",
    "",
    "Each tool has a page with its arguments and its result, generated from its schemas by `deno task docs:tools`. The tools",
    "are in the order of the work, from the law to the receipt. The [agent playbook](../../guide/agent_playbook.md) has what to",
    "do after each outcome and error.",
    "",
    "## Every tool",
    "",
    ...tableText(["Tool", "What it does", "Group"], rows),
    "",
    "## What the groups mean",
    "",
    "Roles are granted by group (`server.auth.principals`).",
    "",
    ...tableText(["Group", "Its tools"], Object.entries(GROUPS)),
    "",
    "## How arguments are written",
    "",
    "`?` marks an optional member. A `name` is 1 to 256 bytes of UTF-8 without control characters; a `line` has its own bound.",
    "A call takes at most 64 items of evidence on a condition and 4096 in all; the bounds of a spec are in",
    "[scenario law](../../format/scenario_law.md#from-spec-to-law).",
    "",
    "## How results and errors look",
    "",
    "A result is in `structuredContent`, and the same JSON as text in `content`. Many results are an envelope",
    "`{outcome: {outcome, result}}`: the accepted outcome has the result of the call, every other one the reason, with the next",
    "calls in `next: [{tool, arguments_hint, why}]`. A domain error is a result with `isError: true` and",
    "`{error: {code, kind, message, retryable, details?}}`. A fault of the request itself is a JSON-RPC error.",
    "",
    "Each page has the full result: one closed object for each outcome, then the types that it references. The resource",
    "`gate://schemas/<tool>` has the same as JSON Schema, in `$defs.output`. `tools/list` shows members, types and outcomes.",
    "",
    "`tools/list` is short, at most 32 kB. Its argument schemas are closed; patterns, bounds and the members of rare objects",
    "are on the pages and in `$defs.input` of the resource.",
    "",
  ].join("\n");
}

async function toolPage(tool: Tool): Promise<string> {
  const { details, input, output } = await referenceOf(tool);
  const { name, title, group, hints } = tool;
  const [result = {}] = (member(output, "oneOf") ?? []) as JsonObject[];
  return [
    `# ${name}`,
    "",
    `${title}. ${details}`,
    "",
    `Group ${group}; ${hints.readOnlyHint ? "changes nothing" : "writes"}${
      hints.openWorldHint ? ", and may query providers" : ""
    }; the same call again does nothing more.`,
    "",
    "## Arguments",
    "",
    ...block(schemaText(input), specOf(input)),
    "## Result",
    "",
    ...block(schemaText(result), withTypes(result, sharedTypes())),
  ].join("\n");
}

/** The schema of a spec among the arguments, which has types of its own; the schema of the arguments without one. */
function specOf(input: JsonObject): JsonObject {
  const spec = member((member(input, "properties") ?? {}) as JsonObject, "spec");
  return isJsonObject(spec) ? spec : input;
}

function block(text: string, schema: JsonObject): string[] {
  const definitions = Object.entries((member(schema, "$defs") ?? {}) as JsonObject);
  const lines = [text, ...definitions.map(([name, inside]) => `\n${name} = ${schemaText(inside)}`)];
  return ["```text", ...lines.map((line) => line.replace(/ +$/gm, "")), "```", ""];
}

/** The JSON Schemas that are published as files. */
export function schemaFiles(): readonly SourceFile[] {
  const schemas = { provider_contract: contractSchema(), runtime_profile: profileSchema() };
  return Object.entries(schemas).map(([name, schema]) => ({
    path: `docs/reference/${name}.schema.json`,
    text: `${JSON.stringify(schema, null, 2)}\n`,
  }));
}

function listModule(tools: readonly Tool[]): string {
  const lines: string[] = [];
  for (const { name } of tools) {
    const line = `${lines.at(-1) ?? ""} ${name}`;
    if (lines.length > 0 && line.length <= 105) lines[lines.length - 1] = line;
    else lines.push(name);
  }
  return [
    "/** The tools that have a page each, generated by `deno task docs:tools`. */",
    "",
    'import { words } from "../canonical/words.ts";',
    "",
    "/** The tools in the order of `tools/list`. */",
    "export const TOOLS_WITH_PAGES: readonly string[] = words(",
    ...lines.map((line) => `  "${line}",`),
    ");",
    "",
  ].join("\n");
}

if (import.meta.main) {
  const files = await toolFiles();
  await Deno.mkdir(new URL("docs/reference/tools/", ROOT_URL), { recursive: true });
  const kept = new Set(files.map(({ path }) => path));
  for (const { name } of Deno.readDirSync(new URL("docs/reference/tools/", ROOT_URL))) {
    if (!kept.has(`docs/reference/tools/${name}`)) await Deno.remove(new URL(`docs/reference/tools/${name}`, ROOT_URL));
  }
  const all = [...files, await settingsFile(), ...schemaFiles()];
  for (const { path, text } of all) await Deno.writeTextFile(new URL(path, ROOT_URL), text);
  console.log(`Wrote ${all.length} files`);
}
