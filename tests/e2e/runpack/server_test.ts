/** Runpacks from a server: in parts, on where a connection ended, checked, and for those who may read the run alone. */

import assert from "node:assert/strict";
import { join } from "node:path";
import { sha256 } from "@/evidence/host_primitives.ts";
import { PART_BYTES } from "@/runpack/host/archive_parts.ts";
import { startServer, type Wire } from "../client.ts";
import { type Ended, gate, gateArgs, inFolder, STORES } from "../gate_command.ts";
import { listening, send } from "../http_fixture.ts";

/** A law whose runpack has more than two parts: gate keeps the notes whole. */
const LAW = `law: notes
evidence:
  first: text(1..1000000)
  second: text(1..1000000)
stages:
  kept: first != "a" && second != "a"
`;

const NOTES = { "first.txt": "x".repeat(700_000), "second.txt": "y".repeat(700_000) };

const ROLES = [["owner", "NamespaceOwner", 2], ["reader", "NamespaceReader", 2], [
  "stranger",
  "NamespaceOwner",
  3,
]] as const;

/** A server for callers with tokens, and commands that use it. */
interface World {
  readonly folder: string;
  readonly url: string;
  readonly identity: string;
  /** Arguments that name a server and a caller. */
  readonly as: (name: string, url?: string) => readonly string[];
  readonly read: (name: string, uri: string) => Promise<Wire>;
}

async function withServer(body: (world: World) => Promise<void>): Promise<void> {
  await inFolder(async (folder) => {
    const principals = ROLES.map(([name, role, namespace]) => {
      const token = name.padEnd(32, "0");
      Deno.writeTextFileSync(join(folder, name), token, { mode: 0o600 });
      const subject = `token:${sha256(new TextEncoder().encode(token))}`;
      return { token, text: `{ subject = "${subject}", roles = [{ name = "${role}", namespace_id = ${namespace} }] }` };
    });
    const tokens = JSON.stringify(principals.map(({ token }) => token));
    const auth = `mode = "bearer_token"\nbearer_tokens = ${tokens}\nprincipals = [${
      principals.map(({ text }) => text)
    }]`;
    const network = '[server]\ntransport = "http"\nbind = "127.0.0.1:0"\nmax_body_bytes = 4194304\n[server.auth]\n';
    await Deno.writeTextFile(join(folder, "http.toml"), `${STORES}${network}${auth}\n`, { mode: 0o600 });
    await Deno.writeTextFile(join(folder, "law.yaml"), LAW);
    for (const [name, text] of Object.entries(NOTES)) await Deno.writeTextFile(join(folder, name), text);
    await using server = await listening(
      startServer({ args: gateArgs("serve", "--config", "http.toml"), cwd: folder }),
    );
    const as = (
      name: string,
      url = new URL(server.url).origin,
    ): readonly string[] => ["--server", url, "--token-file", name];
    const notes = ["--set", "first=@first.txt", "--set", "second=@second.txt"];
    const run = await gate(folder, "run", "law.yaml", ...notes, "--export", "run.runpack", "--json", ...as("owner"));
    assert.equal(run.code, 0, run.stderr);
    const { identity } = JSON.parse(run.stdout).result.runpack;
    const read = async (name: string, uri: string): Promise<Wire> => {
      const request = { jsonrpc: "2.0", id: 1, method: "resources/read", params: { uri } };
      const headers = { authorization: `Bearer ${name.padEnd(32, "0")}`, "mcp-protocol-version": "2025-11-25" };
      return JSON.parse((await send(server.url, JSON.stringify(request), { headers })).text) as Wire;
    };
    await body({ folder, url: new URL(server.url).origin, identity, as, read });
  });
}

const partOf = (uri: string): number | null => {
  const [, part] = /gate:\/\/runpacks\/[0-9a-f]{64}\/(\d+)/.exec(uri) ?? [];
  return part === undefined ? null : Number(part);
};

Deno.test("gate run --server --export says that a server has no resources", () =>
  inFolder(async (folder) => {
    const network = '[server]\ntransport = "http"\nbind = "127.0.0.1:0"\n[docs]\nenable_resources = false\n';
    await Deno.writeTextFile(join(folder, "http.toml"), `${STORES}${network}`);
    await Deno.writeTextFile(join(folder, "law.yaml"), LAW);
    await using server = await listening(
      startServer({ args: gateArgs("serve", "--config", "http.toml"), cwd: folder }),
    );
    const ended = await gate(folder, "run", "law.yaml", "--server", server.url, "--export", "a.runpack");
    assert.equal(ended.code, 2, ended.stderr);
    assert.match(
      ended.stderr,
      /Cannot read gate:\/\/runpacks\/[0-9a-f]{64}: the server has no resources \(docs\.enable_resources\)/,
    );
  }));

/** A proxy that answers requests for parts as a row says; it counts those that it forwards. */
function proxyOf(url: string, change: (part: number, answer: string) => string | null | Promise<string | null>): {
  readonly url: string;
  readonly parts: readonly number[];
  readonly end: () => Promise<void>;
} {
  const parts: number[] = [];
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, async (request) => {
    const body = await request.text();
    const part = partOf(body);
    const target = new URL(new URL(request.url).pathname, url);
    const { method, headers } = request;
    const answer = await fetch(target, { method, headers, ...body === "" ? {} : { body } });
    const text = await answer.text();
    if (part !== null) parts.push(part);
    const changed = part === null ? text : await change(part, text);
    const kept = [...answer.headers].filter(([name]) => name !== "content-length" && name !== "content-encoding");
    return changed === null
      ? new Response("gone", { status: 502 })
      : new Response(changed, { status: answer.status, headers: kept });
  });
  return { url: `http://127.0.0.1:${server.addr.port}`, parts, end: () => server.shutdown() };
}

const verified = async (folder: string, pack: string): Promise<void> => {
  const { code, stdout, stderr } = await gate(folder, "runpack", "verify", pack);
  assert.equal(code, 0, stdout + stderr);
};

/** A partial file that no call of the command left is refused as a target that exists, and stays; an empty one is its own. */
async function leavesForeignParts(folder: string, exported: (archive: string) => Promise<Ended>): Promise<void> {
  await Deno.writeTextFile(join(folder, "e.runpack.partial"), "what another command left");
  const foreign = await exported("e.runpack");
  assert.equal(foreign.code, (await exported("c.runpack")).code, "as a target that exists");
  assert.match(foreign.stderr, /e\.runpack\.partial/);
  assert.equal(await Deno.readTextFile(join(folder, "e.runpack.partial")), "what another command left");
  await Deno.writeTextFile(join(folder, "f.runpack.partial"), "");
  assert.equal((await exported("f.runpack")).code, 0);
  const files = [...Deno.readDirSync(folder)].map(({ name }) => name);
  assert.deepEqual(files.filter((name) => name.endsWith(".partial")), ["e.runpack.partial"]);
}

Deno.test("gate runpack export --server and gate run --server --export take a runpack in parts", () =>
  withServer(async ({ folder, url, identity, as, read }) => {
    await verified(folder, "run.runpack");
    const bytes = await Deno.readFile(join(folder, "run.runpack"));
    const listed = await read("reader", `gate://runpacks/${identity}`);
    const { contents: [{ text }] } = listed["result"] as { contents: [{ text: string }] };
    const parts = Math.ceil(bytes.length / PART_BYTES);
    assert.deepEqual(JSON.parse(text), {
      runpack_identity: identity,
      bytes: bytes.length,
      part_bytes: PART_BYTES,
      parts,
    });
    assert.equal(parts, 3);
    const { result: { runs: [run] } } = JSON.parse((await gate(folder, "runs", "--json", ...as("reader"))).stdout);
    const { namespace_id, run_id } = run.run_key;
    const exported = (target: readonly string[], name: string, server?: string): Promise<Ended> =>
      gate(
        folder,
        "runpack",
        "export",
        "--namespace",
        `${namespace_id}`,
        "--run",
        run_id.slice(0, 8),
        ...target,
        ...as(name, server),
      );

    const both = await exported(["--archive", "a.runpack", "--out", "a"], "owner");
    assert.deepEqual([both.code, both.stdout], [0, `${identity}\n`], both.stderr);
    assert.deepEqual(await Deno.readFile(join(folder, "a.runpack")), bytes);
    await verified(folder, "a");
    assert.equal(
      (await exported(["--archive", "b.runpack"], "reader")).code,
      7,
      "a reader may read it, not publish it",
    );

    const ending = proxyOf(url, (part, answer) => part < 2 ? answer : null);
    const ended = await exported(["--archive", "c.runpack"], "owner", ending.url);
    await ending.end();
    assert.equal(ended.code, 8, ended.stderr);
    assert.equal((await Deno.stat(join(folder, "c.runpack.partial"))).size, 2 * PART_BYTES);
    const counting = proxyOf(url, (_part, answer) => answer);
    assert.equal((await exported(["--archive", "c.runpack"], "owner", counting.url)).code, 0);
    await counting.end();
    assert.deepEqual(counting.parts, [2], "the same command goes on where it ended");
    assert.deepEqual(await Deno.readFile(join(folder, "c.runpack")), bytes);

    const lies: readonly (readonly [string, (text: string) => string])[] = [
      ["a byte of a value", (answer) => answer.replace(/(eHh4|eXl5){2}/, "AAAAAAAA")],
      ["another length", (answer) => answer.replace(/"blob":"..../, '"blob":"')],
      ["no bytes", (answer) => answer.replace(/"blob":"[^"]*"/, '"text":"part"')],
    ];
    for (const [what, lie] of lies) {
      const lying = proxyOf(url, (part, answer) => part === 1 ? lie(answer) : answer);
      const refused = await exported(["--archive", "d.runpack"], "owner", lying.url);
      await lying.end();
      assert.equal(refused.code, 6, `${what}: ${refused.stderr}`);
      for (const left of ["d.runpack", "d.runpack.partial"]) {
        await assert.rejects(Deno.stat(join(folder, left)), Deno.errors.NotFound, `${what}: ${left} is removed`);
      }
    }
    await leavesForeignParts(folder, (archive) => exported(["--archive", archive], "owner"));
  }));

Deno.test("gate://runpacks answers those who may not read the run as if there were no such runpack", () =>
  withServer(async ({ identity, read }) => {
    const rows: readonly (readonly [caller: string, after: string, outcome: "text" | "blob" | "unknown"])[] = [
      ["owner", "", "text"],
      ["reader", "", "text"],
      ["reader", "/0", "blob"],
      ["reader", "/2", "blob"],
      ["reader", "/3", "unknown"],
      ["reader", "/00", "unknown"],
      ["reader", "/-1", "unknown"],
      ["reader", "/99999999", "unknown"],
      ["reader", "/100000000", "unknown"],
      ["reader", "/0/", "unknown"],
      ["stranger", "", "unknown"],
      ["stranger", "/0", "unknown"],
    ];
    for (const [caller, after, outcome] of rows) {
      const answer = async (id: string): Promise<string> => {
        const { error, result } = await read(caller, `gate://runpacks/${id}${after}`);
        if (error !== undefined) return JSON.stringify(error).replaceAll(id, "ID");
        const { contents: [first] } = result as { contents: [{ text?: string; blob?: string }] };
        return first.text === undefined ? "blob" : "text";
      };
      const found = await answer(identity);
      if (outcome !== "unknown") assert.equal(found, outcome, `${caller} ${after}`);
      else assert.equal(found, await answer("f".repeat(64)), `${caller} ${after}: as one that there is not`);
    }
  }));

/** What happens to the largest object of a runpack in the repository of the server, and what its parts answer then. */
const FAILING: readonly (readonly [
  what: string,
  change: (path: string) => Promise<void>,
  kind: string,
  retryable: boolean,
  said: RegExp,
])[] = [
  ["a folder in its place", (path) => Deno.mkdir(path), "unavailable", true, /is not available now, try again$/],
  ["it is cut", (path) => Deno.writeTextFile(path, ""), "internal", false, /is damaged in its repository$/],
  ["it is gone", () => Promise.resolve(), "internal", false, /is damaged in its repository$/],
];

Deno.test("gate://runpacks says whether a part can be had later", () =>
  withServer(async ({ folder, identity, read }) => {
    const objects = join(folder, "runpacks/objects");
    const paths = [...Deno.readDirSync(objects)].flatMap(({ name }) =>
      [...Deno.readDirSync(join(objects, name))].map((file) => join(objects, name, file.name))
    );
    const [largest = ""] = paths.sort((a, b) => Deno.statSync(b).size - Deno.statSync(a).size);
    assert.equal((await read("reader", `gate://runpacks/${identity}/1`))["error"], undefined);
    for (const [what, change, kind, retryable, said] of FAILING) {
      await Deno.remove(largest, { recursive: true });
      await change(largest);
      const { error } = await read("reader", `gate://runpacks/${identity}/1`) as {
        error?: { message: string; data: Wire };
      };
      assert.deepEqual([error?.data["kind"], error?.data["retryable"]], [kind, retryable], what);
      assert.match(error?.message ?? "", said, what);
    }
  }));

Deno.test("gate runpack export --server begins again where the runpack is signed between two parts", () =>
  withServer(async ({ folder, url, identity, as }) => {
    const { result: { runs: [run] } } = JSON.parse((await gate(folder, "runs", "--json", ...as("reader"))).stdout);
    const { namespace_id, run_id } = run.run_key;
    const words = ["runpack", "export", "--namespace", `${namespace_id}`, "--run", run_id];
    const sign = async (name: string): Promise<void> => {
      assert.equal((await gate(folder, "key", "create", name)).code, 0);
      const { code, stderr } = await gate(folder, ...words, "--config", "http.toml", "--signing-key", name);
      assert.equal(code, 0, stderr);
    };
    const signing = proxyOf(url, async (part, answer) => {
      if (part === 1 && signing.parts.length === 2) await sign("one.key");
      return answer;
    });
    const once = await gate(folder, ...words, "--archive", "once.runpack", ...as("owner", signing.url));
    await signing.end();
    assert.deepEqual([once.code, once.stdout], [0, `${identity}\n`], once.stderr);
    assert.match(
      once.stderr,
      /^gate info: the runpack was signed on the server meanwhile: its download begins again$/m,
    );
    assert.deepEqual(signing.parts, [0, 1, 2, 0, 1, 2]);
    await verified(folder, "once.runpack");

    const ending = proxyOf(url, (part, answer) => part < 2 ? answer : null);
    assert.equal((await gate(folder, ...words, "--archive", "on.runpack", ...as("owner", ending.url))).code, 8);
    await ending.end();
    await sign("two.key");
    assert.equal((await gate(folder, ...words, "--archive", "on.runpack", ...as("owner"))).code, 0);
    await verified(folder, "on.runpack");

    let signed = 0;
    const always = proxyOf(url, async (part, answer) => {
      if (part === 1) await sign(`more-${++signed}.key`);
      return answer;
    });
    const never = await gate(folder, ...words, "--archive", "never.runpack", ...as("owner", always.url));
    await always.end();
    assert.deepEqual([never.code, signed], [6, 2], never.stderr);
    const left = [...Deno.readDirSync(folder)].map(({ name }) => name).filter((name) =>
      /^(never|.*partial)/.test(name)
    );
    assert.deepEqual(left, [], "nothing half-written stays");
  }));
