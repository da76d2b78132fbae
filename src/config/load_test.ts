import assert from "node:assert/strict";
import { join } from "node:path";
import { publishTable } from "../canonical/table_shape.ts";
import { BUILTIN_CONFIG_SCHEMAS } from "./sections/builtin.ts";
import { DEFAULT_SETTINGS } from "./defaults.ts";
import { configJsonSchema } from "./json_schema.ts";
import { loadConfig, MAXIMUM_CONFIG_BYTES } from "./load.ts";
import { resolveSettings, trustedKeyFiles } from "./paths.ts";
import { ConfigError, formatPath, formatProblem, problemCollector, type SettingPath } from "./problems.ts";
import { arrayAt, at, isTable } from "./toml_tree.ts";
import { checkUntrustedFile } from "./untrusted_file_rules.ts";
import { checkSettings } from "./schema.ts";

/** Runs a test with a new folder, which is removed afterwards. */
async function inFolder(body: (folder: string) => Promise<void>): Promise<void> {
  const folder = await Deno.realPath(await Deno.makeTempDir());
  try {
    await body(folder);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** The lines of the error of a load, with FILE in place of the file's path. */
async function linesOf(load: Promise<unknown>, path: string): Promise<readonly string[]> {
  const error = await load.then(() => null, (reason: unknown) => reason);
  assert.ok(error instanceof ConfigError, `expected a ConfigError, got ${error}`);
  assert.equal(error.configPath, path);
  return error.problems.map(formatProblem).map((line) => line.replaceAll(path, "FILE"));
}

Deno.test("loadConfig() prefers --config to GATE_CONFIG to ./gate.toml to the defaults", async () => {
  await inFolder(async (folder) => {
    const inFlight = async (config?: string, environment = ""): Promise<unknown> => {
      const loaded = await loadConfig({ config, environment, workingDirectory: folder });
      return [loaded.server.limits.max_inflight, loaded.config_path, loaded.base_dir];
    };
    assert.deepEqual(await inFlight(), [256, null, folder]);
    const write = (name: string, count: number): Promise<void> =>
      Deno.writeTextFile(join(folder, name), `server.limits.max_inflight = ${count}`);
    await write("gate.toml", 1);
    assert.deepEqual(await inFlight(), [1, join(folder, "gate.toml"), folder]);
    await Deno.mkdir(join(folder, "sub"));
    await write("sub/other.toml", 2);
    assert.deepEqual(await inFlight(undefined, "sub/other.toml"), [
      2,
      join(folder, "sub/other.toml"),
      join(folder, "sub"),
    ]);
    await write("third.toml", 3);
    assert.deepEqual(await inFlight("third.toml", "sub/other.toml"), [3, join(folder, "third.toml"), folder]);
  });
});

Deno.test("loadConfig() rejects a named file that does not exist, and paths that are not files", async () => {
  await inFolder(async (folder) => {
    const options = { environment: "", workingDirectory: folder };
    const missing = join(folder, "missing.toml");
    assert.deepEqual(await linesOf(loadConfig({ ...options, config: missing }), missing), ["FILE: does not exist"]);
    assert.deepEqual(await linesOf(loadConfig({ ...options, environment: missing }), missing), [
      "FILE: does not exist",
    ]);
    await Deno.mkdir(join(folder, "gate.toml"));
    assert.deepEqual(await linesOf(loadConfig(options), join(folder, "gate.toml")), ["FILE: is not a file"]);
  });
});

Deno.test("loadConfig() reads 1 MiB and rejects one byte more", async () => {
  await inFolder(async (folder) => {
    const path = join(folder, "gate.toml");
    const options = { environment: "", workingDirectory: folder };
    const head = "server.limits.max_inflight = 7\n#";
    for (const size of [MAXIMUM_CONFIG_BYTES - 1, MAXIMUM_CONFIG_BYTES]) {
      await Deno.writeTextFile(path, head.padEnd(size, "x"));
      assert.equal((await loadConfig(options)).server.limits.max_inflight, 7);
    }
    await Deno.writeTextFile(path, head.padEnd(MAXIMUM_CONFIG_BYTES + 1, "x"));
    assert.deepEqual(await linesOf(loadConfig(options), path), ["FILE: must have at most 1048576 bytes, got 1048577"]);
  });
});

Deno.test("loadConfig() rejects invalid UTF-8 and invalid TOML without quoting the file", async () => {
  await inFolder(async (folder) => {
    const path = join(folder, "gate.toml");
    const options = { environment: "", workingDirectory: folder };
    for (const bytes of [[0x23, 0xff], [0x23, 0xed, 0xa0, 0x80], [0x23, 0xc0, 0xaf], [0x23, 0xe2, 0x82]]) {
      await Deno.writeFile(path, new Uint8Array(bytes));
      assert.deepEqual(await linesOf(loadConfig(options), path), ["FILE: is not valid UTF-8"]);
    }
    await Deno.writeTextFile(path, "[server]\nauth.bearer_tokens = ['hunter2\n");
    const [line] = await linesOf(loadConfig(options), path);
    assert.match(line ?? "", /^FILE: line 2, column \d+: is not valid TOML: [^\n]+$/);
    assert.ok(!line?.includes("hunter2"));
    await Deno.writeTextFile(path, "server.mode = 'strict'\nserver.mode = 'strict'\n");
    assert.match((await linesOf(loadConfig(options), path))[0] ?? "", /^FILE: line 2, column \d+: is not valid TOML: /);
  });
});

Deno.test("loadConfig() reports violated rules, wrong shapes and missing features of one file together", async () => {
  await inFolder(async (folder) => {
    const path = join(folder, "gate.toml");
    await Deno.writeTextFile(
      path,
      [
        "server.bind = 1979-05-27",
        "server.limits.max_inflight = 0",
        "server.tools.mod = 1",
        "validation.strict = false",
        "dev.allow_dev_env_credentials = true",
      ].join("\n"),
    );
    assert.deepEqual(await linesOf(loadConfig({ environment: "", workingDirectory: folder }), path), [
      "dev.allow_dev_env_credentials: must not hold allow_dev_env_credentials = true in a file that was found in the " +
      "working directory: name the file with --config to allow it",
      "server.bind: must not be a TOML date or time, write it as a string",
      "server.limits.max_inflight: must be >= 1, got 0",
      'server.tools.mod: unknown member, did you mean "mode"?',
      "validation.allow_permissive: must be true when validation.strict is false",
    ]);
  });
});

Deno.test("loadConfig() resolves relative paths against the folder of the file", async () => {
  await inFolder(async (folder) => {
    await Deno.mkdir(join(folder, "etc"));
    await Deno.writeTextFile(
      join(folder, "etc/gate.toml"),
      [
        "run_state_store = { type = 'sqlite', path = '../data/gate.db' }",
        "schema_registry = { type = 'sqlite', path = '/var/x.db' }",
        "trust.default_policy = { require_signature = { keys = ['k.pub'] } }",
      ].join("\n"),
    );
    const config = await loadConfig({ config: "etc/gate.toml", environment: "", workingDirectory: folder });
    assert.equal(config.run_state_store.path, join(folder, "data/gate.db"));
    assert.equal(config.schema_registry.path, "/var/x.db");
    assert.deepEqual(trustedKeyFiles(config.trust.default_policy, config.base_dir), [
      { key_id: "k.pub", path: join(folder, "etc/k.pub") },
    ]);
  });
});

Deno.test("resolveSettings() makes every path absolute except those of keys", async () => {
  const { report, problems } = problemCollector();
  const settings = await checkSettings({
    docs: { extra_paths: ["d"] },
    server: {
      transport: "http",
      bind: "127.0.0.1:1",
      audit: { path: "a.log" },
      tls: { cert_path: "c", key_path: "k", client_ca_path: "ca" },
    },
    providers: [
      { name: "json", type: "builtin", config: { root: "r", root_id: "r" } },
      { name: "m", type: "mcp", command: ["./run", "./arg"], capabilities_path: "c.json" },
      {
        name: "p",
        type: "mcp",
        command: ["python3"],
        capabilities_path: "/c.json",
        trust: { require_signature: { keys: ["x"] } },
      },
    ],
  }, report);
  assert.deepEqual(problems(), []);
  const { docs, server, providers } = resolveSettings(settings ?? DEFAULT_SETTINGS, "/base");
  assert.deepEqual(docs.extra_paths, ["/base/d"]);
  assert.equal(server.audit.path, "/base/a.log");
  assert.deepEqual(server.tls, {
    cert_path: "/base/c",
    key_path: "/base/k",
    client_ca_path: "/base/ca",
    require_client_cert: true,
  });
  const [json, mcp, python] = providers;
  assert.equal(json?.type === "builtin" && json.name === "json" && json.config.root, "/base/r");
  assert.deepEqual([mcp?.command, mcp?.capabilities_path], [["/base/run", "./arg"], "/base/c.json"]);
  assert.deepEqual([python?.command, python?.capabilities_path], [["python3"], "/c.json"]);
  assert.deepEqual(python?.trust, { require_signature: { keys: ["x"] } });
});

const REMEDY = "in a file that was found in the working directory: name the file with --config to allow it";
const OUTSIDE =
  "must be inside the folder of a file that was found in the working directory: name the file with --config to allow it";

type ImplicitCase = readonly [tree: unknown, ...lines: string[]];

function provider(members: object): object {
  return { providers: [members] };
}

/** Trees of files that the user did not name, with the reported problems. */
function implicitCases(): readonly ImplicitCase[] {
  return [
    [provider({ command: ["rm"] }), `providers[0].command: must not hold command ${REMEDY}`],
    [provider({ command: [] })],
    [
      provider({ auth: { bearer_token: "t" } }),
      `providers[0].auth.bearer_token: must not hold credentials ${REMEDY}`,
    ],
    [
      provider({ config: { auth: { bearer_token: "env:HOME" } } }),
      `providers[0].config.auth.bearer_token: must not hold credentials ${REMEDY}`,
    ],
    [
      provider({ config: { auth: { basic_username: "u", basic_password: "p" } } }),
      `providers[0].config.auth.basic_password: must not hold credentials ${REMEDY}`,
      `providers[0].config.auth.basic_username: must not hold credentials ${REMEDY}`,
    ],
    [
      provider({ config: { auth: { api_key_value: "k" } } }),
      `providers[0].config.auth.api_key_value: must not hold credentials ${REMEDY}`,
    ],
    [
      { namespace: { authority: { ledger: { auth_token: "t" } } } },
      `namespace.authority.ledger.auth_token: must not hold credentials ${REMEDY}`,
    ],
    [
      { server: { auth: { bearer_tokens: ["t"] } } },
      `server.auth.bearer_tokens: must not hold credentials ${REMEDY}`,
    ],
    [{ server: { auth: { bearer_tokens: [] } } }],
    [
      provider({ config: { default_headers: { "x-api-key": "k" } } }),
      `providers[0].config.default_headers: must not hold credentials ${REMEDY}`,
    ],
    [provider({ config: { default_headers: {} } })],
    [{ runpack_storage: { bucket: "b" } }, `runpack_storage: must not hold an object store ${REMEDY}`],
    [
      { namespace: { authority: { ledger: { base_url: "https://names.example" } } } },
      `namespace.authority.ledger.base_url: must not hold an address ${REMEDY}`,
    ],
    [
      { run_state_store: { type: "postgres", url: "postgres://u:p@db/gate" } },
      `run_state_store.url: must not hold the url of a database ${REMEDY}`,
    ],
    [{ schema_registry: { url: "env:URL" } }, `schema_registry.url: must not hold the url of a database ${REMEDY}`],
    [provider({ url: "https://x.example" }), `providers[0].url: must not hold an address ${REMEDY}`],
    ...[undefined, { overrides: { CI: "1" } }, { allowlist: ["CI"] }].map((config): ImplicitCase => [
      provider({ name: "env", type: "builtin", ...config === undefined ? {} : { config } }),
      `providers[0]: must not hold the provider "env" ${REMEDY}`,
    ]),
    [provider({ name: "env", type: "mcp" })],
    [
      provider({ name: "http", type: "builtin", config: { allow_private_networks: true } }),
      `providers[0].config.allow_private_networks: must not hold allow_private_networks = true ${REMEDY}`,
    ],
    [provider({ name: "http", type: "builtin", config: { allow_private_networks: false } })],
    [provider({ name: "x", type: "typed" }), `providers[0].type: must not hold a typed provider ${REMEDY}`],
    [
      { dev: { allow_dev_env_credentials: true } },
      `dev.allow_dev_env_credentials: must not hold allow_dev_env_credentials = true ${REMEDY}`,
    ],
    [{ dev: { allow_dev_env_credentials: false } }],
  ];
}

/** The same with paths, resolved against a folder. */
function implicitPaths(folder: string): readonly ImplicitCase[] {
  return [
    [provider({ config: { root: "inside" } })],
    [provider({ config: { root: "." } })],
    [provider({ config: { root: "inside/../inside/not-there" } })],
    [provider({ config: { root: folder } })],
    [provider({ config: { root: ".." } }), `providers[0].config.root: ${OUTSIDE}`],
    [provider({ config: { root: `${folder}-beside` } }), `providers[0].config.root: ${OUTSIDE}`],
    [provider({ config: { root: "/" } }), `providers[0].config.root: ${OUTSIDE}`],
    [provider({ config: { root: "link" } }), `providers[0].config.root: ${OUTSIDE}`],
    [provider({ config: { root: "link/not-there/deeper" } }), `providers[0].config.root: ${OUTSIDE}`],
    [provider({ config: { root: "..name" } })],
    [{ run_state_store: { path: "../gate.db" } }, `run_state_store.path: ${OUTSIDE}`],
    [{ schema_registry: { path: "inside/gate.db" } }],
    [{ docs: { extra_paths: ["inside", "/etc"] } }, `docs.extra_paths[1]: ${OUTSIDE}`],
    [{ server: { audit: { path: "link/passwd" } } }, `server.audit.path: ${OUTSIDE}`],
    [{ server: { state_keys: ["inside", "/etc/key"] } }, `server.state_keys[1]: ${OUTSIDE}`],
    [{ server: { audit: { path: "dangling" } } }, `server.audit.path: ${OUTSIDE}`],
    [{ server: { audit: { path: "dangling/deeper" } } }, `server.audit.path: ${OUTSIDE}`],
    [{ server: { audit: { path: "to-be-made" } } }],
    [{ trust: { evidence_keys: "people" } }],
    [{ trust: { evidence_keys: "../people" } }, `trust.evidence_keys: ${OUTSIDE}`],
    [
      { trust: { default_policy: { require_signature: { keys: ["/k"] } } } },
      `trust.default_policy.require_signature.keys[0]: ${OUTSIDE}`,
    ],
  ];
}

Deno.test("checkUntrustedFile() rejects programs, credentials and paths outside the folder", async () => {
  await inFolder(async (folder) => {
    await Deno.mkdir(join(folder, "inside"));
    await Deno.symlink("/etc", join(folder, "link"));
    await Deno.symlink(`${folder}-beside/not-there`, join(folder, "dangling"));
    await Deno.symlink("inside/not-there", join(folder, "to-be-made"));
    for (const [tree, ...lines] of [...implicitCases(), ...implicitPaths(folder)]) {
      const { report, problems } = problemCollector();
      await checkUntrustedFile(tree, folder, report);
      assert.deepEqual(problems().map(formatProblem), lines, JSON.stringify(tree));
    }
  });
});

Deno.test("checkUntrustedFile() rejects keys of people that a link leads to from outside, named or found", async () => {
  // The folder of keys, what is in it, what the file names, and the lines.
  const rows: readonly (readonly [(folder: string) => Promise<void>, unknown, readonly string[]])[] = [
    [(folder) => Deno.mkdir(`${folder}/evidence-keys`), {}, []],
    [(folder) => Deno.symlink("/etc", `${folder}/evidence-keys`), {}, [`trust.evidence_keys: ${OUTSIDE}`]],
    [(folder) => Deno.symlink("/etc", `${folder}/evidence-keys`), { trust: { evidence_keys: "people" } }, []],
    [(folder) => Deno.symlink("/etc", `${folder}/people`), { trust: { evidence_keys: "people" } }, [
      `trust.evidence_keys: ${OUTSIDE}`,
    ]],
    [
      async (folder) => {
        await Deno.mkdir(`${folder}/evidence-keys/..data`, { recursive: true });
        await Deno.symlink("..data/alice.pub", `${folder}/evidence-keys/alice.pub`);
      },
      {},
      [],
    ],
    [
      async (folder) => {
        await Deno.mkdir(`${folder}/evidence-keys`);
        await Deno.symlink("../../secret", `${folder}/evidence-keys/alice.pub`);
        await Deno.symlink("/etc/passwd", `${folder}/evidence-keys/bob.pub`);
      },
      {},
      [`trust.evidence_keys: ${OUTSIDE}`],
    ],
  ];
  for (const [prepare, tree, lines] of rows) {
    await inFolder(async (folder) => {
      await prepare(folder);
      const { report, problems } = problemCollector();
      await checkUntrustedFile(tree, folder, report);
      assert.deepEqual(problems().map(formatProblem), lines);
    });
  }
});

/** Free texts that an implicit file may contain: they open, send and request nothing. */
const HARMLESS = `
  anchors.providers[0].anchor_type anchors.providers[0].provider_id anchors.providers[0].required_fields[0]
  dev.permissive_exempt_providers[0]
  policy.static.rules[0].content_types[0] policy.static.rules[0].error_message policy.static.rules[0].forbid_labels[0]
  policy.static.rules[0].forbid_policy_tags[0] policy.static.rules[0].packet_ids[0]
  policy.static.rules[0].require_labels[0] policy.static.rules[0].require_policy_tags[0]
  policy.static.rules[0].scenario_ids[0] policy.static.rules[0].schema_ids[0] policy.static.rules[0].stage_ids[0]
  policy.static.rules[0].targets[0].system policy.static.rules[0].targets[0].target
  policy.static.rules[0].targets[0].target_id
  provider_discovery.allowlist[0] provider_discovery.denylist[0]
  providers[0].config.allowed_hosts[0] providers[0].config.allowlist[0] providers[0].config.auth.api_key_header
  providers[0].config.denylist[0] providers[0].config.overrides.any providers[0].config.root_id
  providers[0].config.user_agent providers[0].name
  schema_registry.acl.rules[0].policy_classes[0] schema_registry.acl.rules[0].roles[0]
  schema_registry.acl.rules[0].subjects[0]
  server.auth.mtls_subjects[0] server.auth.principals[0].policy_class server.auth.principals[0].roles[0].name
  server.auth.principals[0].subject server.bind
  server.feedback.scenario_next.evidence_roles[0] server.feedback.scenario_next.evidence_subjects[0]
  server.feedback.scenario_next.trace_roles[0] server.feedback.scenario_next.trace_subjects[0]
`.trim().split(/\s+/);

/** The paths of free texts in a JSON Schema; an array's items are `0`, a member of any name is `any`. */
function textsOf(schema: unknown, path: SettingPath): SettingPath[] {
  const of = (part: unknown, ...steps: SettingPath): SettingPath[] => textsOf(part, [...path, ...steps]);
  const variants = [...arrayAt(schema, ["anyOf"]), ...arrayAt(schema, ["oneOf"])].flatMap((variant) => of(variant));
  const members = Object.entries(at(schema, ["properties"]) ?? {}).flatMap(([name, member]) => of(member, name));
  const items = at(schema, ["items"]) === undefined ? [] : of(at(schema, ["items"]), 0);
  const named = isTable(at(schema, ["additionalProperties"])) ? of(at(schema, ["additionalProperties"]), "any") : [];
  const isFree = at(schema, ["enum"]) === undefined && at(schema, ["const"]) === undefined;
  const isText = isFree && [at(schema, ["type"])].flat().includes("string");
  return [...variants, ...members, ...items, ...named, ...isText ? [path] : []];
}

Deno.test("checkUntrustedFile() rejects every free text of a configuration except the harmless ones", async () => {
  const builtin = Object.values(BUILTIN_CONFIG_SCHEMAS).map((schema) => publishTable(schema));
  const texts = [
    ...textsOf(await configJsonSchema(), []),
    ...builtin.flatMap((schema) => textsOf(schema, ["providers", 0, "config"])),
  ];
  const allowed: string[] = [];
  for (const text of texts) {
    const tree = text.reduceRight<unknown>((inner, step) => step === 0 ? [inner] : { [step]: inner }, "/elsewhere");
    const { report, problems } = problemCollector();
    await checkUntrustedFile(tree, "/srv", report);
    if (problems().length === 0) allowed.push(formatPath(text));
  }
  assert.deepEqual([...new Set(allowed)].sort(), HARMLESS);
});

Deno.test("loadConfig() applies the rules for implicit files to ./gate.toml only", async () => {
  await inFolder(async (folder) => {
    const path = join(folder, "gate.toml");
    await Deno.writeTextFile(path, "run_state_store = { type = 'sqlite', path = '/var/gate.db' }");
    const options = { environment: "", workingDirectory: folder };
    assert.deepEqual(await linesOf(loadConfig(options), path), [`run_state_store.path: ${OUTSIDE}`]);
    assert.equal((await loadConfig({ ...options, config: path })).run_state_store.path, "/var/gate.db");
    assert.equal((await loadConfig({ ...options, environment: path })).run_state_store.path, "/var/gate.db");
  });
});
