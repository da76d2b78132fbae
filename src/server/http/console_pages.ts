/**
 * The console's page: a document at `/console`, and its script and style sheet. They need no credential, since they are
 * the same for every caller. Data comes from `/mcp` alone, with the caller's own credential.
 */

import type { HttpReply } from "./reply.ts";
import type { HttpRequest } from "./request.ts";

/** The built console. */
export interface ConsoleAssets {
  /** The document; `NONCE` stands for the nonce of the answer. */
  readonly document: string;
  readonly files: readonly ConsoleFile[];
}

/** A script or style sheet of the console. */
export interface ConsoleFile {
  /** The path, which has a hash of the content in it. */
  readonly path: string;
  readonly mediaType: string;
  /** The content in base64 for each content coding. */
  readonly codings: Readonly<Record<Coding, string>>;
}

type Coding = "br" | "gzip" | "identity";

/** Answers a request for a page that needs no credential. */
export type PublicPage = (request: HttpRequest) => HttpReply;

/** The path of the document. */
export const CONSOLE_PATH = "/console";

/** Stands for the nonce in the document. */
export const NONCE_MARK = "NONCE";

/** Header fields of every answer: no other origin can embed, open or read it. */
const ISOLATED = {
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "referrer-policy": "no-referrer",
};

/** The policy of the document. Only its own script and style run, and requests go to this origin alone. */
function policyOf(nonce: string): string {
  return [
    "default-src 'none'",
    `script-src 'nonce-${nonce}'`,
    `style-src 'nonce-${nonce}'`,
    "connect-src 'self'",
    // The icon is empty, so that the browser asks for none.
    "img-src data:",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join("; ");
}

/** The pages of the console by path. */
export function consolePages(assets: ConsoleAssets): ReadonlyMap<string, PublicPage> {
  return new Map([
    [CONSOLE_PATH, (): HttpReply => documentReply(assets)],
    ...assets.files.map((file): [string, PublicPage] => [file.path, filePage(file)]),
  ]);
}

function documentReply({ document }: ConsoleAssets): HttpReply {
  const nonce = crypto.getRandomValues(new Uint8Array(18)).toBase64();
  return {
    status: 200,
    fields: {
      ...ISOLATED,
      "content-type": "text/html; charset=utf-8",
      "cache-control": "no-store",
      "content-security-policy": policyOf(nonce),
      "x-frame-options": "DENY",
      "permissions-policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
    },
    body: document.replaceAll(NONCE_MARK, nonce),
  };
}

function filePage({ path, mediaType, codings }: ConsoleFile): PublicPage {
  const bodies = { br: Uint8Array.fromBase64(codings.br), gzip: Uint8Array.fromBase64(codings.gzip) };
  const identity = Uint8Array.fromBase64(codings.identity);
  return ({ headers }) => {
    const coding = codingOf(headers.get("accept-encoding"));
    const etag = `"${path}${coding === "identity" ? "" : `;${coding}`}"`;
    const fields = {
      ...ISOLATED,
      "content-type": mediaType,
      // The path changes with the content.
      "cache-control": "public, max-age=31536000, immutable",
      vary: "accept-encoding",
      etag,
    };
    if (headers.get("if-none-match") === etag) return { status: 304, fields, body: null };
    if (coding === "identity") return { status: 200, fields, body: identity };
    return { status: 200, fields: { ...fields, "content-encoding": coding }, body: bodies[coding] };
  };
}

/** The best coding that an `Accept-Encoding` names. */
function codingOf(accepted: string | null): Coding {
  const names = (accepted ?? "").toLowerCase().split(",").map((one) => one.trim()).filter((one) =>
    !/;\s*q=0(\.0*)?$/.test(one)
  ).map((one) => one.split(";")[0]);
  return (["br", "gzip"] as const).find((one) => names.includes(one)) ?? "identity";
}
