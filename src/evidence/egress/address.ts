/** Classifies the network addresses that evidence may be fetched from. */

/**
 * The class of an address: requests may go to `public` addresses, and to `private` ones if the operator allows private
 * networks. `never` addresses identify no single host.
 */
export type AddressClass = "public" | "private" | "never";

interface Range {
  readonly base: string;
  readonly bits: number;
  readonly kind: Exclude<AddressClass, "public">;
}

/** IPv4 ranges that are not public, by the registry of special-purpose addresses (RFC 6890 and its updates). */
const RANGES_4: readonly Range[] = [
  { base: "0.0.0.0", bits: 8, kind: "never" }, // this network
  { base: "10.0.0.0", bits: 8, kind: "private" },
  { base: "100.64.0.0", bits: 10, kind: "private" }, // carrier-grade NAT
  { base: "127.0.0.0", bits: 8, kind: "private" }, // loopback
  { base: "169.254.0.0", bits: 16, kind: "private" }, // link-local, metadata services
  { base: "172.16.0.0", bits: 12, kind: "private" },
  { base: "192.0.0.0", bits: 24, kind: "private" }, // protocol assignments
  { base: "192.0.2.0", bits: 24, kind: "private" }, // documentation
  { base: "192.88.99.0", bits: 24, kind: "private" }, // 6to4 relays
  { base: "192.168.0.0", bits: 16, kind: "private" },
  { base: "198.18.0.0", bits: 15, kind: "private" }, // benchmarking
  { base: "198.51.100.0", bits: 24, kind: "private" }, // documentation
  { base: "203.0.113.0", bits: 24, kind: "private" }, // documentation
  { base: "224.0.0.0", bits: 4, kind: "never" }, // multicast
  { base: "240.0.0.0", bits: 4, kind: "never" }, // reserved, broadcast
];

/** Networks of {@link RANGES_4}, as `10.0.0.0/8`. */
export const NETWORKS_4_NOT_PUBLIC: readonly string[] = RANGES_4.map(({ base, bits }) => `${base}/${bits}`);

/** IPv6 ranges that are always refused. Of the others only global unicast, 2000::/3, can be public. */
const RANGES_6_NEVER: readonly Range[] = [
  { base: "::", bits: 128, kind: "never" },
  { base: "ff00::", bits: 8, kind: "never" }, // multicast
];

/** Ranges of global unicast IPv6 that are not public. */
const RANGES_6_PRIVATE: readonly Range[] = [
  { base: "2001::", bits: 23, kind: "private" }, // protocol assignments: Teredo, benchmarking, ORCHID
  { base: "2001:db8::", bits: 32, kind: "private" }, // documentation
  { base: "2002::", bits: 16, kind: "private" }, // 6to4
  { base: "3fff::", bits: 20, kind: "private" }, // documentation
];

/** IPv6 ranges with an embedded IPv4 address, and the index of its first group. */
const EMBEDDING: readonly { readonly base: string; readonly bits: number; readonly group: number }[] = [
  { base: "::ffff:0:0", bits: 96, group: 6 }, // IPv4-mapped
  { base: "64:ff9b::", bits: 96, group: 6 }, // NAT64
  { base: "2002::", bits: 16, group: 1 }, // 6to4
];

/**
 * The class of an address from a resolver or a URL; null where the text is not an address. A zone (`%`) is not
 * accepted: it names an interface of this machine.
 */
export function classifyAddress(text: string): AddressClass | null {
  const address = parseAddress(text);
  if (address === null) return null;
  return address.length === 2 ? classify4(address) : classify6(address);
}

function classify4(address: readonly number[]): AddressClass {
  return RANGES_4.find((range) => isWithin(address, range))?.kind ?? "public";
}

function classify6(address: readonly number[]): AddressClass {
  if (RANGES_6_NEVER.some((range) => isWithin(address, range))) return "never";
  for (const { base, bits, group } of EMBEDDING) {
    if (!isWithin(address, { base, bits })) continue;
    // An address with an embedded one is never public, and never where the embedded one is.
    return classify4(address.slice(group, group + 2)) === "never" ? "never" : "private";
  }
  const global = isWithin(address, { base: "2000::", bits: 3 });
  return global && !RANGES_6_PRIVATE.some((range) => isWithin(address, range)) ? "public" : "private";
}

function isWithin(address: readonly number[], range: { readonly base: string; readonly bits: number }): boolean {
  const base = parseAddress(range.base);
  if (base?.length !== address.length) return false;
  let bits = range.bits;
  for (let group = 0; bits > 0; group++, bits -= 16) {
    const mask = bits >= 16 ? 0xffff : (0xffff << (16 - bits)) & 0xffff;
    if (((address[group] ?? 0) & mask) !== ((base[group] ?? 0) & mask)) return false;
  }
  return true;
}

/** The 16-bit groups of an address: 2 for IPv4, 8 for IPv6; null where the text is not an address. */
export function parseAddress(text: string): readonly number[] | null {
  if (text.length > 45) return null;
  return text.includes(":") ? parse6(text) : parse4(text);
}

function parse4(text: string): readonly number[] | null {
  const parts = text.split(".");
  if (parts.length !== 4 || !parts.every((part) => /^(0|[1-9]\d{0,2})$/.test(part) && Number(part) <= 255)) return null;
  const [a = 0, b = 0, c = 0, d = 0] = parts.map(Number);
  return [a * 256 + b, c * 256 + d];
}

function parse6(text: string): readonly number[] | null {
  const halves = text.split("::");
  if (halves.length > 2) return null;
  const groups = halves.map((half) => half === "" ? [] : half.split(":").flatMap(parseGroup));
  const [left = [], right = []] = groups;
  if (left.includes(NaN) || right.includes(NaN)) return null;
  // Only the last part may be IPv4.
  if (text.slice(0, text.lastIndexOf(":")).includes(".")) return null;
  const missing = 8 - left.length - right.length;
  if (halves.length === 1) return missing === 0 ? left : null;
  return missing < 1 ? null : [...left, ...new Array<number>(missing).fill(0), ...right];
}

function parseGroup(part: string): readonly number[] {
  if (part.includes(".")) return parse4(part) ?? [NaN];
  return [/^[0-9a-fA-F]{1,4}$/.test(part) ? parseInt(part, 16) : NaN];
}
