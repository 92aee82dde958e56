import type { ChainEvent, Trade } from '../chain/events.ts'
import { samePubkey } from '../chain/pubkey.ts'
import type { Pubkey } from '../chain/pubkey.ts'
import { decimalsOf } from './listing.ts'
import type { Listing } from './listing.ts'
import type { PoolRow } from './registry-rows.ts'
import { RowEdits } from './row-edits.ts'
import type { RowOrigin, TradeRow } from './rows.ts'

/**
 * Folds the pools, curves and markets of a block's events.
 *
 * P1. A pool is known from the first event that names it with both of its mints, and keeps that orientation.
 * P2. It was created when an event says so: its own creation, its curve's, or the launch of its token.
 * P3. Vaults and fee are those of the newest event that states them. Until an event states a vault, the first trade that
 *     names one counts: most pools are older than the index, so their creation is not among its events.
 * P4. Its price is that of its newest price-forming trade (`latest-price.ts`); other trades leave it unchanged.
 * P5. Its reserves are those that the newest trade states after itself: an older trade's are of another state.
 * P6. Only trades of its two mints set its price, its reserves and its vaults.
 */
export class PoolFold {
  readonly #rows: RowEdits<PoolRow>

  constructor(stored: (pool: Pubkey) => PoolRow | null) {
    this.#rows = new RowEdits(stored)
  }

  /**
   * Adds an event of any kind to its pool. Returns whether the event is the first to name the pool (P1), and whether it is a
   * trade that gave the pool a vault (P3).
   */
  name(
    origin: RowOrigin,
    event: ChainEvent,
    listing: Listing | null
  ): { readonly isFirst: boolean; readonly givesVaults: boolean } {
    let [isFirst, givesVaults] = [false, false]
    this.#rows.change(event.pool, (known) => {
      const row = known ?? firstNamed(origin, listing)
      isFirst = known === null && row !== null
      if (row === null) return null
      const about = created(withDecimals(row, event), origin, event)
      const next = stated(about, event)
      givesVaults = event.kind === 'trade' && next !== about
      return next
    })
    return { isFirst, givesVaults }
  }

  /** Adds a trade to a known pool; returns the pool. */
  trade(row: TradeRow): PoolRow {
    const { cursor, slot, blockTime } = row
    return this.#rows.change(row.pool, (pool) => {
      if (pool === null) throw new Error('a pool is named before it trades')
      const { lastPrice, reserves } = isOfBoth(row, pool) ? stateAfter(row, pool) : pool
      return {
        ...pool,
        trades: pool.trades + 1,
        lastTrade: { cursor, slot, blockTime },
        lastPrice,
        reserves
      }
    })
  }

  changed(): PoolRow[] {
    return this.#rows.changed()
  }
}

function firstNamed({ pool, venue, program, cursor }: RowOrigin, listing: Listing | null): PoolRow | null {
  if (listing === null || listing.quote === null) return null
  const { base, quote, quoteListed } = listing
  const unknown = { baseDecimals: null, quoteDecimals: null, baseVault: null, quoteVault: null, feeBps: null }
  const untraded = {
    created: null,
    firstCursor: cursor,
    trades: 0,
    lastTrade: null,
    lastPrice: null,
    reserves: null
  }
  return { pool, venue, program, base, quote, quoteListed, ...unknown, ...untraded }
}

function withDecimals(row: PoolRow, event: ChainEvent): PoolRow {
  if (row.baseDecimals !== null && row.quoteDecimals !== null) return row
  const baseDecimals = row.baseDecimals ?? decimalsOf(event, row.base)
  const quoteDecimals = row.quoteDecimals ?? decimalsOf(event, row.quote)
  const isSame = baseDecimals === row.baseDecimals && quoteDecimals === row.quoteDecimals
  return isSame ? row : { ...row, baseDecimals, quoteDecimals }
}

function isOfBoth({ inMint, outMint }: Pick<Trade, 'inMint' | 'outMint'>, { base, quote }: PoolRow): boolean {
  return samePubkey(inMint, base)
    ? samePubkey(outMint, quote)
    : samePubkey(inMint, quote) && samePubkey(outMint, base)
}

/** Returns price and reserves after a trade (P4, P5). */
function stateAfter(row: TradeRow, { base, lastPrice }: PoolRow): Pick<PoolRow, 'lastPrice' | 'reserves'> {
  const { inMint, price, cashUsd, priceForming } = row
  const [paid, taken] = [row.reserves?.in, row.reserves?.out]
  const isStated = paid !== undefined && taken !== undefined
  const isBaseIn = samePubkey(inMint, base)
  return {
    lastPrice: priceForming ? { price, cashUsd } : lastPrice,
    reserves: isStated ? (isBaseIn ? { base: paid, quote: taken } : { base: taken, quote: paid }) : null
  }
}

/** Marks a pool as created (P2). */
function created(row: PoolRow, { slot, blockTime }: RowOrigin, event: ChainEvent): PoolRow {
  const isCreation =
    event.kind === 'launch' || ((event.kind === 'pool' || event.kind === 'curve') && event.event === 'create')
  return isCreation && row.created === null ? { ...row, created: { slot, blockTime } } : row
}

/** Adds stated vaults and fee, or the vaults that a trade names (P3). */
function stated(row: PoolRow, event: ChainEvent): PoolRow {
  if (event.kind === 'trade') return withVaults(row, event)
  if (event.kind !== 'pool') return row
  const isReversed = !samePubkey(event.baseMint, row.base)
  const [baseVault, quoteVault] = isReversed
    ? [event.quoteVault, event.baseVault]
    : [event.baseVault, event.quoteVault]
  return {
    ...row,
    baseVault: baseVault ?? row.baseVault,
    quoteVault: quoteVault ?? row.quoteVault,
    feeBps: event.feeBps ?? row.feeBps
  }
}

/** Adds the vaults of a trade where no vault is known (P3). */
function withVaults(row: PoolRow, trade: Trade): PoolRow {
  const { vaults } = trade
  if (vaults === undefined || (row.baseVault !== null && row.quoteVault !== null) || !isOfBoth(trade, row))
    return row
  const [base, quote] = samePubkey(trade.inMint, row.base) ? [vaults.in, vaults.out] : [vaults.out, vaults.in]
  const [baseVault, quoteVault] = [row.baseVault ?? base, row.quoteVault ?? quote]
  const isSame = baseVault === row.baseVault && quoteVault === row.quoteVault
  return isSame ? row : { ...row, baseVault, quoteVault }
}
