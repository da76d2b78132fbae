/**
 * Its argument is the URL of the command line. Reads starts of servers from standard input. Starts each of them with all
 * of its grants but one, in a worker, and writes a line with the missing grant and how the start ended.
 *
 * @module
 */

const CLASSES = ["read", "write", "env", "net", "run", "sys"] as const;

interface Start {
  readonly plan: Readonly<Record<(typeof CLASSES)[number], readonly string[]>>;
  readonly args: readonly string[];
}

async function startWith(permissions: Record<string, string[]>, args: readonly string[]): Promise<unknown> {
  const worker = new Worker(new URL("grants_worker.ts", import.meta.url), {
    type: "module",
    deno: { permissions: permissions as Deno.PermissionOptionsObject },
  });
  const { promise, resolve, reject } = Promise.withResolvers<unknown>();
  worker.onmessage = ({ data }) => resolve(data);
  worker.onerror = ({ message }) => reject(new Error(message));
  worker.postMessage({ main: Deno.args[0], args });
  try {
    return await promise;
  } finally {
    worker.terminate();
  }
}

const starts = JSON.parse(await new Response(Deno.stdin.readable).text()) as readonly Start[];
for (const { plan, args } of starts) {
  for (const [name, item] of CLASSES.flatMap((name) => plan[name].map((item) => [name, item] as const))) {
    // A worker without the modules of the program cannot start it: `tests/full/grants_test.ts` has that row.
    if (name === "read" && item.endsWith("/src")) continue;
    const left = CLASSES.map((one) => [one, plan[one].filter((other) => one !== name || other !== item)]);
    const ended = await startWith(Object.fromEntries(left), args);
    console.log(JSON.stringify({ grant: `--allow-${name}=${item}`, ended }));
  }
}
