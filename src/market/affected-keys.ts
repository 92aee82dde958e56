import type { Trade } from '../chain/events.ts'
import { pubkeyMapKey, samePubkey } from '../chain/pubkey.ts'
import type { DecodedBlock } from './block.ts'
import type { CashList } from './cash.ts'
import { byName, LATEST, RECORDS } from './records.ts'
import type { AddressOf, LatestName, LatestRecord } from './records.ts'
import { minuteOf } from './sol-usd.ts'

/** The addresses whose rows are needed to fold a block: each once, in the order of their first event. */
export type AffectedAddresses = {
  readonly [Name in LatestName]: ReadonlyMap<string, AddressOf<Name>>
}

export interface AffectedKeys extends AffectedAddresses {
  /** Time of the first block in Unix seconds; determines the hours of the blocks, and the buckets of pairs. */
  readonly blockTime: number
  /** Times of pairs whose first trade is in a later minute than the first block, named as in `pairs`. */
  readonly laterPairs?: ReadonlyMap<string, number>
}

/** Returns the addresses that a block affects. */
export const affectedKeys = (
  block: Pick<DecodedBlock, 'blockTime' | 'entries'>,
  cash: CashList
): AffectedKeys => affectedKeysOf([block], cash)

/** Returns the addresses that consecutive blocks of one hour affect. */
export function affectedKeysOf(
  blocks: readonly Pick<DecodedBlock, 'blockTime' | 'entries'>[],
  cash: CashList
): AffectedKeys {
  const addresses = byName<AffectedAddresses>(LATEST, () => new Map())
  const kinds = LATEST.map((name) => {
    const { textOf, affectedBy, isPerPool } = RECORDS[name] as LatestRecord<unknown, unknown>
    return { textOf, affectedBy, isPerPool, affected: addresses[name] as Map<string, unknown> }
  })
  const ofEachTrade = kinds.filter(({ isPerPool }) => !isPerPool)
  const [{ blockTime }] = blocks as readonly [DecodedBlock]
  const laterPairs = new Map<string, number>()
  const trades = new LastTrades()
  for (const block of blocks) {
    const isLater = minuteOf(block.blockTime) > minuteOf(blockTime)
    // Event by event: the texts of its few addresses are cached, those of a whole minute are not.
    for (const { event } of block.entries) {
      const isRepeated = event.kind === 'trade' && trades.repeats(event)
      for (const { textOf, affectedBy, affected } of isRepeated ? ofEachTrade : kinds)
        for (const address of affectedBy(event, cash)) {
          const text = textOf(address)
          if (affected.has(text)) continue
          affected.set(text, address)
          if (isLater && affected === addresses.pairs) laterPairs.set(text, block.blockTime)
        }
    }
  }
  return { blockTime, ...addresses, ...(laterPairs.size > 0 && { laterPairs }) }
}

/** The last trade of each pool. */
class LastTrades {
  readonly #ofPools = new Map<string, Trade>()

  /** Returns whether a trade affects what the one before in its pool did (`isPerPool`). Nearly all trades of several blocks do. */
  repeats(trade: Trade): boolean {
    const pool = pubkeyMapKey(trade.pool)
    const before = this.#ofPools.get(pool)
    if (before !== undefined && isAlike(before, trade)) return true
    this.#ofPools.set(pool, trade)
    return false
  }
}

/** Returns whether trades of a pool are of the same mints, in either direction. */
function isAlike(one: Trade, two: Trade): boolean {
  if (one.venue !== two.venue || one.unstated !== two.unstated) return false
  return samePubkey(one.inMint, two.inMint)
    ? samePubkey(one.outMint, two.outMint)
    : samePubkey(one.inMint, two.outMint) && samePubkey(one.outMint, two.inMint)
}
