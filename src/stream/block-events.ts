import { pubkeyMapKey } from '../chain/pubkey.ts'
import type { BlockDigest } from '../market/block-digest.ts'
import type { BlockExtent } from '../market/block-extent.ts'
import type { CashList } from '../market/cash.ts'
import { COPY_OFFSETS, walletCursor } from '../market/cursor.ts'
import type { EncodedEvent, LogEntry } from '../market/log.ts'
import type { LaunchRow, PoolEventRow, SlotRow, TradeRow } from '../market/rows.ts'
import type { Channel } from './channel.ts'
import type { ChannelTable } from './channel-table.ts'
import { encodeLaunch, encodePoolEvent, encodeTick, encodeTrade, isFirstRow, tradeOffsets } from './encode.ts'
import type { EventRows } from './encode.ts'

/** Kinds of channels that carry rows of a kind: those named by an address, and all others. */
interface Carriers {
  readonly addressed: readonly Channel['kind'][]
  readonly others: readonly Channel['kind'][]
}
const OF_TRADES: Carriers = { addressed: ['trades', 'price', 'pool', 'wallet'], others: ['venue'] }
const OF_POOL_EVENTS: Carriers = { addressed: ['pool'], others: ['venue', 'curves', 'pools'] }
const OF_LAUNCHES: Carriers = { addressed: [], others: ['launches', 'venue'] }
/** Addresses that are looked up in a digest: as many take as long as decoding the trades of a block. */
const LOOKUPS_MAX = 32

type Add<T> = (of: T, event: EncodedEvent) => void

/** Rows, with the events on the venues' channels that ingest has already encoded for the log. */
type LoggedRows = EventRows & { readonly log?: readonly LogEntry[] }

/**
 * The events of a committed block by channel. Each event is encoded once: by ingest for the log, or here once a
 * channel has a reader.
 */
export class BlockEvents {
  readonly slot: SlotRow
  readonly #rows: LoggedRows
  readonly #cash: CashList
  readonly #digest: Pick<BlockDigest, 'has'> | null
  readonly #bodies = new Map<TradeRow | PoolEventRow | LaunchRow, Uint8Array>()
  /** Encoded events of the log, by the cursor of the copy on `venue:`. */
  #logged: Map<number, Uint8Array> | null = null

  /** `digest` is that of the block, for rows that are decoded at their first use. */
  constructor(rows: LoggedRows, cash: CashList, digest: Pick<BlockDigest, 'has'> | null = null) {
    this.slot = rows.slot
    this.#rows = rows
    this.#cash = cash
    this.#digest = digest
  }

  /** Returns the events of each channel of a table, in cursor order; channels without events are left out. */
  on<T>(channels: ChannelTable<T>): Map<T, EncodedEvent[]> {
    const found = new Map<T, EncodedEvent[]>()
    const add: Add<T> = (of, event) => {
      const events = found.get(of)
      if (events === undefined) found.set(of, [event])
      else events.push(event)
    }
    // The rows of a followed block are decoded at their first use.
    const digest = this.#digest
    if (mayHave(channels, OF_TRADES, digest))
      for (const row of this.#rows.trades) this.#trade(row, channels, add)
    if (mayHave(channels, OF_POOL_EVENTS, digest))
      for (const row of this.#rows.poolEvents) this.#poolEvent(row, channels, add)
    if (mayHave(channels, OF_LAUNCHES, digest))
      for (const row of this.#rows.launches) if (row.slot === this.slot.slot) this.#launch(row, channels, add)
    // A channel may have rows of several kinds, each kind in order.
    for (const events of found.values()) events.sort((a, b) => a.cursor - b.cursor)
    return found
  }

  #trade<T>(row: TradeRow, channels: ChannelTable<T>, add: Add<T>): void {
    const [trades, prices, pools, venues, wallets] = [
      channels.of('trades'),
      channels.of('price'),
      channels.of('pool'),
      channels.of('venue'),
      channels.of('wallet')
    ]
    const { cursor } = row
    const offsets = tradeOffsets(row)
    const mint = trades.size + prices.size === 0 ? '' : pubkeyMapKey(row.mint)
    const ofMint = trades.get(mint)
    if (ofMint !== undefined) add(ofMint, { cursor, body: this.#tradeBody(row) })
    const price = row.priceForming ? prices.get(mint) : undefined
    if (price !== undefined) {
      add(price, {
        cursor: cursor + COPY_OFFSETS.trade.price,
        body: encodeTick(row, this.slot.receivedAtMs)
      })
    }
    if (!isFirstRow(row)) return
    const pool = pools.size === 0 ? undefined : pools.get(pubkeyMapKey(row.pool))
    if (pool !== undefined) add(pool, { cursor: cursor + offsets.pool, body: this.#tradeBody(row) })
    const venue = venues.get(row.venue)
    if (venue !== undefined) add(venue, { cursor: cursor + offsets.venue, body: this.#tradeBody(row) })
    const wallet = wallets.size === 0 ? undefined : wallets.get(pubkeyMapKey(row.user))
    if (wallet !== undefined) add(wallet, { cursor: walletCursor(cursor), body: this.#tradeBody(row) })
  }

  #poolEvent<T>(row: PoolEventRow, channels: ChannelTable<T>, add: Add<T>): void {
    const { kind } = row.body
    const { cursor } = row
    const onVenue = cursor + COPY_OFFSETS[kind].venue
    const body = (): Uint8Array =>
      this.#bodyOf(row, onVenue, () => encodePoolEvent(row, this.slot.receivedAtMs))
    const pools = channels.of('pool')
    const pool = pools.size === 0 ? undefined : pools.get(pubkeyMapKey(row.pool))
    if (pool !== undefined) add(pool, { cursor: cursor + COPY_OFFSETS[kind].pool, body: body() })
    const venue = channels.of('venue').get(row.venue)
    if (venue !== undefined) add(venue, { cursor: onVenue, body: body() })
    const curves = kind === 'curve' ? channels.of('curves').get('') : undefined
    if (curves !== undefined) add(curves, { cursor: cursor + COPY_OFFSETS.curve.curves, body: body() })
    const registry = kind === 'pool' ? channels.of('pools').get('') : undefined
    if (registry !== undefined) add(registry, { cursor: cursor + COPY_OFFSETS.pool.pools, body: body() })
  }

  #launch<T>(row: LaunchRow, channels: ChannelTable<T>, add: Add<T>): void {
    const { cursor } = row
    const onVenue = cursor + COPY_OFFSETS.launch.venue
    const body = (): Uint8Array => this.#bodyOf(row, onVenue, () => encodeLaunch(row))
    const launches = channels.of('launches').get('')
    if (launches !== undefined) add(launches, { cursor: cursor + COPY_OFFSETS.launch.launches, body: body() })
    const venue = channels.of('venue').get(row.venue)
    if (venue !== undefined) add(venue, { cursor: onVenue, body: body() })
  }

  #tradeBody(row: TradeRow): Uint8Array {
    // The second row of a swap belongs to the other mint, and is not on the venue's channel.
    const onVenue = isFirstRow(row) ? row.cursor + tradeOffsets(row).venue : null
    return this.#bodyOf(row, onVenue, () => encodeTrade(row, this.slot.receivedAtMs, this.#cash))
  }

  #bodyOf(
    row: TradeRow | PoolEventRow | LaunchRow,
    onVenue: number | null,
    encode: () => Uint8Array
  ): Uint8Array {
    let body = this.#bodies.get(row)
    if (body === undefined) {
      this.#logged ??= loggedBodies(this.#rows.log ?? [])
      body = (onVenue === null ? undefined : this.#logged.get(onVenue)) ?? encode()
      this.#bodies.set(row, body)
    }
    return body
  }
}

/** Tells whether rows of a kind can be on one of the channels, by the digest of the block if it is known. */
function mayHave<T>(
  channels: ChannelTable<T>,
  { addressed, others }: Carriers,
  digest: Pick<BlockDigest, 'has'> | null
): boolean {
  if (others.some((kind) => channels.of(kind).size > 0)) return true
  const addresses = addressed.reduce((sum, kind) => sum + channels.of(kind).size, 0)
  if (digest === null || addresses > LOOKUPS_MAX) return addresses > 0
  return addressed.some((kind) =>
    channels
      .of(kind)
      .keys()
      .some((mapKey) => digest.has(mapKey))
  )
}

/** Returns how much of a block the events of some channels need, by its digest if that is known. */
export function neededForChannels<T>(
  channels: ChannelTable<T>,
  digest: Pick<BlockDigest, 'has'> | null
): BlockExtent {
  const carriers = [OF_TRADES, OF_POOL_EVENTS, OF_LAUNCHES]
  if (!carriers.some((of) => mayHave(channels, of, digest))) return digest === null ? 'slot' : 'digest'
  const isByDigest = digest === null && carriers.every((of) => isOfFewAddresses(channels, of))
  return isByDigest ? 'digest' : 'rows'
}

/** Tells whether a digest can say that a block has no rows of a kind for the channels. */
function isOfFewAddresses<T>(channels: ChannelTable<T>, { addressed, others }: Carriers): boolean {
  if (others.some((kind) => channels.of(kind).size > 0)) return false
  return addressed.reduce((sum, kind) => sum + channels.of(kind).size, 0) <= LOOKUPS_MAX
}

function loggedBodies(log: readonly LogEntry[]): Map<number, Uint8Array> {
  const bodies = new Map<number, Uint8Array>()
  for (const { channel, events } of log)
    if (channel.startsWith('venue:')) for (const { cursor, body } of events) bodies.set(cursor, body)
  return bodies
}
