/**
 * The documents of a release: bill of materials, entry of the registry of MCP servers, and formula.
 *
 * @module
 */

import { VERSION } from "../../src/config/product_version.ts";
import type { PackageFile } from "./archives.ts";
import { DESCRIPTION, digestOf, NPM_NAME, SERVER_NAME } from "./packages.ts";
import type { Dependency } from "./program.ts";

function json(path: string, value: unknown): PackageFile {
  return { path, bytes: new TextEncoder().encode(`${JSON.stringify(value, null, 2)}\n`) };
}

/** The bill of materials (CycloneDX 1.6): the versions of the runtime, and every package that the program holds. */
export function billOfMaterials(dependencies: readonly Dependency[], runtimes: readonly string[]): PackageFile {
  const root = `pkg:generic/gate@${VERSION}`;
  const packages = dependencies.map(({ name, version }) => {
    const [scope, bare] = name.startsWith("@") ? name.slice(1).split("/") : [undefined, name];
    const purl = `pkg:npm/${scope === undefined ? "" : `%40${scope}/`}${bare}@${version}`;
    const grouped = scope === undefined ? {} : { group: `@${scope}` };
    return { type: "library", "bom-ref": purl, ...grouped, name: bare, version, purl };
  });
  const platforms = runtimes.map((version) => {
    const purl = `pkg:npm/deno@${version}`;
    return { type: "platform", "bom-ref": purl, name: "deno", version, purl };
  });
  return json("sbom.cdx.json", {
    $schema: "http://cyclonedx.org/schema/bom-1.6.schema.json",
    bomFormat: "CycloneDX",
    specVersion: "1.6",
    version: 1,
    metadata: {
      component: {
        type: "application",
        "bom-ref": root,
        name: "gate",
        version: VERSION,
        description: DESCRIPTION,
        licenses: [{ license: { id: "Apache-2.0" } }],
        purl: root,
      },
    },
    components: [...platforms, ...packages],
    dependencies: [{ ref: root, dependsOn: [...platforms, ...packages].map((one) => one["bom-ref"]) }],
  });
}

/** How clients start the npm package: what it accepts is kept in a folder that the user names. */
const PACKAGE_ARGUMENTS = [
  { type: "positional", value: "serve" },
  {
    type: "named",
    name: "--data-dir",
    description: "Folder where gate keeps its runs and runpacks",
    format: "filepath",
    isRequired: true,
    value: "{data_folder}",
    variables: {
      data_folder: { description: "Data folder, such as /srv/gate", format: "filepath", isRequired: true },
    },
  },
];

/** The entry for registries of MCP servers (schema 2025-09-29): the npm package, and each bundle for desktop clients. */
export function serverEntry(bundles: readonly PackageFile[], downloads: string): PackageFile {
  const transport = { type: "stdio" };
  const npm = { registryType: "npm", identifier: NPM_NAME, version: VERSION, runtimeHint: "npx", transport };
  const others = bundles.map(({ path, bytes }) => ({
    registryType: "mcpb",
    identifier: `${downloads}/${path}`,
    version: VERSION,
    fileSha256: digestOf(bytes),
    transport,
  }));
  return json("server.json", {
    $schema: "https://static.modelcontextprotocol.io/schemas/2025-09-29/server.schema.json",
    name: SERVER_NAME,
    description: DESCRIPTION,
    version: VERSION,
    packages: [{ ...npm, packageArguments: PACKAGE_ARGUMENTS }, ...others],
  });
}

/** The formula for Homebrew: the archive of the reader's platform. */
export function formula(archives: readonly PackageFile[], downloads: string): PackageFile {
  const block = (os: string, part: string): readonly string[] => {
    const lines = (["arm64", "x64"] as const).flatMap((cpu) => {
      const archive = archives.find(({ path }) => path === `gate-${VERSION}-${part}-${cpu}.tar.gz`);
      if (archive === undefined) return [];
      const [url, digest] = [`${downloads}/${archive.path}`, digestOf(archive.bytes)];
      const on = cpu === "arm64" ? "on_arm" : "on_intel";
      return [`    ${on} do`, `      url "${url}"`, `      sha256 "${digest}"`, "    end"];
    });
    return lines.length === 0 ? [] : [`  on_${os} do`, ...lines, "  end", ""];
  };
  const text = [
    "class Gate < Formula",
    `  desc "${DESCRIPTION.slice(0, 79)}"`,
    `  version "${VERSION}"`,
    '  license "Apache-2.0"',
    "",
    ...block("macos", "darwin"),
    ...block("linux", "linux"),
    "  def install",
    '    prefix.install "bin", "lib"',
    "  end",
    "",
    "  test do",
    '    assert_match version.to_s, shell_output("#{bin}/gate --version")',
    "  end",
    "end",
    "",
  ];
  return { path: "gate.rb", bytes: new TextEncoder().encode(text.join("\n")) };
}
