/** The worker of the provider `json`. Its only permission is to read below its root. */

import { serveQuestions } from "../sandbox/worker_bootstrap.ts";
import type { EvidenceQuery } from "../types.ts";
import { checkJsonFile, type JsonAnswer, type JsonSetup } from "./json_file.ts";

serveQuestions<JsonSetup, EvidenceQuery, JsonAnswer>((setup) => (query) => checkJsonFile(setup, query));
