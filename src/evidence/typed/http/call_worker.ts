/**
 * The worker of a typed provider of protocol `openapi_http`. Its only permission is to connect to the checked addresses
 * of one host, on one port.
 */

import { serveQuestions } from "../../sandbox/worker_bootstrap.ts";
import type { CallQuestion, CallReply } from "../call.ts";
import type { OpenApiHttpProfile } from "../runtime_profile.ts";
import { callHttp } from "./call.ts";

serveQuestions<OpenApiHttpProfile, CallQuestion, CallReply>((profile) => (question, signal) =>
  callHttp(profile, question, signal)
);
