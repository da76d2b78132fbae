/**
 * The worker that selects values from the JSON bodies that `rest` received. It has no permission: the worker that parses a body
 * holds no connection, and the worker that holds a connection parses no body.
 *
 * @module
 */

import { serveQuestions } from "../sandbox/worker_bootstrap.ts";
import { readJsonDocument } from "./json_document.ts";
import { type Selection, selectJson } from "../json_path/json_path.ts";

/** A question to the worker. */
export interface SelectQuestion {
  readonly body: Uint8Array<ArrayBuffer>;
  readonly jsonpath: string;
  /** URL of the body, for the details of errors. */
  readonly url: string;
}

serveQuestions<null, SelectQuestion, Selection>(() => ({ body, jsonpath, url }) => {
  const read = readJsonDocument(body, { url });
  return "error" in read ? read : selectJson(read.document, jsonpath);
});
