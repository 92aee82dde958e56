import type { BlockDigest, DigestedLaunch, DigestedMint } from '../../src/market/block-digest.ts'
import type { RecordKind } from './record.ts'

const ADDRESS_BYTES = 32
/** Bits of the flags. */
const LAUNCHES = 1
const SOL_PRICES = 2

/** The digest of a packed block. */
export interface PackedDigest {
  /** Places in the block's contents: that of the block hash, then that of each record, in the order of the records. */
  readonly places: readonly number[]
  readonly digest: BlockDigest
}

/**
 * The record beside a packed block. Its addresses come first, each with 32 bytes: the mints, then all others. The launches come
 * last, if there are any: earlier versions did not write them, and decode a block whole whose digest has some.
 */
export const packedDigestKind: RecordKind<PackedDigest> = {
  name: 'block digest',
  write(out, { places, digest }) {
    const { events, mints, others, hasLaunches, launches, hasSolPrices } = digest
    out.count(places.length)
    for (const place of places) out.count(place)
    out.count(events)
    out.byte((hasLaunches ? LAUNCHES : 0) | (hasSolPrices ? SOL_PRICES : 0))
    out.count(mints.length)
    out.count(others.length)
    for (const { mapKey } of mints) out.fixedLatin1(mapKey)
    for (const mapKey of others) out.fixedLatin1(mapKey)
    for (const { trades, microUsd } of mints) {
      out.count(trades)
      out.amount(microUsd)
    }
    if (launches === null || launches.length === 0) return
    out.count(launches.length)
    for (const { mint, symbol, name } of launches) {
      out.fixed(mint, ADDRESS_BYTES)
      out.text(symbol)
      out.text(name)
    }
  },
  read(source) {
    const places = Array.from({ length: source.count() }, () => source.count())
    const events = source.count()
    const flags = source.byte()
    const counts = { mints: source.count(), others: source.count() }
    const addresses = Buffer.from(source.fixed(ADDRESS_BYTES * (counts.mints + counts.others)).buffer)
    const volumes = Array.from({ length: counts.mints }, () => ({
      trades: source.count(),
      microUsd: source.amount()
    }))
    const launches = source.atEnd
      ? null
      : Array.from({ length: source.count() }, () => ({
          mint: source.fixed(ADDRESS_BYTES),
          symbol: source.text(),
          name: source.text()
        }))
    return { places, digest: new ReadDigest({ events, flags, addresses, volumes, launches }) }
  },
  weigh: ({ digest }) => 200 + 150 * digest.mints.length + 50 * digest.others.length
}

/** A digest whose addresses become text at their first use: most are never compared with anything. */
class ReadDigest implements BlockDigest {
  readonly events: number
  readonly hasLaunches: boolean
  readonly launches: readonly DigestedLaunch[] | null
  readonly hasSolPrices: boolean
  readonly #addresses: Buffer
  readonly #volumes: readonly Omit<DigestedMint, 'mapKey'>[]
  #mints: readonly DigestedMint[] | undefined
  #others: readonly string[] | undefined

  constructor(read: {
    readonly events: number
    readonly flags: number
    readonly addresses: Buffer
    readonly volumes: readonly Omit<DigestedMint, 'mapKey'>[]
    readonly launches: readonly DigestedLaunch[] | null
  }) {
    this.events = read.events
    this.hasLaunches = (read.flags & LAUNCHES) !== 0
    this.launches = this.hasLaunches ? read.launches : []
    this.hasSolPrices = (read.flags & SOL_PRICES) !== 0
    this.#addresses = read.addresses
    this.#volumes = read.volumes
  }

  get mints(): readonly DigestedMint[] {
    return (this.#mints ??= this.#volumes.map(({ trades, microUsd }, at) => ({
      mapKey: this.#mapKey(at),
      trades,
      microUsd
    })))
  }

  get others(): readonly string[] {
    const { length } = this.#volumes
    const count = this.#addresses.length / ADDRESS_BYTES - length
    return (this.#others ??= Array.from({ length: count }, (_, at) => this.#mapKey(length + at)))
  }

  has(mapKey: string): boolean {
    for (let at = -1; ;) {
      at = this.#addresses.indexOf(mapKey, at + 1, 'latin1')
      if (at === -1 || at % ADDRESS_BYTES === 0) return at !== -1
    }
  }

  #mapKey(at: number): string {
    return this.#addresses.toString('latin1', at * ADDRESS_BYTES, (at + 1) * ADDRESS_BYTES)
  }
}
