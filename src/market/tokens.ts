import type { ChainEvent } from '../chain/events.ts'
import type { Pubkey } from '../chain/pubkey.ts'
import { withActiveHour } from './active-hours.ts'
import { bucketStart } from './buckets.ts'
import { decimalsOf } from './listing.ts'
import { formedUsd } from './price.ts'
import type { TokenRow } from './registry-rows.ts'
import { RowEdits } from './row-edits.ts'
import type { RowOrigin, TradeRow } from './rows.ts'

/** Folds the mints under which a block's events are listed. */
export class TokenFold {
  readonly #rows: RowEdits<TokenRow>
  #found = 0

  constructor(stored: (mint: Pubkey) => TokenRow | null) {
    this.#rows = new RowEdits(stored)
  }

  /** Number of mints that the block is the first to name. */
  get found(): number {
    return this.#found
  }

  /** Adds an event that is listed under the mint. */
  name(mint: Pubkey, { cursor, blockTime }: RowOrigin, event: ChainEvent): void {
    const hour = bucketStart('1h', blockTime)
    this.#rows.change(mint, (token) => {
      const activeHours = withActiveHour(token?.activeHours, hour, token === null)
      if (token === null) {
        this.#found++
        const none = { trades: 0, pools: 0, lastTrade: null, lastUsd: null }
        const decimals = decimalsOf(event, mint)
        return { mint, decimals, firstCursor: cursor, firstTime: blockTime, ...none, activeHours }
      }
      const isKnownHour = activeHours === token.activeHours
      if (token.decimals !== null) return isKnownHour ? token : { ...token, activeHours }
      const decimals = decimalsOf(event, mint)
      return decimals === null && isKnownHour ? token : { ...token, decimals, activeHours }
    })
  }

  /** Adds a trade of a known mint. */
  trade(row: TradeRow): void {
    const { cursor, slot, blockTime, signature } = row
    this.#change(row.mint, (token) => ({
      ...token,
      trades: token.trades + 1,
      lastTrade: { cursor, slot, blockTime, signature },
      lastUsd: formedUsd(row) ?? token.lastUsd
    }))
  }

  /** Adds a new pool of a known mint. */
  pool(mint: Pubkey): void {
    this.#change(mint, (token) => ({ ...token, pools: token.pools + 1 }))
  }

  changed(): TokenRow[] {
    return this.#rows.changed()
  }

  #change(mint: Pubkey, change: (token: TokenRow) => TokenRow): void {
    this.#rows.change(mint, (token) => {
      if (token === null) throw new Error('a mint is named before anything is counted of it')
      return change(token)
    })
  }
}
