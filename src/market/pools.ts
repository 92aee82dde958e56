import type { ChainEvent } from '../chain/events.ts'
import { samePubkey } from '../chain/pubkey.ts'
import type { Pubkey } from '../chain/pubkey.ts'
import { decimalsOf } from './listing.ts'
import type { Listing } from './listing.ts'
import type { PoolRow } from './registry-rows.ts'
import { RowEdits } from './row-edits.ts'
import type { RowOrigin, TradeRow } from './rows.ts'

/**
 * The pools, curves and markets of a block's events, while it is folded.
 *
 * P1. A pool is known from the first event on that names it with both of its mints, and stays oriented as it is then.
 * P2. It was created when an event says so: its own creation, its curve's, or the launch of its token.
 * P3. Vaults and fee are those of the newest event that states them.
 */
export class PoolFold {
  readonly #rows: RowEdits<PoolRow>

  constructor(stored: (pool: Pubkey) => PoolRow | null) {
    this.#rows = new RowEdits(stored)
  }

  /** Takes in what an event of any kind says of its pool; says whether it is the first to name it (P1). */
  name(origin: RowOrigin, event: ChainEvent, listing: Listing): boolean {
    const known = this.#rows.get(event.pool)
    const named = known ?? firstNamed(origin, listing)
    if (named === null) return false
    const row = stated(created(withDecimals(named, event), origin, event), event)
    if (row !== known) this.#rows.set(event.pool, row)
    return known === null
  }

  trade(row: TradeRow): PoolRow {
    const pool = this.#rows.get(row.pool)
    if (pool === null) throw new Error('a pool is named before it trades')
    const { cursor, slot, blockTime, price, cashUsd } = row
    const lastTrade = { cursor, slot, blockTime, price, cashUsd }
    const traded = { ...pool, trades: pool.trades + 1, lastTrade }
    this.#rows.set(row.pool, traded)
    return traded
  }

  changed(): PoolRow[] {
    return this.#rows.changed()
  }
}

function firstNamed({ pool, venue, program, cursor }: RowOrigin, listing: Listing): PoolRow | null {
  const { base, quote, quoteListed } = listing
  if (quote === null) return null
  const unknown = { baseDecimals: null, quoteDecimals: null, baseVault: null, quoteVault: null, feeBps: null }
  const untraded = { created: null, firstCursor: cursor, trades: 0, lastTrade: null }
  return { pool, venue, program, base, quote, quoteListed, ...unknown, ...untraded }
}

function withDecimals(row: PoolRow, event: ChainEvent): PoolRow {
  if (row.baseDecimals !== null && row.quoteDecimals !== null) return row
  const baseDecimals = row.baseDecimals ?? decimalsOf(event, row.base)
  const quoteDecimals = row.quoteDecimals ?? decimalsOf(event, row.quote)
  const isSame = baseDecimals === row.baseDecimals && quoteDecimals === row.quoteDecimals
  return isSame ? row : { ...row, baseDecimals, quoteDecimals }
}

/** P2 */
function created(row: PoolRow, { slot, blockTime }: RowOrigin, event: ChainEvent): PoolRow {
  const isCreation =
    event.kind === 'launch' || ((event.kind === 'pool' || event.kind === 'curve') && event.event === 'create')
  return isCreation && row.created === null ? { ...row, created: { slot, blockTime } } : row
}

/** P3 */
function stated(row: PoolRow, event: ChainEvent): PoolRow {
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
