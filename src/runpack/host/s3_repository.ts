/**
 * A repository in an S3 bucket. The conditional write `If-None-Match: *` prevents overwriting; a store that ignores it
 * is rejected.
 */

import { createHash } from "node:crypto";

import type {
  GetObjectCommandOutput,
  HeadObjectCommandOutput,
  ListObjectsV2CommandOutput,
  S3Client,
} from "@aws-sdk/client-s3";
import { type Identity, isIdentity } from "../../canonical/identity.ts";
import { compareCodePoints } from "../../canonical/order.ts";
import { type HostLookup, isLookedUp } from "../../config/host_lookup.ts";
import type { RunpackStorageConfig } from "../../config/types.ts";
import { objectName } from "../format/archive.ts";
import { MANIFEST_BYTES, SIGNATURE_BYTES, SIGNATURES, type SourceFault } from "../format/types.ts";
import { equalBytes, joinBytes } from "./files.ts";
import { type Repository, RepositoryError, type SignatureFile, type Written } from "./repository.ts";

/** Connection settings; the defaults suit a store on the internet. */
export interface S3Options {
  /** Attempts of one request, retries included. */
  readonly attempts?: number;
  readonly connectMillis?: number;
  /** Time limit until the first byte of an answer. */
  readonly requestMillis?: number;
  /** Time limit of a whole request with all its attempts. */
  readonly overallMillis?: number;
  readonly lookUp?: HostLookup;
  /** Where absent, the SDK reads them from the environment. */
  readonly credentials?: { readonly accessKeyId: string; readonly secretAccessKey: string };
}

const ATTEMPTS = 3;
const CONNECT_MILLIS = 2_000;
const REQUEST_MILLIS = 20_000;
const OVERALL_MILLIS = 60_000;
/** The SDK requires a region; other stores than AWS accept any. */
const DEFAULT_REGION = "us-east-1";
/** The object that tests whether the store honours conditional writes. */
const PROBE_KEY = "conditional-write-probe";
const PROBE_BYTES = new TextEncoder().encode("Written once by gate, to see that it is not written twice\n");

type Sdk = typeof import("@aws-sdk/client-s3");

interface Bucket {
  readonly sdk: Sdk;
  readonly client: S3Client;
  readonly name: string;
  readonly bucket: string;
  readonly prefix: string;
  readonly overallMillis: number;
  /** Waits until the name of the store is looked up. Rejects where that takes too long. */
  readonly findStore: () => Promise<void>;
  probe: Promise<void> | null;
}

/** Opens the repository of `runpack_storage`. Loads the SDK; sends no request yet. */
export async function openS3Repository(config: RunpackStorageConfig, options: S3Options = {}): Promise<Repository> {
  const sdk = await import("@aws-sdk/client-s3");
  const client = new sdk.S3Client({
    region: config.region ?? Deno.env.get("AWS_REGION") ?? DEFAULT_REGION,
    forcePathStyle: config.force_path_style,
    maxAttempts: options.attempts ?? ATTEMPTS,
    // Some stores reject checksums that they do not know. Bytes are checked against their identity in any case.
    requestChecksumCalculation: "WHEN_REQUIRED",
    responseChecksumValidation: "WHEN_REQUIRED",
    requestHandler: {
      connectionTimeout: options.connectMillis ?? CONNECT_MILLIS,
      requestTimeout: options.requestMillis ?? REQUEST_MILLIS,
      throwOnRequestTimeout: true,
    },
    ...config.endpoint === null ? {} : { endpoint: config.endpoint },
    ...options.credentials === undefined ? {} : { credentials: options.credentials },
  });
  const prefix = config.prefix === null || config.prefix === "" ? "" : `${config.prefix.replace(/\/$/, "")}/`;
  const { bucket } = config;
  const overallMillis = options.overallMillis ?? OVERALL_MILLIS;
  const findStore = storeFinder(config, options);
  const name = `the bucket "${bucket}"`;
  return repositoryOf({ sdk, client, bucket, prefix, overallMillis, findStore, name, probe: null });
}

function storeFinder({ endpoint }: RunpackStorageConfig, { connectMillis, lookUp }: S3Options): Bucket["findStore"] {
  // Without an endpoint the SDK derives the name, which is below this one.
  const url = new URL(endpoint ?? "https://s3.amazonaws.com");
  const millis = connectMillis ?? CONNECT_MILLIS;
  return async () => {
    if (await isLookedUp(url, millis, lookUp)) return;
    throw new Error(`the name "${url.hostname}" was not looked up within ${millis} ms`);
  };
}

function repositoryOf(bucket: Bucket): Repository {
  const writable = (): Promise<void> =>
    bucket.probe ??= probe(bucket).catch((error) => {
      bucket.probe = null;
      throw error;
    });
  const write = async (key: string, bytes: Uint8Array): Promise<Written> => {
    await writable();
    return await put(bucket, key, bytes);
  };
  return {
    name: bucket.name,
    putObject: ({ identity, bytes }) => write(objectName(identity), bytes),
    getObject: ({ object, bytes }) => get(bucket, objectName(object), bytes),
    putManifest: (identity, bytes) => write(`manifests/${identity}.json`, bytes),
    getManifest: (identity) => get(bucket, `manifests/${identity}.json`, MANIFEST_BYTES),
    putSignature: (identity, { keyId, bytes }) => write(`signatures/${identity}/${keyId}.json`, bytes),
    getSignatures: (identity) => getSignatures(bucket, identity),
    ready: () => probe(bucket),
    close: () => bucket.client.destroy(),
  };
}

/** Sends one request with a time limit: a store may start an answer and never finish it. */
async function within<T>(
  { overallMillis, findStore }: Bucket,
  ask: (abort: AbortController) => Promise<T>,
): Promise<T> {
  await findStore();
  const abort = new AbortController();
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    reject(new Error(`the answer took longer than ${overallMillis} ms`));
    abort.abort();
  }, overallMillis);
  try {
    return await Promise.race([ask(abort), late]);
  } finally {
    clearTimeout(timer);
  }
}

/** The HTTP status of a rejection; null where the store was not reached. */
function statusOf(error: unknown): number | null {
  if (typeof error !== "object" || error === null || !("$metadata" in error)) return null;
  const metadata = error.$metadata;
  if (typeof metadata !== "object" || metadata === null || !("httpStatusCode" in metadata)) return null;
  return typeof metadata.httpStatusCode === "number" ? metadata.httpStatusCode : null;
}

function unavailable({ name }: Bucket, doing: string, error: unknown): RepositoryError {
  const why = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  return new RepositoryError("unavailable", `Cannot ${doing} ${name}: ${why.replaceAll(/\s+/g, " ").slice(0, 500)}`, {
    cause: error,
  });
}

function unsupported({ name }: Bucket, why: string): RepositoryError {
  const message = `Cannot publish to ${name}: ${why}, so a runpack there could be overwritten; use a store with ` +
    "conditional writes (If-None-Match)";
  return new RepositoryError("unsupported", message);
}

/** Retries of a write that conflicts with another one. */
const CONFLICTS = 4;

/** A conditional write: returns whether it was done, or the key existed. */
async function conditionalPut(bucket: Bucket, key: string, bytes: Uint8Array): Promise<Written> {
  const input = {
    Bucket: bucket.bucket,
    Key: `${bucket.prefix}${key}`,
    Body: bytes,
    ContentLength: bytes.length,
    IfNoneMatch: "*",
    ContentType: key.endsWith(".json") ? "application/json" : "application/octet-stream",
  };
  for (let attempt = 1;; attempt++) {
    try {
      const command = new bucket.sdk.PutObjectCommand(input);
      await within(bucket, ({ signal: abortSignal }) => bucket.client.send(command, { abortSignal }));
      return "written";
    } catch (error) {
      const status = statusOf(error);
      if (status === 412) return "exists";
      if (status === 501) throw unsupported(bucket, "it refuses conditional writes");
      // 409 means that another write of that key is in progress. The next attempt shows its result.
      if (status !== 409 || attempt === CONFLICTS) throw unavailable(bucket, "write to", error);
    }
  }
}

/** Checks that a second write of one key is rejected. Writes at most one small object, once. */
async function probe(bucket: Bucket): Promise<void> {
  if (await conditionalPut(bucket, PROBE_KEY, PROBE_BYTES) === "exists") return;
  if (await conditionalPut(bucket, PROBE_KEY, PROBE_BYTES) === "exists") return;
  throw unsupported(bucket, "it ignores conditional writes");
}

async function put(bucket: Bucket, key: string, bytes: Uint8Array): Promise<Written> {
  const before = await head(bucket, key);
  if (before === "missing" && await conditionalPut(bucket, key, bytes) === "written") return "written";
  const found = before === "missing" ? await head(bucket, key) : before;
  if (found !== "missing" && await isSame(bucket, key, found, bytes)) return "exists";
  throw new RepositoryError(
    "integrity_failure",
    `Cannot publish to ${bucket.name}: "${key}" exists and holds other bytes`,
  );
}

async function head(bucket: Bucket, key: string): Promise<HeadObjectCommandOutput | "missing"> {
  try {
    const input = { Bucket: bucket.bucket, Key: `${bucket.prefix}${key}` };
    const command = new bucket.sdk.HeadObjectCommand(input);
    return await within(bucket, ({ signal: abortSignal }) => bucket.client.send(command, { abortSignal }));
  } catch (error) {
    if (statusOf(error) === 404) return "missing";
    throw unavailable(bucket, "read", error);
  }
}

/** The ETag of an object written in one piece is the MD5 of its bytes. Where it differs, the bytes are compared. */
async function isSame(
  bucket: Bucket,
  key: string,
  { ContentLength, ETag }: HeadObjectCommandOutput,
  bytes: Uint8Array,
): Promise<boolean> {
  if (ContentLength !== bytes.length) return false;
  if (ETag === `"${createHash("md5").update(bytes).digest("hex")}"`) return true;
  const found = await get(bucket, key, bytes.length);
  return typeof found !== "string" && equalBytes(found, bytes);
}

async function get(bucket: Bucket, key: string, maximumBytes: number): Promise<Uint8Array | SourceFault> {
  try {
    return await within(bucket, async (abort) => {
      const input = { Bucket: bucket.bucket, Key: `${bucket.prefix}${key}` };
      try {
        const command = new bucket.sdk.GetObjectCommand(input);
        return await readBody(await bucket.client.send(command, { abortSignal: abort.signal }), maximumBytes);
      } finally {
        abort.abort();
      }
    });
  } catch (error) {
    if (statusOf(error) === 404) return "missing";
    throw unavailable(bucket, "read", error);
  }
}

async function readBody({ Body }: GetObjectCommandOutput, maximumBytes: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let left = maximumBytes + 1;
  for await (const chunk of (Body ?? []) as AsyncIterable<Uint8Array>) {
    // A longer answer is cut off here.
    chunks.push(new Uint8Array(chunk.subarray(0, left)));
    left -= chunk.length;
    if (left <= 0) break;
  }
  return joinBytes(chunks);
}

async function getSignatures(bucket: Bucket, identity: Identity): Promise<readonly SignatureFile[]> {
  const folder = `signatures/${identity}/`;
  let listed: ListObjectsV2CommandOutput;
  try {
    const input = { Bucket: bucket.bucket, Prefix: `${bucket.prefix}${folder}`, MaxKeys: SIGNATURES };
    const command = new bucket.sdk.ListObjectsV2Command(input);
    listed = await within(bucket, ({ signal: abortSignal }) => bucket.client.send(command, { abortSignal }));
  } catch (error) {
    throw unavailable(bucket, "list", error);
  }
  const names = (listed.Contents ?? []).map(({ Key = "" }) => Key.slice(bucket.prefix.length + folder.length));
  const found: SignatureFile[] = [];
  for (const name of names.sort(compareCodePoints)) {
    const keyId = name.replace(/\.json$/, "");
    if (!isIdentity(keyId) || name === keyId) continue;
    const bytes = await get(bucket, `${folder}${name}`, SIGNATURE_BYTES);
    if (typeof bytes !== "string" && bytes.length <= SIGNATURE_BYTES) found.push({ keyId, bytes });
  }
  return found;
}
