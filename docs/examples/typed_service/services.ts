/**
 * The two services of the example: builds over HTTP, approvals over gRPC. Both ask for a token.
 *
 * @module
 */

import { createServer, type ServerHttp2Stream } from "node:http2";
import type { AddressInfo } from "node:net";
import protobuf from "npm:protobufjs@8.8.1";

/** A running service. */
export interface Service {
  readonly port: number;
  readonly close: () => Promise<void>;
}

/** The builds that the HTTP service knows. */
const BUILDS: Readonly<Record<string, unknown>> = {
  "17": { id: "17", state: "passed", tests: { run: 412, failed: 0 } },
  "18": { id: "18", state: "failed", tests: { run: 412, failed: 3 } },
};

/** Serves `builds.openapi.json` on a free port of this machine. */
export function serveBuilds(token: string): Service {
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, (request) => {
    if (request.headers.get("authorization") !== `Bearer ${token}`) return Response.json({}, { status: 401 });
    const [, id = ""] = /^\/api\/builds\/([^/]+)$/.exec(new URL(request.url).pathname) ?? [];
    const build = Object.hasOwn(BUILDS, id) ? BUILDS[id] : undefined;
    return build === undefined ? Response.json({}, { status: 404 }) : Response.json(build);
  });
  return { port: server.addr.port, close: () => server.shutdown() };
}

/** The approvals that the gRPC service knows, by change. */
const APPROVALS: Readonly<Record<string, number>> = { "42": 2, "43": 0 };

/** Status codes of gRPC. */
const STATUS = { ok: 0, notFound: 5, unauthenticated: 16 };

/** Serves `approvals.proto` without TLS on a free port of this machine. */
export async function serveApprovals(token: string): Promise<Service> {
  const file = await Deno.readTextFile(new URL("approvals.proto", import.meta.url));
  const { root } = protobuf.parse(file);
  const change = root.lookupType("approvals.v1.Change");
  const counted = root.lookupType("approvals.v1.Counted");
  const server = createServer();
  server.on("stream", (stream: ServerHttp2Stream, headers) => {
    const parts: Uint8Array[] = [];
    stream.on("data", (part: Uint8Array) => parts.push(part));
    stream.on("error", () => stream.destroy());
    stream.on("end", () => {
      if (headers["authorization"] !== `Bearer ${token}`) return answer(stream, STATUS.unauthenticated);
      // A message has five bytes before it: whether it is compressed, and its length.
      const { id } = change.decode(joined(parts).subarray(5)) as unknown as { readonly id: string };
      const approvals = Object.hasOwn(APPROVALS, id) ? APPROVALS[id] : undefined;
      if (approvals === undefined) return answer(stream, STATUS.notFound);
      answer(stream, STATUS.ok, counted.encode({ approvals }).finish());
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return { port, close: () => new Promise((resolve) => void server.close(() => resolve())) };
}

function joined(parts: readonly Uint8Array[]): Uint8Array {
  const all = new Uint8Array(parts.reduce((bytes, part) => bytes + part.length, 0));
  parts.reduce((at, part) => (all.set(part, at), at + part.length), 0);
  return all;
}

/** Answers with a message, if there is one, and the status in the trailers. */
function answer(stream: ServerHttp2Stream, status: number, message?: Uint8Array): void {
  stream.respond({ ":status": 200, "content-type": "application/grpc" }, { waitForTrailers: true });
  stream.on("wantTrailers", () => stream.sendTrailers({ "grpc-status": String(status) }));
  if (message === undefined) return void stream.end();
  const framed = new Uint8Array(5 + message.length);
  new DataView(framed.buffer).setUint32(1, message.length);
  framed.set(message, 5);
  stream.end(framed);
}
