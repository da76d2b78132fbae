import assert from "node:assert/strict";
import { canonicalize } from "../../canonical/canonicalize.ts";
import { identify } from "../../canonical/identity.ts";
import { readJson } from "../../canonical/scan.ts";
import { asJson } from "../../run/primitives.ts";
import type { Editable } from "../../../tests/simulation/kernel/law_specs.ts";
import { KEY_1, SHA256 } from "../../../tests/simulation/kernel/fixture.ts";
import { forge } from "../../../tests/simulation/forged_packs/forge.ts";
import {
  identityOf,
  type MemoryPack,
  memorySource,
  objectOf,
  packOf,
  PRIMITIVES,
  statusesOf,
  verifyWhole,
} from "../../../tests/simulation/runpack/memory.ts";
import { playGoldenRun } from "../../../tests/simulation/runpack/run.ts";
import { objectName } from "../format/archive.ts";
import { TEXT_BYTES } from "../format/types.ts";
import { verifyRunpack } from "./verify.ts";
import { CLAIM_NAMES } from "./claims.ts";
import { BUDGET_MEMBERS, type VerificationReport, type VerificationRequest } from "./types.ts";

const RUN = playGoldenRun();
const PACK = await packOf(RUN);
/** Up to the first attempt that passes: nothing in it is kept by digest only. */
const WHOLE = await packOf(RUN, 5);
const LONG = await packOf(playGoldenRun(600));

const INTEGRITY: VerificationRequest = {
  runpack_identity: null,
  profile: "integrity_only_v1",
  budget: null,
  trusted_keys: null,
};

function verifyIntegrity(pack: MemoryPack, changes: Partial<VerificationRequest> = {}): Promise<VerificationReport> {
  return verifyRunpack(memorySource(pack), { ...INTEGRITY, ...changes }, PRIMITIVES);
}

const manifestOf = (pack: MemoryPack): Editable => readJson(new TextDecoder().decode(pack.manifest));

function withManifest(pack: MemoryPack, change: (manifest: Editable) => void): MemoryPack {
  const manifest = manifestOf(pack);
  change(manifest);
  return { manifest: new TextEncoder().encode(canonicalize(manifest)), objects: pack.objects };
}

function withObjects(pack: MemoryPack, change: (objects: Map<string, Uint8Array>) => void): MemoryPack {
  const objects = new Map(pack.objects);
  change(objects);
  return { manifest: pack.manifest, objects };
}

Deno.test("verifyRunpack() integrity_only_v1 evaluates three claims by their methods, and asks for no other", async () => {
  const { claims, profile, material_resolution, verifier_procedure, trusted_bases, assumptions } =
    await verifyIntegrity(PACK);
  assert.deepEqual(claims.map(({ claim }) => claim), CLAIM_NAMES);
  assert.deepEqual(claims.slice(0, 3).map(({ status }) => status), [
    { status: "satisfied", method: "manifest_constructor_v6" },
    { status: "satisfied", method: "manifest_constructor_v6" },
    { status: "satisfied", method: "object_tree_traversal_v6" },
  ]);
  assert.ok(claims.slice(3).every(({ status }) => canonicalize(asJson(status)) === '{"status":"not_requested"}'));
  assert.equal(profile, "integrity_only_v1");
  assert.equal(material_resolution, "supplied_offline_material_v1");
  assert.equal(verifier_procedure, "gate-verifier-2");
  assert.deepEqual([trusted_bases, assumptions], [["sha256"], []]);
});

Deno.test("verifyRunpack() full_replay_v1 settles every claim that the material can settle", async () => {
  const statuses = Object.values(statusesOf(await verifyWhole(WHOLE)));
  assert.deepEqual(statuses.slice(0, 22), Array.from({ length: 22 }, () => "satisfied"));
  assert.deepEqual(statuses.slice(22), [
    "unavailable no_trusted_keys",
    "unavailable needs_current_head",
    "unavailable needs_external_checkpoint",
    "unavailable needs_dispatch_log",
    "unavailable needs_effect_observation",
    "unavailable needs_deployment_evidence",
    "unavailable needs_build_provenance",
  ]);
});

Deno.test("verifyRunpack() leaves open what needs a value that is not there", async () => {
  const needs = [
    "evidence_structural_admission",
    "evidence_retention_reconstruction",
    "evidence_use_policy_satisfaction",
    "pure_semantic_replay",
  ];
  const cases: [MemoryPack, string][] = [
    [PACK, "unavailable value_not_retained"],
    [await packOf(RUN, 5, { withheld_conditions: ["built"] }), "unavailable value_withheld"],
    [await packOf(RUN, RUN.records.length, { withheld_conditions: ["report"] }), "unavailable value_withheld"],
  ];
  for (const [pack, expected] of cases) {
    const statuses = statusesOf(await verifyWhole(pack));
    for (const claim of CLAIM_NAMES.slice(0, 22)) {
      assert.equal(statuses[claim], needs.includes(claim) ? expected : "satisfied", claim);
    }
  }
});

Deno.test("verifyRunpack() verifies runs of several segments, in chunks of any size", async () => {
  const reports = await Promise.all(
    [1, 7, 65_536, 10_000_000].map((size) =>
      verifyRunpack(memorySource(LONG, Math.max(size, 1000)), { ...INTEGRITY, profile: "full_replay_v1" }, PRIMITIVES)
    ),
  );
  for (const report of reports) assert.deepEqual(report, reports[0]);
  assert.equal(reports[0]?.budget.records, 611);
});

Deno.test("verifyRunpack() counts an object once, and the same for both profiles but for what is gone through", async () => {
  const bytes = [...LONG.objects.values()].reduce((sum, object) => sum + object.length, LONG.manifest.length);
  const shared = { bytes_read: bytes, hashing_workers: 1, objects: LONG.objects.size, tree_nodes: 1 };
  const whole = await verifyWhole(LONG);
  const { canonical_work_bytes, ...counted } = whole.budget;
  assert.deepEqual(counted, { ...shared, records: 611 });
  // Deciding anew has its part: a few per cent where the records are plain ones.
  assert.ok(canonical_work_bytes > bytes && canonical_work_bytes < 1.1 * bytes, `${canonical_work_bytes}`);
  const { segments, artifacts } = manifestOf(LONG);
  const parsed = LONG.manifest.length + segments.bytes + artifacts.bytes;
  assert.deepEqual((await verifyIntegrity(LONG)).budget, { ...shared, canonical_work_bytes: parsed, records: 0 });
});

Deno.test("verifyRunpack() names request and report by what they are", async () => {
  const report = await verifyWhole(WHOLE, { budget: { objects: 1000 } });
  const { report_identity, ...rest } = report;
  assert.equal(report_identity, identify(SHA256, "report", asJson(rest)));
  const request = { budget: { objects: 1000 }, profile: "full_replay_v1", runpack_identity: identityOf(WHOLE) };
  assert.equal(report.request_identity, identify(SHA256, "request", request));
  const key = Uint8Array.fromBase64(KEY_1.public_key);
  const keyed = await verifyWhole(WHOLE, { budget: { objects: 1000 }, trusted_keys: [key] });
  assert.equal(keyed.request_identity, identify(SHA256, "request", { ...request, trusted_keys: [SHA256(key)] }));
});

Deno.test("verifyRunpack() within each limit answers, and one below it leaves open what is not settled", async () => {
  for (const profile of ["integrity_only_v1", "full_replay_v1"] as const) {
    const { budget } = await verifyRunpack(memorySource(LONG), { ...INTEGRITY, profile }, PRIMITIVES);
    for (const member of BUDGET_MEMBERS) {
      const used = budget[member];
      const run = (limit: number): Promise<VerificationReport> =>
        verifyRunpack(memorySource(LONG), { ...INTEGRITY, profile, budget: { [member]: limit } }, PRIMITIVES);
      const open = ({ claims }: VerificationReport): boolean =>
        claims.some(({ status }) => status.status === "unavailable" && status.reason === "budget_exhausted");
      assert.equal(open(await run(used)), false, `${profile} ${member} ${used}`);
      assert.equal(open(await run(used + 1)), false, `${profile} ${member} ${used + 1}`);
      if (used === 0) continue;
      const short = await run(used - 1);
      assert.equal(open(short), true, `${profile} ${member} ${used - 1}`);
      for (const each of BUDGET_MEMBERS) {
        assert.ok(short.budget[each] <= budget[each] - (each === member ? 1 : 0), each);
      }
      assert.ok(short.claims.every(({ status }) => status.status !== "violated"));
    }
  }
});

Deno.test("verifyRunpack() keeps what was settled before the records ran out", async () => {
  const statuses = statusesOf(await verifyWhole(LONG, { budget: { records: 300 } }));
  assert.equal(statuses["artifact_tree_integrity"], "satisfied");
  assert.equal(statuses["scenario_law_construction"], "satisfied");
  assert.equal(statuses["creation_receipt_integrity"], "satisfied");
  assert.equal(statuses["accepted_history_continuity"], "unavailable budget_exhausted");
});

const objectRole = (role: string): string => {
  const manifest = manifestOf(PACK);
  const node = readJson(new TextDecoder().decode(PACK.objects.get(manifest.segments.object))) as Editable;
  return manifest[role]?.object ?? node.segments[0][role].object;
};

/** What is done to one object of a pack, and what the traversal says of it. */
const TAMPERINGS: readonly [string, (objects: Map<string, Uint8Array>, identity: string) => void, string][] = [
  ["one byte changed", (objects, identity) => {
    const bytes = Uint8Array.from(objects.get(identity) ?? []);
    bytes[bytes.length >> 1] = (bytes[bytes.length >> 1] ?? 0) ^ 1;
    objects.set(identity, bytes);
  }, "object_identity_mismatch"],
  ["missing", (objects, identity) => objects.delete(identity), "object_missing"],
  ["truncated", (objects, identity) => {
    objects.set(identity, (objects.get(identity) ?? new Uint8Array()).slice(0, -1));
  }, "object_size_mismatch"],
  ["longer", (objects, identity) => {
    objects.set(identity, new Uint8Array([...objects.get(identity) ?? [], 10]));
  }, "object_size_mismatch"],
];

for (const [what, tamper, code] of TAMPERINGS) {
  for (const role of ["law", "artifacts", "segments", "records", "receipts", "values"]) {
    Deno.test(`verifyRunpack() ${role} ${what}: ${code}`, async () => {
      const pack = withObjects(PACK, (objects) => tamper(objects, objectRole(role)));
      for (const profile of ["integrity_only_v1", "full_replay_v1"] as const) {
        const statuses = statusesOf(await verifyIntegrity(pack, { profile }));
        assert.ok(
          statuses["artifact_tree_integrity"]?.startsWith(`violated ${code}: `),
          statuses["artifact_tree_integrity"],
        );
        const replay = profile === "full_replay_v1" ? "unavailable material_not_intact" : "not_requested";
        assert.equal(statuses["pure_semantic_replay"], replay);
      }
    });
  }
}

Deno.test("verifyRunpack() object too many: object_unreferenced, unless the repository is shared", async () => {
  const extra = objectOf({ stray: true });
  const pack = withObjects(PACK, (objects) => objects.set(extra.identity, extra.bytes));
  const statuses = statusesOf(await verifyIntegrity(pack));
  assert.equal(statuses["artifact_tree_integrity"], `violated object_unreferenced: ${objectName(extra.identity)}`);
  const shared = { ...memorySource(pack), list: null };
  assert.equal(statusesOf(await verifyRunpack(shared, INTEGRITY, PRIMITIVES))["artifact_tree_integrity"], "satisfied");
});

Deno.test("verifyRunpack() objects that changed places: object_size_mismatch or object_identity_mismatch", async () => {
  const pack = withObjects(PACK, (objects) => {
    const law = objectRole("law");
    const records = objectRole("records");
    const a = objects.get(law);
    const b = objects.get(records);
    if (a !== undefined && b !== undefined) objects.set(law, b).set(records, a);
  });
  assert.match(
    statusesOf(await verifyIntegrity(pack))["artifact_tree_integrity"] ?? "",
    /^violated object_size_mismatch/,
  );
});

/** Invalid manifests, with the statuses of the first two claims. */
const MANIFESTS: readonly [string, Uint8Array | "missing" | "unreadable", string, string][] = [
  ["missing", "missing", "violated manifest_missing", "unavailable manifest_unavailable"],
  ["unreadable", "unreadable", "violated manifest_unreadable", "unavailable manifest_unavailable"],
  ["too large", new Uint8Array(1024 * 1024 + 1), "violated manifest_too_large", "unavailable manifest_unavailable"],
  ["at its limit", new Uint8Array(1024 * 1024), "violated manifest_not_canonical", "violated identity_mismatch"],
  ["empty", new Uint8Array(), "violated manifest_not_canonical", "violated identity_mismatch"],
  ["of another form", new TextEncoder().encode("{}"), "violated manifest_invalid", "violated identity_mismatch"],
  [
    "of another version",
    withManifest(PACK, (manifest) => manifest.format = "runpack-v7").manifest,
    "violated format_unsupported",
    "violated identity_mismatch",
  ],
  [
    "with white space",
    new TextEncoder().encode(` ${new TextDecoder().decode(PACK.manifest)}`),
    "violated manifest_not_canonical",
    "violated identity_mismatch",
  ],
];

for (const [what, manifest, structure, subject] of MANIFESTS) {
  Deno.test(`verifyRunpack() manifest ${what}: ${structure}`, async () => {
    const source = { ...memorySource(PACK), manifest: () => Promise.resolve(manifest) };
    const request = { ...INTEGRITY, runpack_identity: identityOf(PACK), profile: "full_replay_v1" } as const;
    const statuses = statusesOf(await verifyRunpack(source, request, PRIMITIVES));
    assert.equal(statuses["structural_format_validity"], structure);
    assert.equal(statuses["runpack_subject_identity"], subject);
    assert.equal(statuses["artifact_tree_integrity"], "unavailable manifest_invalid");
    assert.equal(statuses["scenario_law_construction"], "unavailable material_not_intact");
  });
}

Deno.test("verifyRunpack() manifest of another run: identity_mismatch, and the pack is verified as what it is", async () => {
  const statuses = statusesOf(await verifyWhole(WHOLE, { runpack_identity: identityOf(PACK) }));
  assert.equal(statuses["runpack_subject_identity"], "violated identity_mismatch");
  assert.equal(statuses["artifact_tree_integrity"], "satisfied");
});

/** A pack whose tree says something else of itself. */
function withRoot(level: number, member: object): MemoryPack {
  const node = objectOf(asJson({ node: "segments", level, ...member }));
  const pack = withObjects(PACK, (objects) => objects.set(node.identity, node.bytes));
  return withManifest(pack, (manifest) => manifest.segments = { object: node.identity, bytes: node.bytes.length });
}

Deno.test("verifyRunpack() trees that are too deep, cyclic, empty or unlike their size: tree_shape_invalid or node_invalid", async () => {
  const { segments } = manifestOf(PACK);
  const [segment] = (readJson(new TextDecoder().decode(PACK.objects.get(segments.object))) as Editable).segments;
  const cases: [MemoryPack, RegExp][] = [
    [withRoot(1, { children: [segments] }), /^violated tree_shape_invalid/],
    [withRoot(3, { children: [segments] }), /^violated tree_shape_invalid/],
    [withRoot(4, { children: [segments] }), /^violated node_invalid/],
    [withRoot(0, { segments: [] }), /^violated node_invalid/],
    [withRoot(0, { segments: [segment, segment] }), /^violated tree_shape_invalid/],
    [withRoot(0, { segments: [{ ...segment, first_revision: 2 }] }), /^violated tree_shape_invalid/],
    [withRoot(0, { segments: [{ ...segment, last_revision: 12 }] }), /^violated tree_shape_invalid/],
    [withRoot(0, { segments: [{ ...segment, note: "" }] }), /^violated node_invalid/],
    // The child would be its own parent, if its name could be known before it is written; so it is only missing.
    [withRoot(1, { children: [{ object: "0".repeat(64), bytes: 100 }] }), /^violated tree_shape_invalid/],
    [
      withManifest(PACK, (manifest) => {
        manifest.head.revision = manifest.record_tree.size = 256 ** 5 + 1;
      }),
      /^violated tree_shape_invalid/,
    ],
    [
      withManifest(PACK, (manifest) => {
        manifest.head.revision = manifest.record_tree.size = Number.MAX_SAFE_INTEGER;
      }),
      /^violated tree_shape_invalid/,
    ],
  ];
  for (const [pack, expected] of cases) {
    assert.match(statusesOf(await verifyIntegrity(pack))["artifact_tree_integrity"] ?? "", expected);
  }
});

Deno.test("verifyRunpack() object that claims more than is allowed, or than the budget: nothing is read", async () => {
  let reads = 0;
  const pack = withManifest(PACK, (manifest) => manifest.law.bytes = TEXT_BYTES);
  const source = memorySource(pack);
  const counting = {
    ...source,
    object: (...given: Parameters<typeof source.object>) => (reads++, source.object(...given)),
  };
  const report = await verifyRunpack(counting, { ...INTEGRITY, budget: { bytes_read: 1_000_000 } }, PRIMITIVES);
  assert.equal(statusesOf(report)["artifact_tree_integrity"], "unavailable budget_exhausted");
  assert.equal(reads, 0);
  const beyond = withManifest(PACK, (manifest) => manifest.law.bytes = TEXT_BYTES + 1);
  assert.equal(statusesOf(await verifyIntegrity(beyond))["structural_format_validity"], "violated manifest_invalid");
});

Deno.test("verifyRunpack() source that fails, or never ends: object_unreadable, object_size_mismatch", async () => {
  async function* failing(): AsyncGenerator<Uint8Array> {
    yield await Promise.resolve(new Uint8Array(3));
    throw new Error("gone");
  }
  async function* endless(): AsyncGenerator<Uint8Array> {
    for (;;) yield await Promise.resolve(new Uint8Array(1000));
  }
  const source = memorySource(PACK);
  const read = (object: () => AsyncIterable<Uint8Array>): Promise<VerificationReport> =>
    verifyRunpack({ ...source, object }, INTEGRITY, PRIMITIVES);
  assert.equal(statusesOf(await read(failing))["artifact_tree_integrity"], "violated object_unreadable: law");
  assert.equal(statusesOf(await read(endless))["artifact_tree_integrity"], "violated object_size_mismatch: law");
  const unlisted = { ...source, list: () => failing() as unknown as AsyncGenerator<string> };
  assert.match(
    statusesOf(await verifyRunpack(unlisted, INTEGRITY, PRIMITIVES))["artifact_tree_integrity"] ?? "",
    /^violated/,
  );
});

Deno.test("verifyRunpack() re-checks JSON Schema verdicts where a validator is handed in", async () => {
  const asked: string[] = [];
  const validating = (verdict: "valid" | "invalid" | null): typeof PRIMITIVES => ({
    ...PRIMITIVES,
    validateSchema: (identity) => {
      asked.push(identity);
      return Promise.resolve(verdict);
    },
  });
  const request = { ...INTEGRITY, profile: "full_replay_v1" } as const;
  const agreed = await verifyRunpack(memorySource(PACK), request, validating("valid"));
  assert.deepEqual(agreed.assumptions, []);
  assert.equal(asked.length, 2, "the params of the binding, and the report");
  const denied = statusesOf(await verifyRunpack(memorySource(PACK), request, validating("invalid")));
  assert.match(denied["scenario_law_construction"] ?? "", /^violated law_invalid/);
  const silent = await verifyRunpack(memorySource(PACK), request, validating(null));
  assert.deepEqual(silent.assumptions, ["json_schema_verdict_as_recorded"]);
  assert.deepEqual(silent, await verifyRunpack(memorySource(PACK), request, PRIMITIVES));
});

Deno.test("verifyRunpack() rejects texts that are too deep or too long", async () => {
  for (const line of ["[".repeat(1_000_000), `${"[".repeat(200)}${"]".repeat(200)}`, `"${"a".repeat(17_000_000)}"`]) {
    const pack = forge(RUN, (parts) => parts.recordLines = () => [line]);
    const statuses = statusesOf(await verifyWhole(pack));
    assert.equal(statuses["accepted_history_continuity"], "violated record_invalid: revision 1");
    assert.equal(statuses["pure_semantic_replay"], "unavailable history_broken");
  }
});
