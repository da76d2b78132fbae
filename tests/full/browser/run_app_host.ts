/// <reference lib="dom" />
/**
 * A page that shows an MCP App with the official host package. The test that opens it answers the app's calls of tools.
 *
 * @module
 */

import { AppBridge, PostMessageTransport } from "npm:@modelcontextprotocol/ext-apps@2.0.4/app-bridge";

interface Waiting {
  readonly params: unknown;
  readonly resolve: (result: unknown) => void;
}

const calls: Waiting[] = [];
const answered: Waiting[] = [];
const state = { initialized: false, sizes: 0, torn: false };

interface Shell {
  /** Shows an app in a sandboxed frame. */
  show: (html: string, servesTools: boolean) => Promise<void>;
  state: () => typeof state;
  /** The next call of a tool; null without one. */
  take: () => unknown;
  answer: (result: unknown) => void;
  tell: (input: Record<string, unknown>, result: unknown) => Promise<void>;
  teardown: () => Promise<void>;
}

let bridge: AppBridge | null = null;

const shell: Shell = {
  show: async (html, servesTools) => {
    const frame = document.createElement("iframe");
    frame.setAttribute("sandbox", "allow-scripts");
    frame.style.width = "800px";
    frame.style.height = "1200px";
    document.body.append(frame);
    const view = frame.contentWindow;
    if (view === null) throw new Error("Cannot show the app");
    bridge = new AppBridge(null, { name: "host", version: "1" }, servesTools ? { serverTools: {} } : {}, {
      hostContext: { theme: "dark" },
    });
    bridge.oninitialized = (): void => {
      state.initialized = true;
    };
    bridge.onsizechange = (): void => {
      state.sizes++;
    };
    bridge.oncalltool = (params: unknown): Promise<never> =>
      new Promise((resolve) => calls.push({ params, resolve: resolve as (result: unknown) => void }));
    await bridge.connect(new PostMessageTransport(view, view));
    frame.srcdoc = html;
  },
  state: () => state,
  take: () => {
    const next = calls.shift();
    if (next === undefined) return null;
    answered.push(next);
    return next.params;
  },
  answer: (result) => answered.shift()?.resolve(result),
  tell: async (input, result) => {
    await bridge?.sendToolInput({ arguments: input });
    await bridge?.sendToolResult(result as never);
  },
  teardown: async () => {
    await bridge?.teardownResource({});
    state.torn = true;
  },
};

Object.assign(globalThis, { shell });
