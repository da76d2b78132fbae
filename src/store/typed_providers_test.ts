import assert from "node:assert/strict";

import { makeSchema, makeTypedProvider, sha256 } from "../../tests/simulation/store/fixture.ts";
import { IMPLEMENTATIONS, storesOptions, WAL_FULL, withFolder, withStores } from "../../tests/simulation/store/open.ts";
import { checkStore } from "./check/check.ts";
import { backupStore } from "./backup/backup.ts";
import { closeStores, openStores } from "./open.ts";
import { TYPED_VERSIONS_MAXIMUM, type TypedProviderState, type TypedProviderStore } from "./typed_provider_types.ts";
import { StoreError } from "./types.ts";

function overAll(name: string, run: (typed: TypedProviderStore) => Promise<void>): void {
  for (const implementation of IMPLEMENTATIONS) {
    Deno.test(
      `TypedProviderStore (${implementation.name}) ${name}`,
      () => withStores(implementation, {}, ({ schemas }) => run(schemas.typedProviders)),
    );
  }
}

const KEY = (version: string): { namespace_id: number; provider_id: string; version: string } => ({
  namespace_id: 2,
  provider_id: "releases",
  version,
});

overAll("of an empty store finds nothing and changes nothing", async (typed) => {
  assert.equal(await typed.get(KEY("1")), null);
  assert.equal(await typed.getActive(2, "releases"), null);
  assert.equal(await typed.getByIdentity(2, "releases", "0".repeat(64)), null);
  assert.deepEqual([await typed.list(2, null, 10), await typed.listActive(2)], [[], []]);
  assert.deepEqual(await typed.activate(KEY("1"), null), { outcome: "not_found" });
  assert.deepEqual(await typed.deprecate(KEY("1"), "registered"), { outcome: "not_found" });
});

overAll("register() is immutable, and idempotent for equal bytes", async (typed) => {
  const first = makeTypedProvider("releases", "1");
  assert.deepEqual(await typed.register(first), { outcome: "registered" });
  assert.deepEqual(await typed.register({ ...first, registered_at: 9 }), { outcome: "same", state: "registered" });
  const others = [
    [makeTypedProvider("releases", "1", { text: "other" }), { outcome: "exists", version: "1" }],
    [makeTypedProvider("releases", "2", { text: "1" }), { outcome: "exists", version: "1" }],
    [makeTypedProvider("releases", "1", { namespace_id: 3 }), { outcome: "registered" }],
    [makeTypedProvider("other", "1"), { outcome: "registered" }],
  ] as const;
  for (const [version, outcome] of others) assert.deepEqual(await typed.register(version), outcome);
  assert.deepEqual(await typed.get(KEY("1")), { ...first, state: "registered" });
  assert.equal(await typed.get(KEY("2")), null);
  const { provider_version_identity } = first;
  assert.equal((await typed.getByIdentity(2, "releases", provider_version_identity))?.version, "1");
  assert.equal(await typed.getByIdentity(2, "other", provider_version_identity), null);
  await assert.rejects(typed.register(makeTypedProvider("a\0", "1")), StoreError);
  await assert.rejects(typed.register(makeTypedProvider("a", "1\0")), StoreError);
});

/** Steps on versions 1 and 2 of one provider, each with its outcome; then the states of both. */
const STEPS: readonly (readonly [steps: string, outcomes: string, states: string])[] = [
  ["activate 1 expecting none", "activated from none", "active registered"],
  ["activate 1 expecting 2", "conflict none", "registered registered"],
  ["activate 3 expecting none", "not_found", "registered registered"],
  ["activate 1 expecting none; activate 2 expecting none", "activated from none; conflict 1", "active registered"],
  ["activate 1 expecting none; activate 2 expecting 1", "activated from none; activated from 1", "registered active"],
  ["activate 1 expecting none; activate 1 expecting 1", "activated from none; activated from 1", "active registered"],
  [
    "activate 1 expecting none; activate 2 expecting 1; activate 1 expecting 2",
    "activated from none; activated from 1; activated from 2",
    "active registered",
  ],
  ["deprecate 1 expecting registered", "deprecated", "deprecated registered"],
  ["deprecate 1 expecting active", "conflict registered", "registered registered"],
  ["deprecate 3 expecting registered", "not_found", "registered registered"],
  [
    "deprecate 1 expecting registered; deprecate 1 expecting deprecated",
    "deprecated; conflict deprecated",
    "deprecated registered",
  ],
  ["deprecate 1 expecting registered; activate 1 expecting none", "deprecated; deprecated", "deprecated registered"],
  [
    "activate 1 expecting none; deprecate 1 expecting registered; deprecate 1 expecting active; activate 2 expecting none",
    "activated from none; conflict active; deprecated; activated from none",
    "deprecated active",
  ],
];

for (const [steps, outcomes, states] of STEPS) {
  overAll(`${steps}: ${outcomes}`, async (typed) => {
    for (const version of ["1", "2"]) await typed.register(makeTypedProvider("releases", version));
    const found: string[] = [];
    for (const [verb, version = "", , expected = ""] of steps.split("; ").map((step) => step.split(" "))) {
      found.push(
        verb === "activate" ? await activate(typed, version, expected) : await deprecate(typed, version, expected),
      );
    }
    assert.equal(found.join("; "), outcomes);
    const listed = await typed.list(2, null, 10);
    assert.equal(listed.map(({ state }) => state).join(" "), states);
    const active = listed.filter(({ state }) => state === "active");
    assert.deepEqual(await typed.listActive(2), active);
    assert.equal((await typed.getActive(2, "releases"))?.version, active[0]?.version);
  });
}

async function activate(typed: TypedProviderStore, version: string, expected: string): Promise<string> {
  const result = await typed.activate(KEY(version), expected === "none" ? null : expected);
  if (result.outcome === "activated") return `activated from ${result.previous ?? "none"}`;
  return result.outcome === "conflict" ? `conflict ${result.active ?? "none"}` : result.outcome;
}

async function deprecate(typed: TypedProviderStore, version: string, expected: string): Promise<string> {
  const result = await typed.deprecate(KEY(version), expected as TypedProviderState);
  return result.outcome === "conflict" ? `conflict ${result.state}` : result.outcome;
}

overAll("activate() of several callers with one expectation accepts one", async (typed) => {
  const versions = ["1", "2", "3", "4"];
  for (const version of versions) await typed.register(makeTypedProvider("releases", version));
  const results = await Promise.all(versions.map((version) => typed.activate(KEY(version), null)));
  assert.equal(results.filter(({ outcome }) => outcome === "activated").length, 1);
  assert.equal((await typed.listActive(2)).length, 1);
});

overAll("listNamespaces() finds the namespaces with an active version", async (typed) => {
  for (const namespace_id of [7, 3, 5]) {
    const version = makeTypedProvider("releases", "1", { namespace_id });
    await typed.register(version);
    if (namespace_id !== 5) await typed.activate(version, null);
  }
  assert.deepEqual([await typed.listNamespaces(10), await typed.listNamespaces(1)], [[3, 7], [3]]);
});

overAll("list() pages by provider and version in code point order", async (typed) => {
  const keys = [["b", "1"], ["a", "2"], ["a", "10"], ["\u{10000}", "1"], ["\uffff", "1"]] as const;
  for (const [id, version] of keys) await typed.register(makeTypedProvider(id, version));
  await typed.register(makeTypedProvider("a", "1", { namespace_id: 3 }));
  const found: string[] = [];
  let after = null;
  for (;;) {
    const page = await typed.list(2, after, 2);
    found.push(...page.map(({ provider_id, version }) => `${provider_id} ${version}`));
    after = page.at(-1) ?? null;
    if (after === null) break;
  }
  assert.deepEqual(found, ["a 10", "a 2", "b 1", "\uffff 1", "\u{10000} 1"]);
});

overAll(`register() accepts ${TYPED_VERSIONS_MAXIMUM} versions in a namespace`, async (typed) => {
  const versions = Array.from({ length: TYPED_VERSIONS_MAXIMUM - 1 }, (_, index) => `${index}`);
  await Promise.all(versions.map((version) => typed.register(makeTypedProvider("releases", version))));
  assert.deepEqual(await typed.register(makeTypedProvider("last", "1")), { outcome: "registered" });
  assert.deepEqual(await typed.register(makeTypedProvider("last", "2")), { outcome: "limit" });
  assert.deepEqual(await typed.register(makeTypedProvider("last", "1")), { outcome: "same", state: "registered" });
  assert.deepEqual(await typed.register(makeTypedProvider("last", "2", { namespace_id: 3 })), {
    outcome: "registered",
  });
});

Deno.test("a file keeps typed providers beside schemas, and a backup holds both", () =>
  withFolder(async (folder) => {
    for (const [index, max_entries] of [null, 3].entries()) {
      const options = storesOptions(`${folder}`, WAL_FULL, { max_entries });
      const path = `${folder}/gate${index}.db`;
      const stores = await openStores({
        run: { ...options.run, path },
        schemas: { ...options.schemas, path },
      }, sha256);
      await stores.schemas.register(makeSchema("report", "1"), [1]);
      await stores.schemas.typedProviders.register(makeTypedProvider("releases", "1"));
      await stores.schemas.register(makeSchema("report", "2"), [1]);
      await closeStores(stores);
      const { sound, counts } = await checkStore(path, { sha256 });
      assert.deepEqual([sound, counts.schemas, counts.typed_providers], [true, 2, 1]);
      const copy = await backupStore(path, `${folder}/copy${index}.db`, { sha256 });
      assert.equal(copy.counts.typed_providers, 1);
      const again = await openStores({ run: { ...options.run, path }, schemas: { ...options.schemas, path } }, sha256);
      assert.equal((await again.schemas.typedProviders.get(KEY("1")))?.state, "registered");
      await closeStores(again);
    }
  }));
