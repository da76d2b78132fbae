/** Selects a value from a JSON body, as the worker of `rest` does. */

import { type Selection, selectJson } from "../json_path/json_path.ts";
import { readJsonDocument } from "./json_document.ts";

/** A body with the query that selects from it. */
export interface SelectQuestion {
  readonly body: Uint8Array<ArrayBuffer>;
  readonly jsonpath: string;
  /** URL of the body, for the details of errors. */
  readonly url: string;
}

/** What the query finds in the body. */
export function selectInBody({ body, jsonpath, url }: SelectQuestion): Selection {
  const read = readJsonDocument(body, { url });
  return "error" in read ? read : selectJson(read.document, jsonpath);
}
