/**
 * The worker of the provider `env`. It may read the variables that it was granted, by name, and nothing else.
 *
 * @module
 */

import { serveQuestions } from "../sandbox/worker_bootstrap.ts";
import { type EnvQuestion, readVariable } from "./env.ts";
import type { Finding } from "./result.ts";

serveQuestions<null, EnvQuestion, Finding>(() => readVariable);
