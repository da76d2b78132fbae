/**
 * The worker that takes values out of the JSON bodies that `rest` received. It has no permission: what reads a body never
 * holds a connection, and what holds a connection never reads a body.
 *
 * @module
 */

import { serveQuestions } from "../sandbox/worker_bootstrap.ts";
import { readJsonDocument } from "./json_document.ts";
import { type Selection, selectJson } from "../json_path/json_path.ts";

/** What the worker is asked. */
export interface SelectQuestion {
  readonly body: Uint8Array<ArrayBuffer>;
  readonly jsonpath: string;
  /** Where the body comes from, for the details of errors. */
  readonly url: string;
}

serveQuestions<null, SelectQuestion, Selection>(() => ({ body, jsonpath, url }) => {
  const read = readJsonDocument(body, { url });
  return "error" in read ? read : selectJson(read.document, jsonpath);
});
