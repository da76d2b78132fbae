/** The worker that imports gRPC services from outside. It has no permission. */

import { serveImports } from "../serve_imports.ts";
import { type GrpcSource, importGrpc } from "./import_grpc.ts";

/** `.proto` texts that import each other by their paths, or the wire form of a `FileDescriptorSet`. */
export type GrpcImportSource = { readonly kind: "grpc" } & GrpcSource;

serveImports<GrpcImportSource>(importGrpc);
