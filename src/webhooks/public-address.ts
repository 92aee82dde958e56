import ipaddr from 'ipaddr.js'

/** IANA allocates global unicast IPv6 addresses from this range alone. */
const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR('2000::/3')
/** Azure's endpoint for its virtual machines. It answers only inside them, and its address is outside the special ranges. */
const AZURE_GUEST_ENDPOINT = '168.63.129.16'

/**
 * Returns an IP address in its plain form if it is public unicast; null otherwise. An IPv4-mapped IPv6 address counts
 * as its IPv4 address, because a socket connects to that one. Addresses with an embedded IPv4 address (NAT64, 6to4,
 * Teredo) are not public: the network determines their destination.
 */
export function publicAddress(text: string): string | null {
  const address = readAddress(text)
  if (address === null || address.range() !== 'unicast') return null
  if (address.kind() === 'ipv6' && !address.match(GLOBAL_UNICAST)) return null
  const plain = address.toString()
  return plain === AZURE_GUEST_ENDPOINT ? null : plain
}

/**
 * Returns an IP address in its plain form, an IPv4-mapped one as IPv4. Null if the text is not an address, or has a
 * zone.
 */
export function plainAddress(text: string): string | null {
  return readAddress(text)?.toString() ?? null
}

/** Returns an IP address in its plain form if it is loopback; null otherwise. */
export function loopbackAddress(text: string): string | null {
  const address = readAddress(text)
  return address?.range() === 'loopback' ? address.toString() : null
}

function readAddress(text: string): ipaddr.IPv4 | ipaddr.IPv6 | null {
  // Shorter notations of IPv4 (`127.1`, `0x7f000001`) are read differently by different programs.
  if (!ipaddr.IPv4.isValidFourPartDecimal(text) && !ipaddr.IPv6.isValid(text)) return null
  if (text.includes('%')) return null
  return ipaddr.process(text)
}
