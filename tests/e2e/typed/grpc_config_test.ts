/** gRPC through the command line: import of files, an entry of the configuration, a check, and what is refused. */

import assert from "node:assert/strict";
import type { GrpcProfile } from "../../../src/evidence/typed/runtime_profile.ts";
import { decodeBase64 } from "../../../src/canonical/base64.ts";
import { gate, inFolder } from "../gate_command.ts";
import { data, headers, message, OK_HEADERS, type Script, startPeer } from "./grpc_peers.ts";
import { answering, HONEST, importChecks } from "./grpc_rows.ts";

const CHECKS = `syntax = "proto3"; package probe.v1; import "common/name.proto";
  message In { common.Name name = 1; }
  message Out { int64 errors = 1; }
  service Checks {
    // The number of errors.
    rpc Check(In) returns (Out);
    rpc Watch(In) returns (stream Out);
  }`;
const NAME = 'syntax = "proto3"; package common; message Name { string text = 1; }';

async function writeProto(folder: string): Promise<void> {
  await Deno.mkdir(`${folder}/common`);
  await Deno.writeTextFile(`${folder}/checks.proto`, CHECKS);
  await Deno.writeTextFile(`${folder}/common/name.proto`, NAME);
}

function entry(name: string): string {
  return `[[providers]]
name = "${name}"
type = "typed"
capabilities_path = "${name}.contract.json"
runtime_profile_path = "${name}.profile.json"
typed_protocol = "grpc"
allow_insecure_http = true
config = { allow_private_networks = true }
`;
}

Deno.test("gate provider import grpc makes a provider of .proto files, and gate provider check asks the service", () =>
  inFolder(async (folder) => {
    await writeProto(folder);
    const peer = await startPeer(HONEST);
    try {
      const address = `http://127.0.0.1:${peer.port}`;
      const files = ["./checks.proto", "common/name.proto"];
      const select = ["--select", "errors=probe.v1.Checks/Check#/errors"];
      const imported = await gate(folder, "provider", "import", "grpc", ...files, "--server-url", address, ...select);
      assert.equal(imported.code, 0, imported.stderr);
      assert.match(imported.stdout, /^probe\.v1\.Checks\/Check +Check +errors/m);
      assert.match(imported.stdout, /^probe\.v1\.Checks\/Watch +Watch +- +streaming probe\.v1\.Checks\/Watch/m);
      assert.match(imported.stderr, /warning presence_implicit probe\.v1\.Out\.errors/);
      await Deno.writeTextFile(`${folder}/own.toml`, entry("checks"));
      const check = ["provider", "check", "checks", "errors", "--config", "own.toml"];
      const { code, stdout, stderr } = await gate(folder, ...check);
      assert.equal(code, 0, stderr);
      assert.deepEqual(JSON.parse(stdout).value, { kind: "json", value: 3 });
    } finally {
      await peer.close();
    }
  }));

Deno.test("gate provider import grpc reads a descriptor set, and refuses what is none", () =>
  inFolder(async (folder) => {
    const { profile } = await importChecks();
    await Deno.writeFile(`${folder}/probe.binpb`, decodeBase64(profile.descriptor_set_base64) ?? new Uint8Array(0));
    await Deno.writeTextFile(`${folder}/text.binpb`, "syntax");
    await writeProto(folder);
    const run = (...args: readonly string[]): ReturnType<typeof gate> =>
      gate(folder, "provider", "import", "grpc", ...args, "--server-url", "grpc.example.test:443", "--dry-run");
    const set = await run("probe.binpb");
    assert.equal(set.code, 0, set.stderr);
    assert.match(set.stdout, /^probe\.v1\.Checks\/Check +Check +Checks\.Check/m);
    /** Files, message. */
    const refused: readonly (readonly [files: readonly string[], message: RegExp])[] = [
      [["text.binpb"], /The document cannot be read: expected the wire form of a FileDescriptorSet/],
      [["checks.proto"], /import_missing[^]*No operation of the document can be a check/],
      [["probe.binpb", "checks.proto"], /Cannot import 2 files \(only .proto files may be several\)/],
      [["absent.proto"], /Cannot read "absent.proto": it does not exist/],
    ];
    for (const [files, message] of refused) {
      const { code, stderr } = await run(...files);
      assert.equal(code, 2);
      assert.match(stderr, message);
    }
  }));

const CANARY = "canary-token-91c3";
const TOLD = headers([...OK_HEADERS, ["grpc-status", "16"], ["grpc-message", `wrong token ${CANARY}`]], true);

/** What a server does with the credential of a call, its script, the exit code of the check. */
const REPEATING: readonly (readonly [what: string, script: Script, code: number])[] = [
  ["keeps it", HONEST, 0],
  ["repeats it in its status", answering(TOLD), 4],
  [
    "repeats it in its message",
    answering(
      headers(OK_HEADERS),
      data(message(new Uint8Array([18, CANARY.length, ...new TextEncoder().encode(CANARY)]))),
      headers([["grpc-status", "0"]], true),
    ),
    4,
  ],
  ["closes", { at: "request", play: (socket) => void socket.destroy() }, 8],
];

for (const [what, script, expected] of REPEATING) {
  Deno.test(`gate provider check of a gRPC server that ${what}: no output has the credential`, () =>
    inFolder(async (folder) => {
      const { contract, profile } = await importChecks();
      const peer = await startPeer(script);
      try {
        await Deno.mkdir(`${folder}/keys`);
        await Deno.writeTextFile(`${folder}/keys/token`, CANARY, { mode: 0o600 });
        const endpoint = `127.0.0.1:${peer.port}`;
        const credentials = [{ kind: "metadata", name: "x-token", locator: "file://token" }];
        await Deno.writeTextFile(`${folder}/own.toml`, entry("probe"));
        await Deno.writeTextFile(`${folder}/probe.contract.json`, JSON.stringify(contract));
        const own = { ...profile, endpoint, plaintext: true, credentials };
        await Deno.writeTextFile(`${folder}/probe.profile.json`, JSON.stringify(own));
        const check = ["provider", "check", "probe", "errors", "--config", "own.toml", "--credentials-dir", "keys"];
        const { code, stdout, stderr } = await gate(folder, ...check);
        assert.equal(code, expected, stderr);
        assert.ok(!`${stdout}${stderr}`.includes(CANARY), `${stdout}${stderr}`);
      } finally {
        await peer.close();
      }
    }));
}

/** What a profile has, its changes, the problem. */
const REFUSED: readonly (readonly [what: string, changes: Partial<GrpcProfile>, problem: string])[] = [
  ["no descriptors", { descriptor_set_base64: "" }, "$.operations.errors.method: Expected a method of the descriptors"],
  ["descriptors that are none", { descriptor_set_base64: "AAAA" }, "$.descriptor_set_base64: Expected descriptors: "],
];

for (const [what, changes, problem] of REFUSED) {
  Deno.test(`gate serve refuses a gRPC profile with ${what}`, () =>
    inFolder(async (folder) => {
      const { contract, profile } = await importChecks();
      await Deno.writeTextFile(`${folder}/own.toml`, entry("probe"));
      await Deno.writeTextFile(`${folder}/probe.contract.json`, JSON.stringify(contract));
      await Deno.writeTextFile(`${folder}/probe.profile.json`, JSON.stringify({ ...profile, ...changes }));
      const { code, stderr } = await gate(folder, "serve", "--config", "own.toml");
      assert.equal(code, 2, stderr);
      assert.ok(stderr.includes(problem), stderr);
    }));
}

Deno.test("gate serve refuses a gRPC profile whose operations do not fit the descriptors", () =>
  inFolder(async (folder) => {
    const { contract, profile } = await importChecks();
    await Deno.writeTextFile(`${folder}/own.toml`, entry("probe"));
    await Deno.writeTextFile(`${folder}/probe.contract.json`, JSON.stringify(contract));
    const operation = profile.operations["errors"];
    /** Changes of the operation, problem. */
    const rows = [
      [{ method: "Gone" }, "$.operations.errors.method: Expected a method of the descriptors"],
      [{ service: "probe.v1.Gone" }, "$.operations.errors.method: Expected a method of the descriptors"],
      [{ result_path: ["gone"] }, "$.operations.errors.result_path: Expected a path to a field of the response"],
    ] as const;
    for (const [changes, problem] of rows) {
      const changed = { ...profile, operations: { errors: { ...operation, ...changes } } };
      await Deno.writeTextFile(`${folder}/probe.profile.json`, JSON.stringify(changed));
      const { code, stdout } = await gate(folder, "config", "check", "own.toml");
      assert.equal(code, 2);
      assert.ok(stdout.includes(problem), stdout);
    }
  }));
