/**
 * Returns the network of a client, for limits by address: the /64 of an IPv6 address, since one client can use all of
 * it; an IPv4 address as it is, also if mapped to IPv6.
 */
export function clientNetwork(address: string): string {
  if (!address.includes(':')) return address
  if (address.startsWith('::ffff:')) return address.slice('::ffff:'.length)
  const [front, back] = address.split('::').map((part) => part.split(':').filter((group) => group !== ''))
  const groups = front ?? []
  const zeros = back === undefined ? 0 : 8 - groups.length - back.length
  return [...groups, ...Array<string>(Math.max(0, zeros)).fill('0'), ...(back ?? [])].slice(0, 4).join(':')
}
