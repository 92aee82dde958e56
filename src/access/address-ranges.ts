import { BlockList, isIP, SocketAddress } from 'node:net'

interface Range {
  readonly address: string
  readonly bits: number
  readonly family: 'ipv4' | 'ipv6'
}

/**
 * Tells whether a text is an IPv4 or IPv6 address or CIDR range. IPv4-mapped IPv6 addresses (`::ffff:1.2.3.4`) are
 * refused: they are matched as IPv4, so they must be written as IPv4.
 */
export function isAddressRange(text: string): boolean {
  return readRange(text) !== null
}

/** A set of addresses and CIDR ranges. */
export class AddressRanges {
  // Two lists, because a single one would match IPv4 addresses against IPv6 ranges.
  readonly #lists = { ipv4: new BlockList(), ipv6: new BlockList() }

  /** `ranges` are texts accepted by `isAddressRange`. */
  constructor(ranges: readonly string[]) {
    for (const text of ranges) {
      const range = readRange(text)
      if (range === null) throw new TypeError(`${text} is neither an IP address nor a CIDR range`)
      this.#lists[range.family].addSubnet(range.address, range.bits, range.family)
    }
  }

  /**
   * Tells whether an address, as a socket reports it, is in the set: with an IPv6 zone, or IPv4 as `::ffff:1.2.3.4`.
   */
  includes(address: string): boolean {
    const plain = address.startsWith('::ffff:') ? address.slice('::ffff:'.length) : address.split('%', 1)[0]!
    const family = plain.includes(':') ? 'ipv6' : 'ipv4'
    return this.#lists[family].check(plain, family)
  }
}

function readRange(text: string): Range | null {
  const [, address, prefix] = /^([0-9a-fA-F:.]+)(?:\/(0|[1-9]\d{0,2}))?$/.exec(text) ?? []
  if (address === undefined) return null
  const version = isIP(address)
  if (version === 0) return null
  const family = version === 4 ? 'ipv4' : 'ipv6'
  const bitsMax = version === 4 ? 32 : 128
  const bits = prefix === undefined ? bitsMax : Number(prefix)
  if (bits > bitsMax) return null
  const isMapped = version === 6 && new SocketAddress({ address, family }).address.startsWith('::ffff:')
  return isMapped ? null : { address, bits, family }
}
