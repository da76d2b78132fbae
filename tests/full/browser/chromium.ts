/**
 * Headless Chromium over the DevTools protocol: enough to open pages from disk, hand them files, and see what they do.
 *
 * @module
 */

const FLAGS = [
  "--headless",
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  "--remote-debugging-port=0",
];

interface Answer {
  readonly id?: number;
  readonly method?: string;
  readonly params?: Record<string, unknown>;
  readonly result?: Record<string, unknown>;
  readonly error?: { readonly message: string };
}

/** A page that is open. */
export interface Page {
  /** Calls a method of the protocol. */
  readonly call: (method: string, params?: Record<string, unknown>) => Promise<Record<string, unknown>>;
  /** The value of an expression in the page. */
  readonly evaluate: (expression: string) => Promise<unknown>;
  /** Waits until an expression is true. */
  readonly until: (expression: string) => Promise<void>;
  /** Loads its address anew, which takes a tenth of a page of its own. */
  readonly reload: () => Promise<void>;
  /** Hands files or a folder to an input. */
  readonly choose: (inputId: string, paths: readonly string[]) => Promise<void>;
  /** Everything that was asked of the network, the page itself left out. */
  readonly requests: readonly string[];
  /** What the console was told, policy violations among it. */
  readonly complaints: readonly string[];
}

/** A browser with one profile of its own. */
export interface Browser extends AsyncDisposable {
  /** Opens a page from disk. */
  readonly open: (path: string) => Promise<Page>;
  /** Opens an address in a context of its own: another person's profile. */
  readonly visit: (url: string, context?: string) => Promise<Page>;
  /** Makes a context: storage, keys and cookies that no other one shares. */
  readonly context: () => Promise<string>;
}

/** The folder for pictures of the pages, if any; the pictures of the guide come from these. */
export const PICTURES = Deno.env.get("GATE_BROWSER_PICTURES");

/** Flags for pictures: a bar for scrolling would cut the right edge. */
const FLAGS_OF_PICTURES = PICTURES === undefined ? [] : ["--hide-scrollbars"];

/** Starts Chromium, with further flags. */
export async function startChromium(flags: readonly string[] = []): Promise<Browser> {
  const profile = await Deno.makeTempDir({ prefix: "chromium-" });
  const child = new Deno.Command("chromium", {
    args: [...FLAGS, ...FLAGS_OF_PICTURES, ...flags, `--user-data-dir=${profile}`, "about:blank"],
    stdin: "null",
    stdout: "null",
    stderr: "null",
  }).spawn();
  const socket = new WebSocket(await endpointOf(profile));
  await new Promise((resolve, reject) => {
    socket.onopen = resolve;
    socket.onerror = () => reject(new Error("Cannot reach Chromium"));
  });
  const session = openSession(socket);
  return {
    open: (path) => openPage(session, `file://${path}`),
    visit: (url, context) => openPage(session, url, context),
    context: async () => String((await session.call("Target.createBrowserContext"))["browserContextId"]),
    async [Symbol.asyncDispose](): Promise<void> {
      await session.call("Browser.close").catch(() => {});
      socket.close();
      await child.status;
      await Deno.remove(profile, { recursive: true });
    },
  };
}

async function endpointOf(profile: string): Promise<string> {
  for (let tries = 0; tries < 600; tries++) {
    try {
      const [port, path] = (await Deno.readTextFile(`${profile}/DevToolsActivePort`)).split("\n");
      if (path !== undefined) return `ws://127.0.0.1:${port}${path}`;
    } catch (error) {
      if (!(error instanceof Deno.errors.NotFound)) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error("Chromium did not start within 30 seconds");
}

type Listener = (method: string, params: Record<string, unknown>) => void;

interface Session {
  readonly call: (
    method: string,
    params?: Record<string, unknown>,
    sessionId?: string,
  ) => Promise<Record<string, unknown>>;
  readonly listen: (sessionId: string, listener: Listener) => void;
}

function openSession(socket: WebSocket): Session {
  const waiting = new Map<number, (answer: Answer) => void>();
  const listeners = new Map<string, Listener>();
  let last = 0;
  socket.onmessage = ({ data }) => {
    const answer = JSON.parse(data as string) as Answer & { readonly sessionId?: string };
    if (answer.id !== undefined) waiting.get(answer.id)?.(answer);
    else if (answer.method !== undefined) listeners.get(answer.sessionId ?? "")?.(answer.method, answer.params ?? {});
  };
  return {
    call: (method, params = {}, sessionId) =>
      new Promise((resolve, reject) => {
        const id = ++last;
        waiting.set(id, ({ result, error }) => {
          waiting.delete(id);
          if (error === undefined) resolve(result ?? {});
          else reject(new Error(`${method}: ${error.message}`));
        });
        socket.send(JSON.stringify({ id, method, params, ...sessionId === undefined ? {} : { sessionId } }));
      }),
    listen: (sessionId, listener) => void listeners.set(sessionId, listener),
  };
}

async function openPage(session: Session, address: string, browserContextId?: string): Promise<Page> {
  const context = browserContextId === undefined ? {} : { browserContextId };
  const { targetId } = await session.call("Target.createTarget", { url: "about:blank", ...context });
  const attached = await session.call("Target.attachToTarget", { targetId, flatten: true });
  const sessionId = String(attached["sessionId"]);
  const call: Page["call"] = (method, params = {}) => session.call(method, params, sessionId);
  const [requests, complaints]: [string[], string[]] = [[], []];
  session.listen(sessionId, (method, params) => {
    if (method === "Network.requestWillBeSent") {
      const { url } = params["request"] as { url: string };
      if (url !== address) requests.push(url);
    }
    if (method === "Log.entryAdded") complaints.push((params["entry"] as { text: string }).text);
    if (method === "Runtime.exceptionThrown") complaints.push(JSON.stringify(params["exceptionDetails"]));
  });
  for (const domain of ["Page", "Network", "Log", "Runtime", "DOM"]) await call(`${domain}.enable`);
  const evaluate: Page["evaluate"] = async (expression) => {
    const { result, exceptionDetails } = await call("Runtime.evaluate", {
      expression,
      awaitPromise: true,
      returnByValue: true,
    });
    if (exceptionDetails !== undefined) throw new Error(JSON.stringify(exceptionDetails));
    return (result as { value?: unknown }).value;
  };
  const until: Page["until"] = async (expression) => {
    for (let tries = 0; tries < 1200; tries++) {
      if (await evaluate(expression) === true) return;
      await new Promise((resolve) => setTimeout(resolve, 25));
    }
    throw new Error(`Not within 30 seconds: ${expression}`);
  };
  const reload: Page["reload"] = async () => {
    await evaluate("window.isOld = true");
    await call("Page.navigate", { url: address });
    await until("window.isOld === undefined && document.readyState === 'complete'");
  };
  await reload();
  const choose: Page["choose"] = async (inputId, paths) => {
    const { root } = await call("DOM.getDocument");
    const { nodeId } = await call("DOM.querySelector", {
      nodeId: (root as { nodeId: number }).nodeId,
      selector: `#${inputId}`,
    });
    await call("DOM.setFileInputFiles", { nodeId, files: paths });
  };
  return { call, evaluate, until, reload, choose, requests, complaints };
}

/** The value of an expression in the only frame within a page, of which it sees the nodes and no script. */
export async function evaluateInFrame({ call }: Page, expression: string): Promise<unknown> {
  const { frameTree } = await call("Page.getFrameTree") as {
    frameTree: { childFrames?: readonly { frame: { id: string } }[] };
  };
  const frameId = frameTree.childFrames?.[0]?.frame.id;
  if (frameId === undefined) throw new Error("The page has no frame");
  const { executionContextId: contextId } = await call("Page.createIsolatedWorld", { frameId });
  const { result } = await call("Runtime.evaluate", { expression, contextId, returnByValue: true });
  return (result as { value?: unknown }).value;
}

/** A picture of the whole page, or of the window where a dialog is open, PNG. */
export async function screenshot({ call, evaluate }: Page, path: string): Promise<void> {
  const captureBeyondViewport = await evaluate("document.querySelector('dialog[open]') === null");
  const { data } = await call("Page.captureScreenshot", { format: "png", captureBeyondViewport });
  await Deno.writeFile(path, Uint8Array.fromBase64(String(data)));
}
