import { BlockList, isIP, isIPv4 } from 'node:net';

/**
 * Addresses that the IANA registries of special-purpose addresses list as not globally reachable, and some more. IPv4
 * and IPv6 have separate lists: in a common list, a rule for one would match addresses of the other.
 */
const INTERNAL_IPV4 = blockList('ipv4', [
  ['0.0.0.0', 8], // this network
  ['10.0.0.0', 8], // private
  ['100.64.0.0', 10], // shared by carriers (CGNAT); holds a cloud's metadata service, too
  ['127.0.0.0', 8], // loopback
  ['168.63.129.16', 32], // a cloud's own service to its machines, at a public address
  ['169.254.0.0', 16], // link-local, and most metadata services
  ['172.16.0.0', 12], // private
  ['192.0.0.0', 24], // protocol assignments
  ['192.0.2.0', 24], // documentation
  ['192.88.99.0', 24], // 6to4 relays
  ['192.168.0.0', 16], // private
  ['198.18.0.0', 15], // benchmarking
  ['198.51.100.0', 24], // documentation
  ['203.0.113.0', 24], // documentation
  ['224.0.0.0', 4], // multicast
  ['240.0.0.0', 4], // reserved, and broadcast
]);

/** In IPv6, only 2000::/3 is assigned for public use. */
const INTERNAL_IPV6 = blockList('ipv6', [
  // Unspecified, loopback, IPv4-compatible and -mapped addresses, NAT64 (64:ff9b::/96, 64:ff9b:1::/48), discard-only.
  ['::', 3],
  ['4000::', 2], // not assigned; segment routing
  // Not assigned; unique local (fc00::/7), link-local (fe80::/10), site-local (fec0::/10), multicast (ff00::/8).
  ['8000::', 1],
  ['2001::', 23], // protocol assignments: Teredo, benchmarking, ORCHID
  ['2001:db8::', 32], // documentation
  ['2002::', 16], // 6to4, which carries an IPv4 address
  ['3fff::', 20], // documentation
]);

/**
 * Whether requests that a tenant configures must not reach this IP address. Text that is not an address counts
 * as internal.
 */
export function isInternalAddress(address: string): boolean {
  if (isIPv4(address)) return INTERNAL_IPV4.check(address, 'ipv4');
  // A zone names an interface of this machine: only link-local addresses have one.
  if (isIP(address) === 0 || address.includes('%')) return true;
  return INTERNAL_IPV6.check(address, 'ipv6');
}

function blockList(family: 'ipv4' | 'ipv6', subnets: readonly (readonly [string, number])[]): BlockList {
  const list = new BlockList();
  for (const [network, prefix] of subnets) list.addSubnet(network, prefix, family);
  return list;
}
