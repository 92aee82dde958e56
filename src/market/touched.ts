import { pubkeyMapKey } from '../chain/pubkey.ts'
import type { Trade } from '../chain/events.ts'
import type { Pubkey } from '../chain/pubkey.ts'
import type { DecodedBlock } from './block.ts'
import type { CashList } from './cash.ts'
import { isLaunchpad } from './curves.ts'
import { legOf, otherSide } from './legs.ts'
import { listedMints, listingOf } from './listing.ts'
import { pairKey } from './pairs.ts'
import type { PairKey } from './pairs.ts'

/** What must be known of the market before a block can be folded. */
export interface Touched {
  /** Unix seconds: the buckets that the block falls into are those of this time. */
  readonly blockTime: number
  /** Each once, in the order of their first trade. */
  readonly pairs: ReadonlyMap<PairKey, PairAddress>
  /** Mints whose launch can be new or change. */
  readonly launches: ReadonlyMap<string, Pubkey>
  /** Mints that an event is listed under. */
  readonly tokens: ReadonlyMap<string, Pubkey>
  readonly pools: ReadonlyMap<string, Pubkey>
  /** Mints whose curve can be new or change. */
  readonly curves: ReadonlyMap<string, Pubkey>
}

export interface PairAddress {
  readonly mint: Pubkey
  readonly cash: Pubkey
}

export function touchedBy(block: DecodedBlock, cash: CashList): Touched {
  const pairs = new Map<PairKey, PairAddress>()
  const launches = new Map<string, Pubkey>()
  const tokens = new Map<string, Pubkey>()
  const pools = new Map<string, Pubkey>()
  const curves = new Map<string, Pubkey>()
  for (const { event } of block.entries) {
    for (const mint of listedMints(listingOf(event, cash))) tokens.set(pubkeyMapKey(mint), mint)
    pools.set(pubkeyMapKey(event.pool), event.pool)
    if (event.kind === 'trade') {
      const pair = pairOf(event, cash)
      if (pair !== null) pairs.set(pairKey(pair.mint, pair.cash), pair)
      for (const mint of launchableMints(event, cash)) {
        launches.set(pubkeyMapKey(mint), mint)
        if (isLaunchpad(event.venue)) curves.set(pubkeyMapKey(mint), mint)
      }
    }
    if (event.kind === 'launch' || event.kind === 'curve') {
      launches.set(pubkeyMapKey(event.baseMint), event.baseMint)
      curves.set(pubkeyMapKey(event.baseMint), event.baseMint)
    }
  }
  return { blockTime: block.blockTime, pairs, launches, tokens, pools, curves }
}

function pairOf(trade: Trade, cash: CashList): PairAddress | null {
  const side = cash.sideOf(trade)
  if (side === null) return null
  return { mint: legOf(trade, otherSide(side)).mint, cash: legOf(trade, side).mint }
}

/** The mints of a trade that a launchpad can have launched: no cash mint is one. */
export function launchableMints(trade: Trade, cash: CashList): Pubkey[] {
  return [trade.inMint, trade.outMint].filter((mint) => cash.of(mint) === undefined)
}
