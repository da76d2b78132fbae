/**
 * An S3 store to test against: a Ceph cluster of one of each, in memory, with its gateway, on this machine alone.
 *
 * @module
 */

import { join } from "node:path";

/** A running store. */
export interface ObjectStore {
  readonly endpoint: string;
  readonly credentials: { readonly accessKeyId: string; readonly secretAccessKey: string };
  readonly stop: () => Promise<void>;
}

const CREDENTIALS = { accessKeyId: "GATETESTACCESSKEY", secretAccessKey: "gate-test-secret-key-0123456789" };

/** How long the whole store may take to come up. */
const START_MILLIS = 120_000;

interface Ports {
  readonly monitor: number;
  readonly monitorOld: number;
  readonly gateway: number;
}

function freePorts(): Ports {
  const listeners = Array.from({ length: 3 }, () => Deno.listen({ hostname: "127.0.0.1", port: 0 }));
  const [monitor = 0, monitorOld = 0, gateway = 0] = listeners.map((listener) => listener.addr.port);
  for (const listener of listeners) listener.close();
  return { monitor, monitorOld, gateway };
}

function configuration(folder: string, cluster: string, ports: Ports): string {
  return `[global]
fsid = ${cluster}
mon host = [v2:127.0.0.1:${ports.monitor},v1:127.0.0.1:${ports.monitorOld}]
auth cluster required = cephx
auth service required = cephx
auth client required = cephx
keyring = ${folder}/keyring
osd pool default size = 1
osd pool default min size = 1
osd pool default pg num = 8
osd crush chooseleaf type = 0
mon allow pool size one = true
mon warn on pool no redundancy = false
public addr = 127.0.0.1
cluster addr = 127.0.0.1
run dir = ${folder}
admin socket = ${folder}/$name.asok
log file = ${folder}/$name.log
crash dir = ${folder}
[mon.a]
mon data = ${folder}/mon
[mgr.x]
mgr data = ${folder}/mgr
[osd.0]
osd data = ${folder}/osd
osd objectstore = memstore
memstore device bytes = 536870912
[client.rgw.a]
rgw data = ${folder}/rgw
rgw frontends = beast endpoint=127.0.0.1:${ports.gateway} tcp_nodelay=1
`;
}

/** Runs a program to its end; its output is shown only where it fails. */
async function run(folder: string, program: string, ...args: readonly string[]): Promise<string> {
  const command = new Deno.Command(program, {
    args: [...args],
    cwd: folder,
    env: { CEPH_CONF: `${folder}/ceph.conf` },
  });
  const { code, stdout, stderr } = await command.output();
  const decoder = new TextDecoder();
  if (code !== 0) throw new Error(`${program} ${args.join(" ")}: exit code ${code}\n${decoder.decode(stderr)}`);
  return decoder.decode(stdout).trim();
}

/** Starts a server that runs until it is stopped. */
function start(folder: string, program: string, ...args: readonly string[]): Deno.ChildProcess {
  const env = { CEPH_CONF: `${folder}/ceph.conf` };
  const quiet = { stdin: "null", stdout: "null", stderr: "null" } as const;
  return new Deno.Command(program, { args: [...args], cwd: folder, env, ...quiet }).spawn();
}

async function makeKeys(folder: string): Promise<void> {
  const keyring = join(folder, "keyring");
  const all = [
    "--cap",
    "mon",
    "allow *",
    "--cap",
    "osd",
    "allow *",
    "--cap",
    "mgr",
    "allow *",
    "--cap",
    "mds",
    "allow *",
  ];
  for (const name of ["client.admin", "client.rgw.a", "osd.0", "mgr.x"]) {
    const create = name === "client.admin" ? ["--create-keyring"] : [];
    await run(folder, "ceph-authtool", ...create, keyring, "--gen-key", "-n", name, ...all);
  }
  const monitor = join(folder, "mon.keyring");
  await run(folder, "ceph-authtool", "--create-keyring", monitor, "--gen-key", "-n", "mon.", "--cap", "mon", "allow *");
  await run(folder, "ceph-authtool", monitor, "--import-keyring", keyring);
}

async function startCluster(
  folder: string,
  cluster: string,
  ports: Ports,
  children: Deno.ChildProcess[],
): Promise<void> {
  const [map, osd] = [join(folder, "monmap"), crypto.randomUUID()];
  const address = `[v2:127.0.0.1:${ports.monitor},v1:127.0.0.1:${ports.monitorOld}]`;
  await run(folder, "monmaptool", "--create", "--addv", "a", address, "--fsid", cluster, map);
  const make = ["--mkfs", "-i", "a", "--monmap", map, "--keyring", join(folder, "mon.keyring")];
  await run(folder, "ceph-mon", ...make);
  children.push(start(folder, "ceph-mon", "-i", "a", "-f"));
  await run(folder, "ceph", "--connect-timeout", "60", "osd", "new", osd, "0");
  children.push(start(folder, "ceph-mgr", "-i", "x", "-f"));
  await run(folder, "ceph-osd", "-i", "0", "--mkfs", "--osd-uuid", osd);
  children.push(start(folder, "ceph-osd", "-i", "0", "-f"));
  const { accessKeyId, secretAccessKey } = CREDENTIALS;
  const user = ["--uid=gate", "--display-name=gate", `--access-key=${accessKeyId}`, `--secret-key=${secretAccessKey}`];
  await run(folder, "radosgw-admin", "user", "create", ...user);
  children.push(start(folder, "radosgw", "-n", "client.rgw.a", "-f"));
}

async function untilAnswered(endpoint: string): Promise<void> {
  for (;;) {
    try {
      const answer = await fetch(endpoint);
      await answer.body?.cancel();
      if (answer.status < 500) return;
    } catch {
      // Not there yet.
    }
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}

async function within<T>(millis: number, what: string, work: Promise<T>): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${what} took longer than ${millis} ms`)), millis);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Starts the store: about 20 seconds. Its data are gone when it stops. */
export async function startObjectStore(): Promise<ObjectStore> {
  const folder = await Deno.makeTempDir({ prefix: "radosgw-" });
  const [ports, cluster] = [freePorts(), crypto.randomUUID()];
  const children: Deno.ChildProcess[] = [];
  const stop = async (): Promise<void> => {
    for (const child of children.toReversed()) {
      try {
        child.kill("SIGKILL");
      } catch {
        // It has ended by itself.
      }
      await child.status;
    }
    await Deno.remove(folder, { recursive: true });
  };
  try {
    for (const name of ["mon", "mgr", "osd", "rgw"]) await Deno.mkdir(join(folder, name));
    await Deno.writeTextFile(join(folder, "ceph.conf"), configuration(folder, cluster, ports));
    const endpoint = `http://127.0.0.1:${ports.gateway}`;
    const coming = makeKeys(folder).then(() => startCluster(folder, cluster, ports, children))
      .then(() => untilAnswered(endpoint));
    await within(START_MILLIS, "Starting the object store", coming);
    return { endpoint, credentials: CREDENTIALS, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

if (import.meta.main) {
  const began = Date.now();
  const store = await startObjectStore();
  console.log(`${store.endpoint} after ${Date.now() - began} ms`);
  await store.stop();
}
