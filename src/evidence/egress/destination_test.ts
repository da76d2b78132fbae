import assert from "node:assert/strict";
import { hostKey } from "../../config/host_name.ts";
import {
  checkDestination,
  type Destination,
  type EgressPolicy,
  type PrivateSetting,
  resolveDestination,
} from "./destination.ts";

const OPEN: EgressPolicy = { allowHttp: true, allowPrivateNetworks: false, allowedHosts: null };

function policy(changes: Partial<EgressPolicy>): EgressPolicy {
  return { ...OPEN, ...changes };
}

const ONE = new Set(["api.example"]);

/** URL, policy, outcome: the normalised URL, "no URL" or part of the refusal. */
const ROWS: readonly (readonly [string, Partial<EgressPolicy>, string])[] = [
  ["https://api.example/a?b=c", {}, "https://api.example/a?b=c"],
  ["HTTPS://API.Example:443/a/../b#part", {}, "https://api.example/b"],
  ["https://api.example./", { allowedHosts: ONE }, "https://api.example/"],
  ["https://api.example:8443/", { allowedHosts: ONE }, "https://api.example:8443/"],
  ["https://www.api.example/", { allowedHosts: ONE }, "not in allowed_hosts"],
  ["https://api.example.evil.example/", { allowedHosts: ONE }, "not in allowed_hosts"],
  ["https://evil.example#api.example", { allowedHosts: ONE }, "not in allowed_hosts"],
  ["https://evil.example\\@api.example/", { allowedHosts: ONE }, "not in allowed_hosts"],
  ["https://api.example@evil.example/", { allowedHosts: ONE }, "user information"],
  ["https://user:secret@api.example/", {}, "user information"],
  ["https://api.example/", { allowedHosts: new Set() }, "not in allowed_hosts"],
  ["http://api.example/", {}, "http://api.example/"],
  ["http://api.example/", { allowHttp: false }, "allow_http"],
  ["ftp://api.example/", {}, 'scheme "ftp"'],
  ["file:///etc/passwd", {}, 'scheme "file"'],
  ["https://", {}, "no URL"],
  ["/relative", {}, "no URL"],
  ["", {}, "no URL"],
  [`https://api.example/${"a".repeat(8192 - 20)}`, {}, `https://api.example/${"a".repeat(8192 - 20)}`],
  [`https://api.example/${"a".repeat(8193 - 20)}`, {}, "no URL"],
];

for (const [url, changes, expected] of ROWS) {
  Deno.test(`checkDestination() ${url.slice(0, 60)} ${JSON.stringify(Object.keys(changes))}: ${expected.slice(0, 60)}`, () => {
    const result = checkDestination(url, policy(changes));
    const shown = result === null ? "no URL" : "href" in result ? result.href : result.message;
    assert.ok(shown === expected || (result !== null && "code" in result && shown.includes(expected)), shown);
    if (result !== null && "code" in result) {
      assert.equal(result.code, "destination_refused");
      assert.ok(!result.message.includes("secret"));
    }
  });
}

const destination = checkDestination("https://api.example/", OPEN) as Destination;

/** Answer of the resolver, private networks allowed, outcome. */
const ANSWERS: readonly (readonly [readonly string[], boolean, string])[] = [
  [["93.184.215.14"], false, "93.184.215.14"],
  [["93.184.215.14", "2606:4700::1111"], false, "93.184.215.14 2606:4700::1111"],
  [["1.1.1.1", "1.1.1.2", "1.1.1.3", "1.1.1.4", "1.1.1.5"], false, "1.1.1.1 1.1.1.2 1.1.1.3 1.1.1.4"],
  [["1.1.1.1", "1.1.1.2", "1.1.1.3", "1.1.1.4", "10.0.0.1"], false, "destination_blocked"],
  [["93.184.215.14", "127.0.0.1"], false, "destination_blocked"],
  [["10.1.2.3"], false, "destination_blocked"],
  [["10.1.2.3"], true, "10.1.2.3"],
  [["224.0.0.1"], true, "destination_blocked"],
  [["0.0.0.0"], true, "destination_blocked"],
  [["fe80::1%2"], true, "destination_blocked"],
  [["not an address"], true, "destination_blocked"],
  [[], false, "dns_failed"],
];

for (const [answer, allowPrivateNetworks, expected] of ANSWERS) {
  Deno.test(`resolveDestination() ${answer.join(" ")} (private ${allowPrivateNetworks}): ${expected}`, async () => {
    const never = new AbortController().signal;
    const found = await resolveDestination(
      destination,
      policy({ allowPrivateNetworks }),
      () => Promise.resolve(answer),
      never,
    );
    assert.equal("code" in found ? found.code : found.join(" "), expected);
    if ("code" in found) { for (const address of answer) assert.ok(!found.message.includes(address)); }
  });
}

/** The setting that would allow private networks, and the end of the message. */
const SETTINGS: readonly (readonly [setting: PrivateSetting | undefined, end: string])[] = [
  ["config.allow_private_networks", "is not public (config.allow_private_networks)"],
  ["--typed-private", "is not public (--typed-private)"],
  [undefined, "is not public"],
];

for (const [privateSetting, end] of SETTINGS) {
  Deno.test(`resolveDestination() names the setting of a private address: ${end}`, async () => {
    const found = await resolveDestination(
      destination,
      policy({ allowPrivateNetworks: false, ...privateSetting === undefined ? {} : { privateSetting } }),
      () => Promise.resolve(["10.1.2.3"]),
      new AbortController().signal,
    );
    assert.ok("message" in found && found.message.endsWith(end));
  });
}

/** Spellings of a host that is not public, and the address or name of each. */
const SPELLINGS: readonly (readonly [url: string, host: string])[] = [
  ["https://127.0.0.1/", "127.0.0.1"],
  ["https://127.0.0.1./", "127.0.0.1"],
  ["https://127.0.0.1../", "127.0.0.1"],
  ["https://127.1/", "127.0.0.1"],
  ["https://2130706433/", "127.0.0.1"],
  ["https://0x7f000001/", "127.0.0.1"],
  ["https://0x7F.0.0.1./", "127.0.0.1"],
  ["https://0177.0.0.1/", "127.0.0.1"],
  ["https://017700000001/", "127.0.0.1"],
  ["https://%31%32%37.0.0.1/", "127.0.0.1"],
  ["https://127.0.0.1%2e/", "127.0.0.1"],
  ["https://１２７.０.０.１/", "127.0.0.1"],
  ["https://127。0。0。1/", "127.0.0.1"],
  ["https:127.0.0.1", "127.0.0.1"],
  ["https:\\\\127.0.0.1\\@api.example/", "127.0.0.1"],
  ["ht\ntps://127.0.0.1/", "127.0.0.1"],
  ["https://@127.0.0.1/", "127.0.0.1"],
  ["https://0/", "0.0.0.0"],
  ["https://[::]/", "::"],
  ["https://[::1]/", "::1"],
  ["https://[0:0:0:0:0:0:0:1]/", "::1"],
  ["https://[::127.0.0.1]/", "::7f00:1"],
  ["https://[::ffff:127.0.0.1]/", "::ffff:7f00:1"],
  ["https://[::FFFF:7F00:0001]/", "::ffff:7f00:1"],
  ["https://[::ffff:0:127.0.0.1]/", "::ffff:0:7f00:1"],
  ["https://[64:ff9b::127.0.0.1]/", "64:ff9b::7f00:1"],
  ["https://[2002:7f00:1::]/", "2002:7f00:1::"],
  ["https://169.254.169.254/", "169.254.169.254"],
  ["https://2852039166/", "169.254.169.254"],
];

for (const [url, host] of SPELLINGS) {
  Deno.test(`resolveDestination() ${JSON.stringify(url)}: ${host} is blocked without a call of the resolver`, async () => {
    const found = checkDestination(url, OPEN) as Destination;
    assert.equal(found.host, host);
    assert.ok(!found.authority.includes("@"));
    const resolver = (): Promise<never> => assert.fail("asked");
    const addresses = await resolveDestination(found, OPEN, resolver, new AbortController().signal);
    assert.equal("code" in addresses ? addresses.code : "", "destination_blocked");
    // A list of hosts uses the same spelling.
    assert.ok("href" in (checkDestination(url, policy({ allowedHosts: new Set([hostKey(host) ?? ""]) })) ?? {}));
  });
}

/** Names, and the spelling with which they are resolved and allowed. */
const NAMES: readonly (readonly [url: string, host: string | null])[] = [
  ["https://LOCALHOST./", "localhost"],
  ["https://ｌｏｃａｌｈｏｓｔ/", "localhost"],
  ["https://exa\u00admple.com/", "example.com"],
  ["https://BÜCHER.example/", "xn--bcher-kva.example"],
  ["https://127.0.0.1.example/", "127.0.0.1.example"],
  ["https://exa\u200dmple.com/", null],
  ["https://256.256.256.256/", null],
  ["https://1.2.3.4.5/", null],
  ["https://4294967296/", null],
  ["https://[fe80::1%25eth0]/", null],
  ["https://[::1]./", null],
];

for (const [url, host] of NAMES) {
  Deno.test(`checkDestination() ${JSON.stringify(url)}: ${host ?? "no URL"}`, () => {
    const found = checkDestination(url, OPEN);
    assert.equal(found === null ? null : (found as Destination).host, host);
  });
}

Deno.test("resolveDestination() a resolver that fails: dns_failed", async () => {
  const resolver = (): Promise<never> => Promise.reject(new Error("ENOTFOUND"));
  const found = await resolveDestination(destination, OPEN, resolver, new AbortController().signal);
  assert.equal("code" in found ? found.code : "", "dns_failed");
});

Deno.test("resolveDestination() a resolver that hangs ends with the signal", async () => {
  const signal = AbortSignal.timeout(20);
  await assert.rejects(resolveDestination(destination, OPEN, () => new Promise(() => {}), signal), {
    name: "TimeoutError",
  });
});
