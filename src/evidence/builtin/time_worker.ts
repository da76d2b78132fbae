/** The worker of the provider `time`. It has no permission. */

import { serveQuestions } from "../sandbox/worker_bootstrap.ts";
import type { BuiltinProviderConfig } from "../../config/types.ts";
import { checkTime, type TimeQuestion } from "./time.ts";
import type { Finding } from "./result.ts";

serveQuestions<BuiltinProviderConfig<"time">, TimeQuestion, Finding>((config) => (question) =>
  checkTime(config, question)
);
