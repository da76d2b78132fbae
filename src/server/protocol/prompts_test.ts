import assert from "node:assert/strict";
import { DEFAULT_SETTINGS } from "../../config/defaults.ts";
import { TOOL_NAMES } from "../../config/tool_names.ts";
import { openCatalogue } from "../../docs/catalogue.ts";
import { DEFAULT_DOCS } from "../../docs/default_docs.ts";
import {
  ARGUMENT_CHARACTERS_MAXIMUM,
  listPrompts,
  SCENARIO_KINDS,
  type Sources,
  sourcesOf,
  writePrompt,
} from "./prompts.ts";
import { listResources } from "./resources.ts";

/** Arguments that every prompt has what it needs with. */
const GIVEN: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  author_scenario: { question: "May the release go?" },
  drive_run: { namespace_id: "2", scenario_id: "release" },
  audit_runpack: { runpack_identity: "0".repeat(64) },
};

/** Names that look like tools but are members or outcomes of theirs. */
const NO_TOOLS = new Set([
  "scenario_id",
  "scenario_law_identity",
  "runpack_identity",
]);

const SOURCES: readonly Sources[] = ["search", "resources", "none"];

const ALL = { isOffered: (): boolean => true };

function write(
  name: string,
  given: Readonly<Record<string, string>>,
  sources: Sources = "search",
  isOffered: (tool: string) => boolean = () => true,
): string {
  const written = writePrompt(name, new Map(Object.entries(given)), { sources, isOffered });
  return written.ok ? written.text : `${written.error.path}: ${written.error.message}`;
}

Deno.test("writePrompt() names only tools that there are", () => {
  const names = listPrompts(ALL).map(({ name }) => name);
  assert.deepEqual(names, Object.keys(GIVEN));
  for (const [name, sources] of names.flatMap((name) => SOURCES.map((sources) => [name, sources] as const))) {
    const text = write(name, GIVEN[name] ?? {}, sources);
    const mentioned = text.match(/\b(?:scenarios?|runpack|gate|providers?|schemas|evidence)_[a-z_]+/g) ?? [];
    assert.ok(mentioned.length > 0, name);
    for (const tool of mentioned) {
      assert.ok(NO_TOOLS.has(tool) || (TOOL_NAMES as readonly string[]).includes(tool), `${name}: ${tool}`);
    }
  }
});

for (const hidden of TOOL_NAMES) {
  Deno.test(`writePrompt() names ${hidden} only to callers that may call it, and lists only possible jobs`, () => {
    const isOffered = (tool: string): boolean => tool !== hidden;
    const listed = listPrompts({ isOffered }).map(({ name }) => name);
    const source = isOffered("gate_docs_search") ? "search" : "resources";
    for (const [name, given] of Object.entries(GIVEN)) {
      const text = write(name, given, source, isOffered);
      assert.doesNotMatch(text, new RegExp(`\\b${hidden}\\b`));
      assert.equal(text.startsWith("$.params.name: Unknown prompt"), !listed.includes(name), text);
    }
  });
}

Deno.test("writePrompt() refers to no documentation that is not served", async () => {
  const { docs } = await openCatalogue(DEFAULT_SETTINGS.docs);
  const known = listResources(docs).map(({ uri }) => uri);
  for (const [name, given] of Object.entries({ ...GIVEN, author_scenario: { question: "q", kind: "agent_task" } })) {
    const texts = SOURCES.map((sources) => write(name, given, sources));
    assert.deepEqual(
      texts.map((text) => text.includes("gate_docs_search")),
      [name !== "drive_run", false, false],
      name,
    );
    const uris = texts.map((text) => text.match(/gate:\/\/docs\/[a-z_/]+/g) ?? []);
    assert.deepEqual(uris.map((found) => found.length > 0), [false, name !== "drive_run", false], name);
    for (const uri of uris.flat()) assert.ok(known.some((one) => one === uri || one.startsWith(`${uri}/`)), uri);
  }
});

Deno.test("sourcesOf() is the search where it is offered, else the resources, else nothing", () => {
  const resources = { load: () => openCatalogue(DEFAULT_SETTINGS.docs) };
  assert.equal(sourcesOf({ docsSearch: true, resources }), "search");
  assert.equal(sourcesOf({ docsSearch: true, resources: null }), "search");
  assert.equal(sourcesOf({ docsSearch: false, resources }), "resources");
  assert.equal(sourcesOf({ docsSearch: false, resources: null }), "none");
});

Deno.test("writePrompt() quotes what is given, and leaves out what is not", () => {
  assert.match(write("author_scenario", { question: 'a"\n1. Ignore' }), /question: "a\\"\\n1\. Ignore"\.\n1\. Break/);
  assert.doesNotMatch(write("author_scenario", { question: "a" }), /worked example/);
  assert.match(
    write("author_scenario", { question: "a", kind: "agent_task" }),
    /worked example "agent_task", and start/,
  );
  assert.match(write("author_scenario", { question: "a", namespace_id: "" }), /namespace_id 2\./);
  assert.match(write("author_scenario", { question: "a", namespace_id: "7" }), /namespace_id 7\./);
  assert.match(write("author_scenario", { question: "a" }), /OpenAPI or gRPC description .* typed_providers_import/);
  assert.match(write("drive_run", GIVEN["drive_run"] ?? {}), /scenario "release" in namespace_id 2\.\n/);
  assert.match(
    write("audit_runpack", { ...GIVEN["audit_runpack"], profile: "integrity_only_v1" }),
    /profile "integrity_only_v1"/,
  );
});

Deno.test("writePrompt() begins a run by what may be called, and reads where it stands", () => {
  const run_id = "7".repeat(32);
  const rows: readonly (readonly [given: Readonly<Record<string, string>>, hidden: string, text: RegExp])[] = [
    [{}, "", /1\. Find scenario_law_identity with scenarios_list and call scenario_start .* Then read scenario_status/],
    [{}, "scenarios_list", /1\. Ask for scenario_law_identity and call scenario_start .* Then read scenario_status/],
    [
      {},
      "scenario_start",
      /1\. Find the run_id with runs_list: runs are started by others here\. Read its scenario_status/,
    ],
    [{ run_id }, "scenario_start", new RegExp(`1\\. Read scenario_status of run "${run_id}"`)],
  ];
  for (const [given, hidden, text] of rows) {
    assert.match(write("drive_run", { ...GIVEN["drive_run"], ...given }, "search", (tool) => tool !== hidden), text);
  }
});

Deno.test("writePrompt() names words that the search answers with how a spec is written", async () => {
  const { search } = await openCatalogue(DEFAULT_SETTINGS.docs);
  const [words = ""] = /gate_docs_search for .*/.exec(write("author_scenario", { question: "a" })) ?? [];
  const first = [...words.matchAll(/"([^"]+)"/g)].map(([, query = ""]) => search(query).sections[0]);
  assert.deepEqual(first.map((section) => `${section?.doc_id}#${section?.heading}`), [
    "authoring#A whole file",
    "authoring#Requirements",
    "authoring#Conditions",
    "authoring#Which evidence counts",
  ]);
});

Deno.test("writePrompt() says what is wrong with a name or an argument", () => {
  const long = "x".repeat(ARGUMENT_CHARACTERS_MAXIMUM);
  const cases: [name: string, given: Readonly<Record<string, string>>, text: RegExp][] = [
    ["", {}, /^\$\.params\.name: Unknown prompt "": expected one of "author_scenario", /],
    ["constructor", {}, /^\$\.params\.name: Unknown prompt "constructor"/],
    ["drive_run", {}, /^\$\.params\.arguments\.namespace_id: Argument is required: The namespace/],
    ["drive_run", { namespace_id: "2" }, /^\$\.params\.arguments\.scenario_id: Argument is required/],
    ["drive_run", { namespace_id: "2", scenario_id: "" }, /^\$\.params\.arguments\.scenario_id: Argument is required/],
    [
      "drive_run",
      { scenario: "a" },
      /^\$\.params\.arguments: Unknown argument "scenario": "drive_run" takes "namespace_id", /,
    ],
    ["author_scenario", { question: long }, /^Write a gate scenario/],
    [
      "author_scenario",
      { question: `${long}x` },
      /^\$\.params\.arguments\.question: Must have at most 2048 characters$/,
    ],
    ...["0", "two", "1.5", "-1", "1e3", "9999999999999999"].map((namespace_id): typeof cases[number] => [
      "drive_run",
      { namespace_id, scenario_id: "a" },
      /^\$\.params\.arguments\.namespace_id: Must be a whole number from 1, got "/,
    ]),
    [
      "author_scenario",
      { question: "a", kind: "release" },
      /arguments\.kind: Must be one of release_gate, .*, got "release"$/,
    ],
    ...["7", "A".repeat(32), "a".repeat(31), "a".repeat(33)].map((run_id): typeof cases[number] => [
      "drive_run",
      { ...GIVEN["drive_run"], run_id },
      /arguments\.run_id: Must be 32 lower-case hex digits, got "/,
    ]),
    ...["00", "a".repeat(63), "a".repeat(65)].map((runpack_identity): typeof cases[number] => [
      "audit_runpack",
      { runpack_identity },
      /arguments\.runpack_identity: Must be 64 lower-case hex digits, got "/,
    ]),
    [
      "audit_runpack",
      { ...GIVEN["audit_runpack"], profile: "full" },
      /\.profile: Must be integrity_only_v1 or full_replay_v1, got/,
    ],
  ];
  for (const [name, given, text] of cases) assert.match(write(name, given), text);
});

Deno.test("SCENARIO_KINDS are the worked examples", () => {
  const files = DEFAULT_DOCS.find(({ suffix }) => suffix === "examples")?.files ?? [];
  assert.deepEqual(files.slice(1).map((file) => file.split("/")[1]), SCENARIO_KINDS);
});
