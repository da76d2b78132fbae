import assert from "node:assert/strict";
import { DEFAULT_SETTINGS } from "../config/defaults.ts";
import type { DocsConfig } from "../config/types.ts";
import { type Catalogue, openCatalogue } from "./catalogue.ts";
import { DEFAULT_DOCS } from "./default_docs.ts";
import { createDocumentation } from "./documentation.ts";
import { EXTRA_ENTRIES_MAXIMUM } from "./extra_docs.ts";
import { DOC_ROLES, DocsError } from "./types.ts";

const STANDARD = DEFAULT_SETTINGS.docs;

async function inFolder(test: (folder: string) => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir();
  try {
    await test(folder);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** Only the operator's documents. */
function extra(folder: string, change: Partial<DocsConfig> = {}): Promise<Catalogue> {
  return openCatalogue({ ...STANDARD, include_default_docs: false, extra_paths: [folder], ...change });
}

async function write(folder: string, files: Readonly<Record<string, string>>): Promise<void> {
  for (const [name, text] of Object.entries(files)) {
    const path = `${folder}/${name}`;
    await Deno.mkdir(path.slice(0, path.lastIndexOf("/")), { recursive: true });
    await Deno.writeTextFile(path, text);
  }
}

Deno.test("DEFAULT_DOCS have unique names and URIs, and short descriptions", async () => {
  const { docs, warnings } = await openCatalogue(STANDARD);
  assert.deepEqual(warnings, []);
  assert.equal(docs.length, DEFAULT_DOCS.length);
  assert.deepEqual([...new Set(docs.map(({ doc_role }) => doc_role))].sort(), [...DOC_ROLES].sort());
  assert.equal(new Set(docs.map(({ doc_id }) => doc_id)).size, docs.length);
  assert.equal(new Set(docs.map(({ uri }) => uri)).size, docs.length);
  for (const { doc_id, uri, text, bytes, description } of docs) {
    assert.match(doc_id, /^[a-z_]+$/);
    assert.match(uri, /^gate:\/\/docs\/[a-z/-]+$/);
    assert.equal(new TextEncoder().encode(text).length, bytes);
    assert.ok(description.length > 20 && description.length < 120 && !description.endsWith("."), doc_id);
  }
});

Deno.test("DEFAULT_DOCS name every page of the documentation that users read", async () => {
  const folder = new URL("../../docs/", import.meta.url);
  const files = new Set(DEFAULT_DOCS.flatMap((doc) => doc.files));
  for (const shelf of ["guide/", "reference/", "format/"]) {
    for await (const { name, isFile } of Deno.readDir(new URL(shelf, folder))) {
      if (isFile && name.endsWith(".md") && name !== "README.md") {
        assert.ok(files.has(shelf + name), `docs/${shelf}${name} needs an entry in default_docs.ts`);
      }
    }
  }
});

Deno.test("openCatalogue() takes the titles of documents from their pages", async () => {
  const { docs } = await openCatalogue(STANDARD);
  assert.ok(docs.every(({ doc_title, text }) => text.startsWith(`# ${doc_title}\n`)));
  const named = docs.map(({ doc_id, doc_title, uri }) => [doc_id, doc_title, uri]);
  assert.deepEqual(named[0], ["concepts", "Concepts", "gate://docs/concepts"]);
  assert.deepEqual(named[8], [
    "bound_approvals",
    "An approval is bound to what was approved",
    "gate://docs/bound-approvals",
  ]);
  assert.deepEqual(named.at(-1), ["format_canonical", "Canonical JSON", "gate://docs/format/canonical"]);
});

Deno.test("openCatalogue() makes one document of the pages about tools", async () => {
  const { docs, search } = await openCatalogue(STANDARD);
  const tools = docs.find(({ doc_id }) => doc_id === "tools");
  assert.ok(tools !== undefined && tools.pages.length > 20);
  assert.ok(tools.pages.every(({ name, text }) => text.startsWith(`# ${name}\n`)));
  assert.match(tools.text, /^# Tools\n[^]*\n## scenario_define\n[^]*\n#### Arguments\n/);
  assert.deepEqual(search("scenario_define", 1).sections.map(({ heading }) => heading), ["scenario_define"]);
});

Deno.test("openCatalogue() makes a page of each worked example, as it stands in its file", async () => {
  const { docs, search } = await openCatalogue(STANDARD);
  const examples = docs.find(({ doc_id }) => doc_id === "examples");
  const page = examples?.pages.find(({ name }) => name === "agent_task");
  const file = await Deno.readTextFile(new URL("../../docs/examples/agent_task/scenario.yaml", import.meta.url));
  assert.equal(page?.text, `# agent_task\n\n\`\`\`yaml\n${file.trimEnd()}\n\`\`\`\n`);
  assert.equal(search("agent_task", 1).sections[0]?.heading, "agent_task");
});

Deno.test("openCatalogue() applies limits to the operator's documents only: at the lowest limits all default documents are there", () =>
  inFolder(async (folder) => {
    await write(folder, { "a.md": "a", "b.md": "b" });
    const lowest = { max_docs: 1, max_doc_bytes: 1, max_total_bytes: 1 };
    const { docs, warnings } = await openCatalogue({ ...STANDARD, ...lowest, extra_paths: [folder] });
    assert.deepEqual(docs.slice(DEFAULT_DOCS.length).map(({ doc_id }) => doc_id), ["a"]);
    assert.deepEqual(warnings, [
      `docs.extra_paths: "${folder}/b.md" is skipped: it exceeds the limit: docs.max_docs is 1`,
    ]);
  }));

Deno.test("openCatalogue() reads folders in name order, and warns about skipped files", () =>
  inFolder(async (folder) => {
    await write(folder, {
      "b.md": "# Runbook\nx",
      "a/z.md": "no title",
      "a/B.md": "# Upper\nx",
      "a/b.md": "# Lower\nx",
      "notes.txt": "x",
      "empty.md": " \n",
    });
    await Deno.writeFile(`${folder}/binary.md`, Uint8Array.of(0xff, 0xfe));
    await Deno.symlink(`${folder}/b.md`, `${folder}/link.md`);
    await Deno.symlink(folder, `${folder}/loop`);
    const { docs, warnings } = await extra(folder);
    assert.deepEqual(docs.map(({ doc_id, doc_role, doc_title, uri }) => [doc_id, doc_role, doc_title, uri]), [
      ["b", "pattern", "Upper", "gate://docs/custom/b"],
      ["b_2", "pattern", "Lower", "gate://docs/custom/b_2"],
      ["z", "pattern", "z", "gate://docs/custom/z"],
      ["b_3", "pattern", "Runbook", "gate://docs/custom/b_3"],
    ]);
    assert.deepEqual(warnings.map((warning) => warning.replace(folder, "F")), [
      'docs.extra_paths: "F/binary.md" is skipped: it is not UTF-8',
      'docs.extra_paths: "F/empty.md" is skipped: it is empty',
      'docs.extra_paths: "F/link.md" is skipped: it is a symbolic link',
      'docs.extra_paths: "F/loop" is skipped: it is a symbolic link',
      'docs.extra_paths: "F/notes.txt" is skipped: it does not end in .md',
    ]);
  }));

Deno.test("openCatalogue() keeps each limit: one below, at it, one above", () =>
  inFolder(async (folder) => {
    await write(folder, { "a.md": "a".repeat(100), "b.md": "b".repeat(100), "c.md": "c".repeat(100) });
    const cases: [change: Partial<DocsConfig>, kept: string][] = [
      [{ max_docs: 2 }, "a b"],
      [{ max_docs: 3 }, "a b c"],
      [{ max_docs: 4 }, "a b c"],
      [{ max_doc_bytes: 99 }, ""],
      [{ max_doc_bytes: 100 }, "a b c"],
      [{ max_doc_bytes: 101 }, "a b c"],
      [{ max_total_bytes: 299 }, "a b"],
      [{ max_total_bytes: 300 }, "a b c"],
      [{ max_total_bytes: 301 }, "a b c"],
    ];
    for (const [change, kept] of cases) {
      const { docs, warnings } = await extra(folder, change);
      assert.equal(docs.map(({ doc_id }) => doc_id).join(" "), kept, JSON.stringify(change));
      assert.equal(docs.length + warnings.length, 3);
      assert.ok(warnings.every((warning) => warning.includes(Object.keys(change)[0] ?? "?")), warnings.join());
    }
    assert.ok(EXTRA_ENTRIES_MAXIMUM > 1000);
  }));

Deno.test("openCatalogue() reads single files, and rejects a path that does not exist", () =>
  inFolder(async (folder) => {
    await write(folder, { "a.md": "x", "b.txt": "x" });
    const { docs, warnings } = await extra(folder, { extra_paths: [`${folder}/a.md`, `${folder}/b.txt`] });
    assert.equal(docs.length, 1);
    assert.equal(warnings.length, 1);
    await assert.rejects(
      extra(folder, { extra_paths: [`${folder}/no`, `${folder}/a.md`, `${folder}/nor`] }),
      (error) => {
        assert.ok(error instanceof DocsError);
        assert.deepEqual(error.problems, [
          { path: "docs.extra_paths[0]", message: `"${folder}/no" does not exist` },
          { path: "docs.extra_paths[2]", message: `"${folder}/nor" does not exist` },
        ]);
        return true;
      },
    );
  }));

Deno.test("openCatalogue() never gives an extra document the id of a default document", () =>
  inFolder(async (folder) => {
    await write(folder, { "Concepts.md": "# Ours\nx" });
    const { docs } = await extra(folder, { include_default_docs: true });
    assert.equal(docs.at(-1)?.doc_id, "concepts_2");
  }));

Deno.test("Catalogue.search() returns roles, ranks and follow-up questions", async () => {
  const { search } = await openCatalogue(STANDARD);
  const answer = search("what to do when the outcome is stale");
  assert.equal(answer.sections.length, 3);
  assert.deepEqual(answer.sections.map(({ rank }) => rank), [0, 1, 2]);
  assert.equal(answer.sections[0]?.doc_id, "agent_playbook");
  assert.deepEqual(
    answer.docs_covered.map(({ doc_id }) => doc_id),
    [...new Set(answer.sections.map(({ doc_id }) => doc_id))],
  );
  const roles = new Set(answer.docs_covered.map(({ doc_role }) => doc_role));
  assert.equal(answer.suggested_followups.length, DOC_ROLES.length - roles.size);
  assert.deepEqual(search("what to do when the outcome is stale"), answer);
});

Deno.test("Catalogue.search() returns at most docs.max_sections sections", async () => {
  const { search } = await openCatalogue({ ...STANDARD, max_sections: 4 });
  const cases: [asked: number | undefined, given: number][] = [
    [undefined, 3],
    [1, 1],
    [4, 4],
    [5, 4],
    [99, 4],
  ];
  for (const [asked, given] of cases) assert.equal(search("evidence", asked).sections.length, given, String(asked));
});

Deno.test("Catalogue.search() returns an overview for an empty query, and a hint where nothing is found", async () => {
  const { search } = await openCatalogue(STANDARD);
  const overview = search("  ", 10);
  assert.deepEqual(overview.sections.map(({ doc_role }) => doc_role), DOC_ROLES);
  assert.equal(overview.suggested_followups.length, 1);
  assert.equal(search("", 2).sections.length, 2);
  const nothing = search("zzyzx");
  assert.deepEqual([nothing.sections, nothing.docs_covered, nothing.suggested_followups.length], [[], [], 1]);
  const none = await openCatalogue({ ...STANDARD, include_default_docs: false });
  assert.deepEqual([none.search("").sections, none.search("run").sections], [[], []]);
});

Deno.test("createDocumentation() offers what is enabled, and reads the documents once", async () => {
  const cases: [change: Partial<DocsConfig>, search: boolean, resources: boolean, isConfigured: boolean][] = [
    [{}, true, true, false],
    [{ enabled: false }, false, false, false],
    [{ enable_search: false }, false, true, false],
    [{ enable_resources: false }, true, false, false],
    [{ extra_paths: ["/a"] }, true, true, true],
    [{ extra_paths: ["/a"], enabled: false }, false, false, false],
    [{ max_doc_bytes: 1, max_docs: 1, max_total_bytes: 1 }, true, true, false],
  ];
  for (const [change, search, resources, isConfigured] of cases) {
    const documentation = createDocumentation({ ...STANDARD, ...change });
    const { load: _, ...offered } = documentation;
    assert.deepEqual(offered, { search, resources, isConfigured }, JSON.stringify(change));
  }
  const documentation = createDocumentation(STANDARD);
  assert.equal(documentation.load(), documentation.load());
  await documentation.load();
});

Deno.test("openCatalogue() limits the depth of folders and the number of entries", () =>
  inFolder(async (folder) => {
    const depths = [15, 16, 17].map((depth) => `${Array.from({ length: depth }, () => "d").join("/")}/`);
    await write(folder, Object.fromEntries(depths.map((path, at) => [`${path}at_${15 + at}.md`, "x"])));
    const deep = await extra(folder);
    assert.deepEqual(deep.docs.map(({ doc_id }) => doc_id).sort(), ["at_15", "at_16"]);
    assert.equal(deep.warnings.length, 1);
    assert.match(deep.warnings[0] ?? "", /is more than 16 folders deep$/);
    const many = `${folder}/many`;
    await Deno.mkdir(many);
    for (let count = 0; count < EXTRA_ENTRIES_MAXIMUM; count++) await Deno.symlink("x", `${many}/${count}`);
    const full = await extra(many);
    assert.equal(full.warnings.length, 64, "warnings are bounded");
    await Deno.symlink("x", `${many}/one_more`);
    const over = await extra(many);
    assert.deepEqual(over.docs, []);
    assert.match(over.warnings[0] ?? "", /exceeds the limit of 4096 entries in all$/);
  }));

Deno.test("openCatalogue() opens no pipe", () =>
  inFolder(async (folder) => {
    const { success } = await new Deno.Command("mkfifo", { args: [`${folder}/pipe.md`] }).output();
    assert.ok(success);
    const { docs, warnings } = await extra(folder);
    assert.deepEqual([docs.length, warnings.length], [0, 1]);
    assert.match(warnings[0] ?? "", /is not a regular file$/);
  }));

Deno.test("openCatalogue() does not follow a link that replaces a file or folder during the read", () =>
  inFolder(async (folder) => {
    await write(folder, { "docs/a/b.md": "ours", "docs/c.md": "ours", "docs/d.md": "ours", "out/b.md": "theirs" });
    const open = Deno.open;
    const swaps: Readonly<Record<string, readonly [name: string, target: string]>> = {
      "docs/a/b.md": ["docs/a", "out"],
      "docs/c.md": ["docs/c.md", "out/b.md"],
    };
    Deno.open = async (path, options) => {
      const [name, target] = swaps[String(path).slice(folder.length + 1)] ?? [];
      if (name === undefined) return await open(path, options);
      await Deno.rename(`${folder}/${name}`, `${folder}/aside`);
      await Deno.symlink(`${folder}/${target}`, `${folder}/${name}`);
      try {
        return await open(path, options);
      } finally {
        await Deno.remove(`${folder}/${name}`);
        await Deno.rename(`${folder}/aside`, `${folder}/${name}`);
      }
    };
    try {
      const { docs, warnings } = await extra(`${folder}/docs`);
      assert.deepEqual(docs.map(({ doc_id, text }) => [doc_id, text]), [["d", "ours"]]);
      assert.deepEqual(warnings.map((warning) => warning.replace(folder, "F")), [
        'docs.extra_paths: "F/docs/a/b.md" is skipped: it changed while it was read',
        'docs.extra_paths: "F/docs/c.md" is skipped: it changed while it was read',
      ]);
    } finally {
      Deno.open = open;
    }
  }));

Deno.test("openCatalogue() returns the same documents in the same order for equal trees", () =>
  inFolder(async (folder) => {
    const names = ["b.md", "a/b.md", "B.md", "a/c.md", "c/b.md", "\u{10000}.md", "\uffff.md"];
    const orders = [names, names.toReversed(), names.toSorted()];
    for (const [index, order] of orders.entries()) {
      for (const name of order) await write(`${folder}/${index}`, { [name]: `# ${name}\nx` });
    }
    for (const index of orders.keys()) {
      const { docs } = await extra(`${folder}/${index}`);
      assert.deepEqual(docs.map(({ doc_id, doc_title }) => `${doc_id}: ${doc_title}`), [
        "b: B.md",
        "b_2: a/b.md",
        "c: a/c.md",
        "b_3: b.md",
        "b_4: c/b.md",
        "_: \uffff.md",
        "__: \u{10000}.md",
      ]);
    }
  }));
