/** Starts `gate serve` with the permissions of this worker, and answers with how it ended. */

self.addEventListener("message", async ({ data }: MessageEvent<{ main: string; args: string[] }>) => {
  const parts: string[] = [];
  Deno.stderr.writeSync = (bytes) => {
    parts.push(new TextDecoder().decode(bytes));
    return bytes.length;
  };
  const { main } = await import(data.main) as { readonly main: (argv: readonly string[]) => Promise<number> };
  self.postMessage({ code: await main(data.args), said: parts.join("") });
});
