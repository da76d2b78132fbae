/**
 * The runtime profile of a typed provider: how to ask a service for the checks of a contract.
 *
 * @module
 */

import type { Identity } from "../../canonical/identity.ts";
import type { LoadedContract } from "../types.ts";

/** Names a credential or a file, never its content: `file://NAME` below the credentials folder, or `env://NAME`. */
export type Locator = string;

/** Members that the profiles of both protocols have. */
export interface ProfileBase {
  readonly profile_version: "1";
  readonly tls: {
    /** PEM certificates to trust in place of the system's. */
    readonly ca: Locator | null;
    readonly client: { readonly certificate: Locator; readonly key: Locator } | null;
  };
  readonly limits: {
    /** Milliseconds of one check, 1 to 30000. */
    readonly timeout_ms: number;
    /** Bytes of the body of one response, 1 to 16 MiB. */
    readonly max_response_bytes: number;
  };
}

/** Where in the imported document an operation comes from. */
export interface OperationSource {
  /** An operation id, a method and path, or the full name of a method. */
  readonly operation: string;
  /** JSON pointer into the document; empty where the document has none. */
  readonly pointer: string;
}

/** How one value of a check's params becomes a part of a request. */
export interface OperationParameter {
  /** The name in the request. */
  readonly name: string;
  readonly in: "path" | "query" | "header";
  /** The member of the check's params. */
  readonly param: string;
  readonly style: ParameterStyle;
  readonly explode: boolean;
}

/** The serialisation of an array or an object (OpenAPI 3, Parameter Object). */
export type ParameterStyle = "simple" | "label" | "matrix" | "form" | "spaceDelimited" | "pipeDelimited";

/** One HTTP request of a check. */
export interface HttpOperation {
  /** In upper case. */
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Begins with `/`; `{name}` stands for a path parameter. */
  readonly path_template: string;
  readonly parameters: readonly OperationParameter[];
  readonly body: { readonly param: string; readonly content_type: "application/json" } | null;
  /** Value of the header `Accept`. */
  readonly accept: string;
  readonly expected_status: readonly number[];
  /** JSON pointer to the result in the response; null for the whole response. */
  readonly result_pointer: string | null;
  readonly source: OperationSource;
}

/** A credential of HTTP requests. The content of a `basic` credential is `user:password`. */
export type HttpCredential =
  | { readonly kind: "bearer" | "basic"; readonly locator: Locator }
  | { readonly kind: "api_key"; readonly header: string; readonly locator: Locator };

/** The profile of an HTTP service. */
export interface OpenApiHttpProfile extends ProfileBase {
  readonly typed_protocol: "openapi_http";
  /** An http or https URL without user information, query and fragment. */
  readonly base_url: string;
  readonly credentials: readonly HttpCredential[];
  /** By `check_id`. */
  readonly operations: { readonly [check_id: string]: HttpOperation };
}

/** One gRPC call of a check. */
export interface GrpcOperation {
  /** Full name, without a leading dot. */
  readonly service: string;
  readonly method: string;
  /** Member names from the response's JSON form to the result; null for the whole response. */
  readonly result_path: readonly string[] | null;
  readonly source: OperationSource;
}

/** A credential of gRPC calls. The content of a `basic` credential is `user:password`. */
export type GrpcCredential =
  | { readonly kind: "bearer" | "basic"; readonly locator: Locator }
  | { readonly kind: "metadata"; readonly name: string; readonly locator: Locator };

/** The profile of a gRPC service. */
export interface GrpcProfile extends ProfileBase {
  readonly typed_protocol: "grpc";
  /** `host:port`, an IPv6 address in brackets. */
  readonly endpoint: string;
  /** Whether to connect without TLS. */
  readonly plaintext: boolean;
  /** Replaces the endpoint as `:authority`, for SNI and for the check of the certificate's name. */
  readonly authority: string | null;
  readonly credentials: readonly GrpcCredential[];
  /** A `FileDescriptorSet` with the files that the operations need. */
  readonly descriptor_set_base64: string;
  /** By `check_id`. */
  readonly operations: { readonly [check_id: string]: GrpcOperation };
}

/** A runtime profile. */
export type RuntimeProfile = OpenApiHttpProfile | GrpcProfile;

/** A contract and its profile with their identities: one version of a typed provider. */
export interface TypedVersion {
  readonly loaded: LoadedContract;
  readonly profile: RuntimeProfile;
  /** Kind `runtime-profile`. */
  readonly profile_identity: Identity;
  /** Kind `provider-version`, over `{contract, profile}`. */
  readonly provider_version_identity: Identity;
}
