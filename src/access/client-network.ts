/**
 * A name for who sends from an address. With IPv6 that is its /64, all of which one client has to send from; IPv4 in
 * IPv6's clothes is IPv4.
 */
export function clientNetwork(address: string): string {
  if (!address.includes(':')) return address
  if (address.startsWith('::ffff:')) return address.slice('::ffff:'.length)
  const [front, back] = address.split('::').map((part) => part.split(':').filter((group) => group !== ''))
  const groups = front ?? []
  const zeros = back === undefined ? 0 : 8 - groups.length - back.length
  return [...groups, ...Array<string>(Math.max(0, zeros)).fill('0'), ...(back ?? [])].slice(0, 4).join(':')
}
