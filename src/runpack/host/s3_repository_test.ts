import assert from "node:assert/strict";

import type { HostLookup } from "../../config/host_lookup.ts";
import type { RunpackStorageConfig } from "../../config/types.ts";
import { untilAborted } from "../../config/until_aborted.ts";
import { type Repository, RepositoryError, type RepositoryErrorCode } from "./repository.ts";
import { openS3Repository } from "./s3_repository.ts";

const OPTIONS = {
  attempts: 2,
  connectMillis: 60_000,
  requestMillis: 60_000,
  credentials: { accessKeyId: "key", secretAccessKey: "secret" },
};

/** What a store answers to requests that it does not handle as it should; the real thing is tested in tests/full. */
async function withAnswers(
  answer: (request: Request, count: number) => Response | Promise<Response>,
  run: (config: RunpackStorageConfig) => Promise<void>,
): Promise<void> {
  let count = 0;
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, async (request) => {
    await request.arrayBuffer();
    return await answer(request, ++count);
  });
  try {
    await run({
      type: "object_store",
      provider: "s3",
      bucket: "bucket",
      endpoint: `http://127.0.0.1:${server.addr.port}`,
      prefix: "a/b/",
      region: "eu-central-1",
      force_path_style: true,
      allow_http: true,
    });
  } finally {
    await server.shutdown();
  }
}

const refusal = (status: number, code: string): Response =>
  new Response(`<?xml version="1.0"?><Error><Code>${code}</Code><Message>No</Message></Error>`, { status });

// What a store answers to the probe, request by request; the last one to all that follow.
const PROBES: readonly [string, readonly Response[], RepositoryErrorCode | "ready", RegExp?][] = [
  ["written, then refused", [new Response(), refusal(412, "PreconditionFailed")], "ready"],
  ["refused at once", [refusal(412, "PreconditionFailed")], "ready"],
  [
    "a conflict, then refused",
    [refusal(409, "ConditionalRequestConflict"), refusal(412, "PreconditionFailed")],
    "ready",
  ],
  ["a conflict without end", [refusal(409, "ConditionalRequestConflict")], "unavailable"],
  ["written twice", [new Response()], "unsupported", /ignores conditional writes/],
  ["not implemented", [refusal(501, "NotImplemented")], "unsupported", /refuses conditional writes/],
  ["forbidden", [refusal(403, "AccessDenied")], "unavailable", /AccessDenied/],
  ["an error of its own, then refused", [refusal(500, "InternalError"), refusal(412, "PreconditionFailed")], "ready"],
  ["an error of its own without end", [refusal(500, "InternalError")], "unavailable", /InternalError/],
];

for (const [what, answers, expected, message = /./] of PROBES) {
  Deno.test(`openS3Repository() of a store that answers ${what}: ${expected}`, () =>
    withAnswers((request, count) => {
      assert.equal(request.headers.get("if-none-match"), "*");
      assert.ok(new URL(request.url).pathname.startsWith("/bucket/a/b/"));
      return (answers[count - 1] ?? answers.at(-1) ?? new Response()).clone();
    }, async (config) => {
      const repository = await openS3Repository(config, OPTIONS);
      const readiness = repository.ready();
      if (expected === "ready") await readiness;
      else {
        await assert.rejects(
          readiness,
          (error) => error instanceof RepositoryError && error.code === expected && message.test(error.message),
        );
      }
      repository.close();
    }));
}

Deno.test("openS3Repository() of a store that does not answer: unavailable, in bounded time", () =>
  withAnswers(
    ({ signal }) => new Promise((resolve) => signal.addEventListener("abort", () => resolve(new Response()))),
    async (config) => {
      const repository = await openS3Repository(config, { ...OPTIONS, attempts: 1, requestMillis: 300 });
      await assert.rejects(
        repository.ready(),
        (error) => error instanceof RepositoryError && error.code === "unavailable",
      );
      repository.close();
    },
  ));

Deno.test("openS3Repository() sends nothing to a store whose name server does not answer: unavailable", () =>
  withAnswers(() => assert.fail("a request was sent"), async (config) => {
    const endpoint = config.endpoint?.replace("127.0.0.1", "localhost") ?? null;
    const lookUp: HostLookup = (_host, signal) => untilAborted(new Promise(() => {}), signal);
    const repository = await openS3Repository({ ...config, endpoint }, { ...OPTIONS, connectMillis: 100, lookUp });
    for (const ask of [() => repository.ready(), () => repository.getManifest("0".repeat(64))]) {
      await assert.rejects(ask, (error) => error instanceof RepositoryError && error.code === "unavailable");
    }
  }));

Deno.test("getObject() cuts off a store that answers more than was asked for", () =>
  withAnswers(() => new Response("x".repeat(1_000_000)), async (config) => {
    const repository = await openS3Repository(config, OPTIONS);
    const found = await repository.getObject({ object: "ab".repeat(32), bytes: 10 });
    assert.equal(found.length, 11);
    repository.close();
  }));

/** A store on a socket of its own that answers every request with this head, and then a byte of the body now and then. */
async function withDrips(head: string, run: (config: RunpackStorageConfig) => Promise<void>): Promise<void> {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const open = new Set<Deno.Conn>();
  const drip = async (connection: Deno.Conn): Promise<void> => {
    open.add(connection);
    try {
      await connection.read(new Uint8Array(65536));
      await connection.write(new TextEncoder().encode(head));
      for (;;) {
        await connection.write(new TextEncoder().encode(" "));
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
    } catch {
      // The other end is gone, which is what the test waits for.
      open.delete(connection);
      connection.close();
    }
  };
  const serving = (async () => {
    const drips: Promise<void>[] = [];
    try {
      for await (const connection of listener) drips.push(drip(connection));
    } finally {
      await Promise.all(drips);
    }
  })();
  await run({
    type: "object_store",
    provider: "s3",
    bucket: "bucket",
    endpoint: `http://127.0.0.1:${(listener.addr as Deno.NetAddr).port}`,
    prefix: null,
    region: null,
    force_path_style: true,
    allow_http: true,
  });
  listener.close();
  await serving;
  assert.equal(open.size, 0);
}

const IDENTITY = "ab".repeat(32);

const DRIPS: readonly (readonly [what: string, head: string, ask: (repository: Repository) => Promise<unknown>])[] = [
  [
    "an object",
    "HTTP/1.1 200 OK\r\ncontent-length: 1000000\r\n\r\n",
    (repository) => repository.getObject({ object: IDENTITY, bytes: 1_000_000 }),
  ],
  [
    "a list",
    "HTTP/1.1 200 OK\r\ncontent-length: 1000000\r\n\r\n<?xml",
    (repository) => repository.getSignatures(IDENTITY),
  ],
  ["a refusal", "HTTP/1.1 403 Forbidden\r\ncontent-length: 1000000\r\n\r\n<?xml", (repository) => repository.ready()],
  ["its head", "HTTP/1.1 200 OK\r\nx: ", (repository) => repository.getManifest(IDENTITY)],
];

for (const [what, head, ask] of DRIPS) {
  Deno.test({
    name: `openS3Repository() of a store that drips ${what}: unavailable once the time for all of it is up`,
    // The client leaves timers of its own behind a request that is given up, for as long as a request may take.
    sanitizeOps: false,
    sanitizeResources: false,
    fn: () =>
      withDrips(head, async (config) => {
        const repository = await openS3Repository(config, { ...OPTIONS, requestMillis: 60_000, overallMillis: 200 });
        await assert.rejects(
          ask(repository),
          (error) =>
            error instanceof RepositoryError && error.code === "unavailable" &&
            error.message.endsWith("the answer took longer than 200 ms"),
        );
        repository.close();
      }),
  });
}
