/** The reader of `.proto` texts against `protoc`: what it reads of public texts, and of texts with random changes. */

import assert from "node:assert/strict";
import { join } from "node:path";
import { fromBinary, toBinary } from "@bufbuild/protobuf";
import { type DescriptorProto, FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import fc from "../../packages/fast_check.ts";
import { GRPC_LIMITS } from "../../../src/evidence/typed/grpc/limits.ts";
import { importGrpc } from "../../../src/evidence/typed/grpc/import_grpc.ts";
import type { ProtoText } from "../../../src/evidence/typed/grpc/proto_source.ts";
import type { ImportResult, ImportSelection } from "../../../src/evidence/typed/import_result.ts";
import { inFolder } from "../../e2e/gate_command.ts";
import { EVERY_KIND } from "../../simulation/grpc_service.ts";
import { fetchPart, type PublicDocument } from "../openapi/packages.ts";
import { type Shapes, shapesOfGate, shapesOfSet } from "./shapes.ts";

/**
 * A package with `.proto` files, the folders in it that their imports begin at, and at least how many files it has. Each test
 * takes every so many of them, with what they import; 1 takes all, in four minutes.
 */
const PACKAGES: readonly {
  readonly of: PublicDocument;
  readonly roots: readonly string[];
  readonly files: number;
  readonly every: number;
}[] = [
  {
    of: {
      specifier: "google-proto-files@6.0.1",
      integrity: "sha512-fbvUWVNh3rKGlVFWwlUNF7Sk1Tah0a89q02rLTXsWjbKKHGeuURAa8tl9rvu5TyWny1YiSIo5eDqF260Tai6vQ==",
      path: "google",
    },
    roots: [".."],
    files: 7000,
    every: 12,
  },
  {
    of: {
      specifier: "@grpc/grpc-js-xds@1.14.1",
      integrity: "sha512-F2mVXwEeMWw1znPUrp+8ykjsIOVnf7Rv+EyIvXOfz73w5tNolCnzokpLkE/d2Ehx30PJmZXqCQdMpx8DcBJohA==",
      path: "deps",
    },
    roots: ["envoy-api", "googleapis", "protoc-gen-validate", "xds"],
    files: 500,
    every: 4,
  },
];

/** The descriptor set of files and of what they import, or what `protoc` says against them. */
async function compile(roots: readonly string[], paths: readonly string[]): Promise<Uint8Array<ArrayBuffer> | string> {
  const set = await Deno.makeTempFile({ prefix: "gate_protoc_" });
  try {
    const args = [...roots.map((root) => `-I${root}`), "--include_imports", `--descriptor_set_out=${set}`, ...paths];
    const { code, stderr } = await new Deno.Command("protoc", { args, stdin: "null" }).output();
    return code === 0 ? await Deno.readFile(set) : new TextDecoder().decode(stderr);
  } finally {
    await Deno.remove(set);
  }
}

/** Every `.proto` file under the roots, by the path under which others import it; the first root with a path counts. */
async function readTexts(roots: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>();
  const visit = async (root: string, inside: string): Promise<void> => {
    for await (const { name, isDirectory } of Deno.readDir(join(root, inside))) {
      const path = inside === "" ? name : `${inside}/${name}`;
      if (isDirectory) await visit(root, path);
      else if (name.endsWith(".proto") && !found.has(path)) found.set(path, await Deno.readTextFile(join(root, path)));
    }
  };
  for (const root of roots) await visit(root, "");
  return found;
}

/** Files, and every file that they import, directly or not; the well-known ones are those of both sides. */
function withImports(texts: ReadonlyMap<string, string>, paths: readonly string[]): readonly ProtoText[] {
  const found = new Map<string, string>();
  const waiting = [...paths];
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    const text = texts.get(path);
    if (text === undefined || found.has(path) || path.startsWith("google/protobuf/")) continue;
    found.set(path, text);
    for (const [, imported = ""] of text.matchAll(/^\s*import\s+(?:public\s+|weak\s+)?"([^"]+)"\s*;/gm)) {
      waiting.push(imported);
    }
  }
  return [...found].map(([path, text]) => ({ path, text }));
}

/** Contract, profile and candidates, without comments, and without the order of the files. */
function comparable(result: ImportResult): string {
  const candidates = result.candidates.toSorted((a, b) => a.operation < b.operation ? -1 : 1);
  if (!result.ok) return JSON.stringify([result.code, candidates]);
  const checks = result.contract.checks.map((check) => ({ ...check, description: "" }));
  const { profile } = result;
  if (profile.typed_protocol !== "grpc") return "";
  const set = fromBinary(FileDescriptorSetSchema, Uint8Array.fromBase64(profile.descriptor_set_base64));
  for (const { messageType } of set.file) messageType.forEach(sortNested);
  const descriptors = toBinary(FileDescriptorSetSchema, set).toBase64();
  return JSON.stringify([checks, { ...profile, descriptor_set_base64: descriptors }, candidates]);
}

/** The order of nested types has no meaning, and protobufjs does not keep it where entries of maps are among them. */
function sortNested({ nestedType }: DescriptorProto): void {
  nestedType.sort((a, b) => a.name < b.name ? -1 : 1);
  nestedType.forEach(sortNested);
}

function bytesOf(texts: readonly ProtoText[]): number {
  return texts.reduce((sum, { text }) => sum + text.length, 0);
}

const OPTIONS = { provider_id: "public", server_url: "grpc.example.test:443" };

/** The checks that one contract may have. */
function someOf({ candidates }: ImportResult): { readonly selection: readonly ImportSelection[] } {
  const usable = candidates.filter((one) => one.usable);
  return { selection: usable.slice(0, 20).map(({ operation }) => ({ operation })) };
}

const BATCH = 250;
/** Of each batch: files that need another version of a file than the package has. */
const REFUSED_MAXIMUM = 125;

/** Compiles what `protoc` accepts of some files, and removes the others from the list. */
async function compileMost(roots: readonly string[], paths: string[]): Promise<Uint8Array<ArrayBuffer>> {
  const all = paths.length;
  for (;;) {
    const set = await compile(roots, paths);
    if (typeof set !== "string") return set;
    const refused = new Set([...set.matchAll(/^([\w/.-]+\.proto):(?!.*: warning: )/gm)].map(([, path]) => path));
    const kept = paths.filter((path) => !refused.has(path));
    assert.ok(kept.length < paths.length && kept.length >= all - REFUSED_MAXIMUM, set);
    paths.splice(0, paths.length, ...kept);
  }
}

for (const { of, roots: inside, files, every } of PACKAGES) {
  Deno.test(`every ${every}th text of ${of.specifier} gives descriptors, contract and profile of protoc's set`, () =>
    inFolder(async (folder) => {
      const part = await fetchPart(of, folder);
      const roots = inside.map((root) => join(part, root));
      const texts = await readTexts(roots);
      const paths = [...texts.keys()].filter((path) => !path.startsWith("google/protobuf/")).sort();
      assert.ok(paths.length >= files, `${paths.length} files`);
      const taken = paths.filter((_, index) => index % every === 0);
      let checks = 0;
      let types = 0;
      for (let at = 0; at < taken.length;) {
        const some = taken.slice(at, at + BATCH);
        while (some.length > 1 && bytesOf(withImports(texts, some)) > GRPC_LIMITS.textBytes) {
          some.splice(some.length / 2);
        }
        at += some.length;
        const set = await compileMost(roots, some);
        const proto = withImports(texts, some);
        const expected = shapesOfSet(set);
        types += expected.size;
        assertSame(shapesOfGate(proto, typesIn(expected)), expected);
        const whole = importGrpc({ descriptor_set: new Uint8Array(set) }, OPTIONS);
        const selected = { ...OPTIONS, ...someOf(whole) };
        if (selected.selection.length === 0) continue;
        const ofSet = importGrpc({ descriptor_set: new Uint8Array(set) }, selected);
        checks += ofSet.ok ? ofSet.contract.checks.length : 0;
        const ofTexts = importGrpc({ proto }, selected);
        // Equal texts, because a difference of objects as large as these takes minutes to print.
        assert.ok(comparable(ofTexts) === comparable(ofSet), `${some[0]} and the ${some.length} files after it`);
      }
      console.log(`${of.specifier}: ${taken.length} files, ${types} types and methods, ${checks} checks of both sides`);
    }));
}

/** Names the first type or method that differs. */
function assertSame(read: Shapes | string, expected: Shapes): void {
  if (typeof read === "string") assert.fail(read);
  for (const [name, shape] of expected) assert.equal(read.get(name), shape, name);
  assert.equal(read.size, expected.size);
}

/** The names of types: methods have a slash. */
function typesIn(shapes: Shapes): readonly string[] {
  return [...shapes.keys()].filter((name) => !name.includes("/"));
}

/** What `protoc` refuses and gate does not: faults that change no message, each with the words of `protoc`. */
const ACCEPTED: readonly (readonly [why: string, words: RegExp])[] = [
  ["options are not checked against their declarations", /[Oo]ption "/],
  ["more texts are values of options", /Expected (?:option value|"="|identifier)/],
];

/** Parts that a change puts into a text. */
const PARTS = [
  ..."{}[]()<>;=,.-\"'/".split(""),
  ...["message", "enum", "oneof", "map<string, int64>", "option", "rpc", "returns", "stream", "group", "extend"],
  ...["reserved", "extensions", "repeated", "optional", "required", "import", "public", "package", "syntax"],
  ...["//", "/*", "*/", "0", "1", "-1", "0x10", "017", "19000", "536870912", "1.5e3", "max", "to", "Every", ".every"],
  ...["json_name", "packed", "deprecated", "true", "\\x41", "\n", "\u00e9", "\u0000", "int32", "string"],
];

Deno.test("protoc and gate read texts with random changes alike, or gate names why", () =>
  inFolder(async (folder) => {
    const counts = new Map<string, number>();
    const count = (what: string): void => void counts.set(what, (counts.get(what) ?? 0) + 1);
    const change = fc.record({
      at: fc.nat(),
      cut: fc.nat({ max: 3 }),
      part: fc.oneof(fc.constantFrom("", ...PARTS), fc.nat()),
    });
    const [file, color] = EVERY_KIND;
    assert.ok(file !== undefined && color !== undefined);
    await Deno.mkdir(join(folder, "every"));
    await Deno.writeTextFile(join(folder, color.path), color.text);
    await fc.assert(
      fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 2 }), async (changes) => {
        const tokens = file.text.match(/\w+|\s+|./gs) ?? [];
        for (const { at, cut, part } of changes) {
          tokens.splice(at % tokens.length, cut, typeof part === "string" ? part : tokens[part % tokens.length] ?? "");
        }
        const text = tokens.join("");
        await Deno.writeTextFile(join(folder, file.path), text);
        const set = await compile([folder], [file.path]);
        const proto = [{ path: file.path, text }, color];
        if (typeof set !== "string") {
          const expected = shapesOfSet(set);
          const got = shapesOfGate(proto, typesIn(expected));
          if (typeof got === "string") return count("refused by gate alone");
          assertSame(got, expected);
          return count("read by both");
        }
        const read = shapesOfGate(proto, ["every.kind.v1.Every"]);
        if (typeof read === "string") return count("refused by both");
        const why = ACCEPTED.find(([, words]) => words.test(set))?.[0];
        assert.ok(why !== undefined, `${set}\n${JSON.stringify(changes)}`);
        count(why);
      }),
      { numRuns: 400 },
    );
    assert.ok((counts.get("refused by gate alone") ?? 0) * 10 <= (counts.get("read by both") ?? 0), "few are refused");
    console.log([...counts].map(([what, times]) => `${times} ${what}`).join("; "));
  }));
