/** The worker of the provider `env`. Its only permission is to read the variables that it was granted by name. */

import { serveQuestions } from "../sandbox/worker_bootstrap.ts";
import { type EnvQuestion, readVariable } from "./env.ts";
import type { Finding } from "./result.ts";

serveQuestions<null, EnvQuestion, Finding>(() => readVariable);
