/**
 * The files of the console's page. A release has them in `assets.json` beside this module; a checkout bundles them when
 * a server with the console starts.
 */

import { brotliCompressSync, gzipSync } from "node:zlib";
import { isJsonObject, member } from "../canonical/json.ts";
import { encodeBase64 } from "../canonical/base64.ts";
import { parseJson } from "../canonical/scan.ts";
import { sha256 } from "../evidence/host_primitives.ts";
import { bundleScript } from "../runpack/browser/build.ts";
import type { ConsoleAssets, ConsoleFile } from "../server/http/console_pages.ts";
import { appDocument, consoleDocument } from "./document.ts";
import { CONSOLE_STYLE } from "./style.ts";

/** The built files of a release. */
const BUILT = new URL("./assets.json", import.meta.url);

/**
 * The files of the page.
 *
 * @throws {Error} If there are no built files, and the bundler fails
 */
export async function readConsoleAssets(): Promise<ConsoleAssets> {
  const text = await Deno.readTextFile(BUILT).catch((error) => {
    if (error instanceof Deno.errors.NotFound) return null;
    throw error;
  });
  if (text === null && Deno.build.standalone) {
    throw new Error("Cannot serve the console: this program was compiled without it, deno task compile adds it");
  }
  if (text === null) return await buildConsoleAssets();
  const parsed = parseJson(text);
  if (parsed.ok) return parsed.value as unknown as ConsoleAssets;
  throw new Error(`Cannot read the console's files: ${parsed.fault.message}`);
}

/**
 * The document of the run view in clients that show MCP Apps.
 *
 * @throws {Error} If there are no built files, and the bundler fails
 */
export async function readRunApp(): Promise<string> {
  const built = await Deno.readTextFile(BUILT).catch(() => null);
  const parsed = built === null ? null : parseJson(built);
  const app = parsed?.ok === true && isJsonObject(parsed.value) ? member(parsed.value, "app") : undefined;
  return typeof app === "string" ? app : await buildRunApp();
}

/** Bundles the run view of this checkout. */
async function buildRunApp(): Promise<string> {
  return appDocument(sha256, await bundleScript(new URL("./run_app.ts", import.meta.url)));
}

/** Every page of a release: the console, and the run view of clients. */
export async function buildPages(): Promise<ConsoleAssets & { readonly app: string }> {
  const [console, app] = await Promise.all([buildConsoleAssets(), buildRunApp()]);
  return { ...console, app };
}

/** Bundles the page of this checkout. */
async function buildConsoleAssets(): Promise<ConsoleAssets> {
  const script = fileOf(
    "js",
    "text/javascript; charset=utf-8",
    await bundleScript(new URL("./page.ts", import.meta.url)),
  );
  const style = fileOf("css", "text/css; charset=utf-8", CONSOLE_STYLE);
  return { document: consoleDocument(script.path, style.path), files: [script, style] };
}

function fileOf(ending: string, mediaType: string, text: string): ConsoleFile {
  const bytes = new TextEncoder().encode(text);
  const codings = { br: brotliCompressSync(bytes), gzip: gzipSync(bytes, { level: 9 }), identity: bytes };
  return {
    path: `/console/console-${sha256(bytes).slice(0, 16)}.${ending}`,
    mediaType,
    codings: {
      br: encodeBase64(codings.br),
      gzip: encodeBase64(codings.gzip),
      identity: encodeBase64(codings.identity),
    },
  };
}
