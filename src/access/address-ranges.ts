import { BlockList, isIP, SocketAddress } from 'node:net'

interface Range {
  readonly address: string
  readonly bits: number
  readonly family: 'ipv4' | 'ipv6'
}

/**
 * Whether a text is an address or a CIDR range, of IPv4 or IPv6. An IPv4 address in IPv6's clothes is none: it would
 * be matched as the IPv4 address that it is, and so has to be written as one.
 */
export function isAddressRange(text: string): boolean {
  return readRange(text) !== null
}

/** Addresses and CIDR ranges, to be asked whether they hold an address. */
export class AddressRanges {
  // Apart, for a list of both takes IPv4 addresses for members of IPv6 ranges.
  readonly #lists = { ipv4: new BlockList(), ipv6: new BlockList() }

  /** Of texts that `isAddressRange`. */
  constructor(ranges: readonly string[]) {
    for (const text of ranges) {
      const range = readRange(text)
      if (range === null) throw new TypeError(`${text} is no address and no range of them`)
      this.#lists[range.family].addSubnet(range.address, range.bits, range.family)
    }
  }

  /** An address as a socket tells it: with its zone, and IPv4 as `::ffff:1.2.3.4` on a socket for both. */
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
