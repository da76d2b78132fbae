/**
 * The worker that selects values from the JSON bodies that `rest` received. It has no permission: the worker that
 * parses a body holds no connection, and the worker that holds a connection parses no body.
 */

import { serveQuestions } from "../sandbox/worker_bootstrap.ts";
import type { Selection } from "../json_path/json_path.ts";
import { selectInBody, type SelectQuestion } from "./select_body.ts";

serveQuestions<null, SelectQuestion, Selection>(() => selectInBody);
