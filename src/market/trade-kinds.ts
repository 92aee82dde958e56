import type { Trade } from '../chain/events.ts'
import { pubkeyMapKey, samePubkey } from '../chain/pubkey.ts'
import type { Pubkey } from '../chain/pubkey.ts'
import type { CashList } from './cash.ts'
import type { Side } from './legs.ts'
import { launchableMints, listedMints, listingOf } from './listing.ts'
import type { Listing } from './listing.ts'
import type { PairFold } from './pairs.ts'

/** The facts that follow from the mints of a trade and their direction. */
export interface TradeKind {
  readonly inMint: Pubkey
  readonly outMint: Pubkey
  readonly listing: Listing | null
  readonly mints: readonly Pubkey[]
  readonly launchable: readonly Pubkey[]
  /** Null if neither mint is cash. */
  readonly cashSide: Side | null
  /** The pair, once a trade was added to it. */
  pair: PairFold | null
}

/** Kinds of trades by pool. A pool has two, one for each direction. */
export class TradeKinds {
  readonly #cash: CashList
  readonly #ofPools = new Map<string, TradeKind[]>()

  constructor(cash: CashList) {
    this.#cash = cash
  }

  of(trade: Trade): TradeKind {
    const pool = pubkeyMapKey(trade.pool)
    let kinds = this.#ofPools.get(pool)
    if (kinds === undefined) this.#ofPools.set(pool, (kinds = []))
    for (const kind of kinds)
      if (samePubkey(kind.inMint, trade.inMint) && samePubkey(kind.outMint, trade.outMint)) return kind
    const kind = this.#kindOf(trade)
    // Trades whose file states no pool have one in common, with any mints.
    if (kinds.length < 2) kinds.push(kind)
    return kind
  }

  #kindOf(trade: Trade): TradeKind {
    const { inMint, outMint } = trade
    const listing = listingOf(trade, this.#cash)
    return {
      inMint,
      outMint,
      listing,
      mints: listedMints(listing),
      launchable: launchableMints(trade, this.#cash),
      cashSide: this.#cash.sideOf(trade),
      pair: null
    }
  }
}
