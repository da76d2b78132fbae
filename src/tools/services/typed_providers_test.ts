import assert from "node:assert/strict";
import { answered, found } from "../../../tests/simulation/acquisition_fixture.ts";
import { sha256, STORAGE } from "../../../tests/simulation/store/fixture.ts";
import { httpProfile, typedContract } from "../../../tests/simulation/typed_documents.ts";
import { sealContract } from "../../evidence/contract/seal.ts";
import { sealVersion } from "../../evidence/contract/seal.ts";
import type { Provider } from "../../evidence/types.ts";
import { openSqliteSchemaRegistry } from "../../store/sqlite/open.ts";
import type { TypedProviderStore } from "../../store/typed_provider_types.ts";
import { createTypedProviders, OPEN_MAXIMUM, type OpenTypedProvider } from "./typed_providers.ts";

const QUERY = [
  { provider_id: "builds", check_id: "failed" },
  { namespace_id: 2, trigger_time: { kind: "unix_millis", value: 1 } },
  new AbortController().signal,
] as const;

/** A store with so many active providers, `p0` and so on, in a namespace. */
async function storeOf(count: number): Promise<TypedProviderStore> {
  const options = { ...STORAGE, type: "memory", max_entries: null, max_schema_bytes: 1 } as const;
  const { typedProviders } = await openSqliteSchemaRegistry(options, sha256);
  for (let index = 0; index < count; index++) {
    const contract = typedContract({ provider_id: `p${index}` });
    const { loaded: { provider_version: version }, profile } = sealVersion(
      sealContract(contract, "file"),
      httpProfile(),
    );
    const key = { namespace_id: 2, provider_id: `p${index}`, version: "1" };
    await typedProviders.register({
      ...key,
      provider_version_identity: version?.identity ?? "",
      typed_protocol: profile.typed_protocol,
      checks: 1,
      registered_at: 1,
      body: version?.text ?? "",
    });
    await typedProviders.activate(key, null);
  }
  return typedProviders;
}

interface Watched {
  readonly open: OpenTypedProvider;
  readonly opened: string[];
  readonly closed: string[];
  /** Ends the queries that wait. */
  release: () => void;
}

/** Opens providers whose queries wait until they are released. */
function watched(): Watched {
  const waiting = Promise.withResolvers<void>();
  const opened: string[] = [];
  const closed: string[] = [];
  const open: OpenTypedProvider = ({ loaded }) => {
    const { provider_id } = loaded.contract;
    opened.push(provider_id);
    return Promise.resolve({
      provider_id,
      kind: "typed",
      loaded,
      allow_raw: false,
      query: async () => {
        await waiting.promise;
        return answered(found(1));
      },
      close: () => {
        closed.push(provider_id);
        return Promise.resolve();
      },
    });
  };
  return { open, opened, closed, release: waiting.resolve };
}

async function active(typed: ReturnType<typeof createTypedProviders>, id: string): Promise<Provider> {
  const provider = await typed.findActive(2, id);
  if (provider === null || provider === "inactive") assert.fail(id);
  return provider;
}

Deno.test("a typed provider is opened by its first query, once, and closed with the others", async () => {
  const { open, opened, closed, release } = watched();
  const typed = createTypedProviders(await storeOf(1), open);
  const provider = await active(typed, "p0");
  assert.equal(await active(typed, "p0"), provider);
  assert.deepEqual(opened, []);
  const queries = [provider.query(...QUERY), provider.query(...QUERY)];
  release();
  for (const { ok } of await Promise.all(queries)) assert.equal(ok, true);
  assert.deepEqual([opened, closed], [["p0"], []]);
  await typed.close();
  assert.deepEqual(closed, ["p0"]);
});

for (const [beside, wanted] of [[-1, []], [0, []], [1, ["p1"]]] as const) {
  Deno.test(`of ${OPEN_MAXIMUM + beside} providers ${wanted.length} are closed, and none that a query runs on`, async () => {
    const { open, closed, release } = watched();
    const typed = createTypedProviders(await storeOf(OPEN_MAXIMUM + beside), open);
    const asked = (await active(typed, "p0")).query(...QUERY);
    const idle = await active(typed, "p1");
    for (let index = 2; index < OPEN_MAXIMUM + beside; index++) await active(typed, `p${index}`);
    assert.equal(await active(typed, "p1") === idle, wanted.length === 0);
    release();
    assert.equal((await asked).ok, true);
    assert.deepEqual(closed, []);
    await typed.close();
    assert.deepEqual(closed, ["p0"]);
  });
}

Deno.test("a query of a provider that was closed meanwhile opens it, and closes it at its end", async () => {
  const { open, opened, closed, release } = watched();
  const typed = createTypedProviders(await storeOf(OPEN_MAXIMUM + 1), open);
  const provider = await active(typed, "p0");
  for (let index = 1; index <= OPEN_MAXIMUM; index++) await active(typed, `p${index}`);
  release();
  assert.equal((await provider.query(...QUERY)).ok, true);
  assert.deepEqual([opened, closed], [["p0"], ["p0"]]);
  await typed.close();
  assert.deepEqual(closed, ["p0"]);
});

Deno.test("a provider that cannot be opened fails the query, and the next query tries again", async () => {
  let attempts = 0;
  const typed = createTypedProviders(await storeOf(1), () => {
    attempts++;
    return Promise.reject(new Error("secret detail"));
  });
  const provider = await active(typed, "p0");
  for (let query = 0; query < 2; query++) {
    const answer = await provider.query(...QUERY);
    assert.ok(!answer.ok && answer.code === "provider_unreachable" && !answer.message.includes("secret"));
  }
  assert.equal(attempts, 2);
  await typed.close();
});

Deno.test("a listing reads the bodies of wanted versions alone, and closes no provider", async () => {
  const store = await storeOf(OPEN_MAXIMUM + 2);
  const read: string[] = [];
  const counted: TypedProviderStore = {
    ...store,
    getActive: (namespaceId, providerId) => {
      read.push(providerId);
      return store.getActive(namespaceId, providerId);
    },
  };
  const { open, closed, release } = watched();
  const typed = createTypedProviders(counted, open);
  release();
  const first = await typed.findActive(2, "p0");
  assert.ok(typeof first === "object" && first !== null);
  await first.query(...QUERY);
  read.length = 0;
  const ids = await typed.listActiveIds(2);
  assert.deepEqual([ids.length, read], [OPEN_MAXIMUM + 2, []]);
  const wanted = await typed.listActive(2, (providerId) => providerId !== "p1");
  assert.deepEqual(wanted.map(({ provider_id }) => provider_id), ids.filter((id) => id !== "p1"));
  assert.deepEqual(wanted[0]?.loaded, first.loaded);
  assert.ok(!read.includes("p0"), "the contract of an open provider is known");
  assert.equal(read.length, OPEN_MAXIMUM);
  assert.deepEqual(closed, []);
  await typed.close();
});
