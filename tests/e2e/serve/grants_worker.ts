/** Compares a plan with the permissions of this worker, and answers with the flags that are missing. */

import { compareGrants } from "@/cli/permissions/grants.ts";

self.addEventListener("message", ({ data }: MessageEvent) => self.postMessage(compareGrants(data).missing));
