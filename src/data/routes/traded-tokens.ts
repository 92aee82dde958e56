import type { Pubkey } from '../../chain/pubkey.ts'
import type { MarketTokens, TokenSpan } from '../../archive/market-stores.ts'
import { READ_ROWS } from '../../kernel/work/slices.ts'
import { DISORDER_SECONDS } from './trade-filters.ts'

/** Unix seconds; `to` is exclusive. */
export interface TimeRange {
  readonly from: number
  readonly to: number
}

/** Tokens that were listed in succession. */
export interface ListedTokens {
  /** Those that may have trades in the range. */
  readonly traded: readonly TokenSpan[]
  /** Number of tokens that were read for them. */
  readonly reads: number
  /** The last token that was read. */
  readonly last: Pubkey
}

/** Yields the tokens that may have trades in a range of times, after one of them, in the order of the store. */
export async function* tradedTokens(
  tokens: Pick<MarketTokens, 'list'>,
  times: TimeRange,
  first: Pubkey | undefined
): AsyncGenerator<ListedTokens> {
  for (let after = first; ;) {
    const listed = await tokens.list({ ...(after !== undefined && { after }), limit: READ_ROWS })
    const last = listed.at(-1)?.mint
    if (last === undefined) return
    yield { traded: listed.filter((token) => mayHaveTraded(token, times)), reads: listed.length, last }
    if (listed.length < READ_ROWS) return
    after = last
  }
}

/** Tells whether a token may have trades in a range of times. */
function mayHaveTraded({ firstTime, lastTrade }: TokenSpan, { from, to }: TimeRange): boolean {
  return (
    lastTrade !== null && lastTrade.blockTime >= from - DISORDER_SECONDS && firstTime < to + DISORDER_SECONDS
  )
}
