/** Addresses of peers: the key by which requests are counted, and trusted networks. */

import { BlockList, isIP, type Socket } from "node:net";
import { ofLast } from "../process/of_last.ts";

const MAPPED = /^::ffff:([0-9]{1,3}(?:\.[0-9]{1,3}){3})$/i;

/** An address in its plain form: an IPv4-mapped IPv6 address becomes IPv4. */
function plainAddress(address: string): string {
  const withoutZone = address.split("%")[0] ?? "";
  return MAPPED.exec(withoutZone)?.[1] ?? withoutZone;
}

/**
 * The key by which requests of one peer are counted: its address, or for IPv6 its /64 network, which one client usually
 * controls.
 */
export const peerKey: (address: string) => string = ofLast((address) => {
  const plain = plainAddress(address);
  if (isIP(plain) !== 6) return plain;
  const [left = "", right] = new URL(`http://[${plain}]/`).hostname.slice(1, -1).split("::");
  const front = left === "" ? [] : left.split(":");
  const back = right === undefined || right === "" ? [] : right.split(":");
  const groups = [...front, ...Array.from({ length: 8 - front.length - back.length }, () => "0"), ...back];
  return `${groups.slice(0, 4).join(":")}::/64`;
});

/** The TCP connection under a TLS connection, or the connection itself. */
export function under(socket: Socket): Socket {
  return (socket as Socket & { readonly _parent?: Socket | null })._parent ?? socket;
}

/**
 * The address of the peer of a connection. After a TLS failure or a reset only the TCP connection still has it. Empty
 * if the connection was reset before it was accepted.
 */
export function addressOf(socket: Socket): string {
  return socket.remoteAddress ?? under(socket).remoteAddress ?? "";
}

/** Whether an address is one of a list of networks. */
export type NetworkCheck = (address: string) => boolean;

/**
 * Reads networks as `address/bits`, or single addresses.
 *
 * @returns The check, or the first invalid text
 */
export function readNetworks(texts: readonly string[]): NetworkCheck | { readonly invalid: string } {
  const list = new BlockList();
  for (const text of texts) {
    const match = /^([0-9a-fA-F:.]+)(?:\/([0-9]{1,3}))?$/.exec(text);
    const address = match?.[1] ?? "";
    const family = isIP(address);
    const most = family === 4 ? 32 : 128;
    const bits = match?.[2] === undefined ? most : Number(match[2]);
    if (family === 0 || bits > most) return { invalid: text };
    list.addSubnet(address, bits, family === 4 ? "ipv4" : "ipv6");
  }
  return (address) => {
    const plain = plainAddress(address);
    const family = isIP(plain);
    return family !== 0 && list.check(plain, family === 4 ? "ipv4" : "ipv6");
  };
}
