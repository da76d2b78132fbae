/**
 * The product as `gate serve` runs it on its defaults, with the tools and the prompt of `product_tools.ts` beside its own. It takes the
 * folder of its files, and the transport `http` or `stdio`.
 *
 * @module
 */

import { DEFAULT_SETTINGS } from "@/config/defaults.ts";
import type { GateConfig } from "@/config/types.ts";
import { createDocumentation } from "@/docs/documentation.ts";
import { host } from "@/server/host.ts";
import { readNetworks } from "@/server/audit/peers.ts";
import { offerWith } from "@/server/protocol/offer.ts";
import { openRuntime } from "@/tools/runtime.ts";
import { stateKeys } from "@/tools/services/state_keys.ts";
import { NO_GRANTS } from "@/evidence/typed/grants.ts";
import { ASKING_PROMPT, productTools, ROUND_TOOLS } from "./product_tools.ts";

const [dataDir = ".", transport] = Deno.args;
const config: GateConfig = {
  ...DEFAULT_SETTINGS,
  server: transport === "stdio"
    ? DEFAULT_SETTINGS.server
    : { ...DEFAULT_SETTINGS.server, transport: "http", bind: "127.0.0.1:0" },
  config_path: null,
  base_dir: dataDir,
};
const docs = createDocumentation(config.docs);
const keys = Promise.resolve(stateKeys([crypto.getRandomValues(new Uint8Array(32))]));
const networks = readNetworks([]);

Deno.exit(
  await host({
    server: config.server,
    logLevel: "info",
    offer: offerWith(docs, () => true, {
      morePrompts: [ASKING_PROMPT],
      rounds: {
        tools: new Set(["scenario_next", ...ROUND_TOOLS]),
        capabilities: ["elicitation", "sampling"],
        keys: () => keys,
        tasks: true,
      },
    }),
    http: {
      allowedHosts: [],
      allowedOrigins: [],
      isTrustedProxy: typeof networks === "function" ? networks : () => false,
      folders: [],
    },
    loadRuntime: async () => {
      const runtime = await openRuntime(config, { dataDir, signingKey: null, typed: NO_GRANTS, docs });
      return { ...runtime, tools: new Map([...runtime.tools, ...productTools()]) };
    },
  }),
);
