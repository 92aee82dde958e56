import { pubkeyMapKey } from '../chain/pubkey.ts'
import type { Trade } from '../chain/events.ts'
import type { Pubkey } from '../chain/pubkey.ts'
import type { DecodedBlock } from './block.ts'
import type { CashList } from './cash.ts'
import { legOf, otherSide } from './legs.ts'
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
}

export interface PairAddress {
  readonly mint: Pubkey
  readonly cash: Pubkey
}

export function touchedBy(block: DecodedBlock, cash: CashList): Touched {
  const pairs = new Map<PairKey, PairAddress>()
  const launches = new Map<string, Pubkey>()
  const addLaunch = (mint: Pubkey) => launches.set(pubkeyMapKey(mint), mint)
  for (const { event } of block.entries) {
    if (event.kind === 'trade') {
      const pair = pairOf(event, cash)
      if (pair !== null) pairs.set(pairKey(pair.mint, pair.cash), pair)
      for (const mint of launchableMints(event, cash)) addLaunch(mint)
    }
    if (event.kind === 'launch' || event.kind === 'curve') addLaunch(event.baseMint)
  }
  return { blockTime: block.blockTime, pairs, launches }
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
