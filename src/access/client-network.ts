/**
 * Returns the network of a client, for limits by address. For IPv6 this is the /64, because one client can use all of
 * it. IPv4 addresses are returned unchanged; those mapped to IPv6 are returned as IPv4.
 */
export function clientNetwork(address: string): string {
  if (!address.includes(':')) return address
  if (address.startsWith('::ffff:')) return address.slice('::ffff:'.length)
  const [front, back] = address.split('::').map((part) => part.split(':').filter((group) => group !== ''))
  const groups = front ?? []
  const zeros = back === undefined ? 0 : 8 - groups.length - back.length
  return [...groups, ...Array<string>(Math.max(0, zeros)).fill('0'), ...(back ?? [])].slice(0, 4).join(':')
}
