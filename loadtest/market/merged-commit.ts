import { pubkeyMapKey, type Pubkey } from '../../src/chain/pubkey.ts'
import type { BlockCommit } from '../../src/market/rows.ts'

/**
 * What several blocks change, as one commit at the slot of the last: rows of all of them, and of values that a later
 * block writes again the last one. The store holds the same rows as block by block, in a fraction of the time, but knows
 * of no slot between.
 */
export function mergeCommits(commits: readonly BlockCommit[]): BlockCommit {
  const of = <Part>(part: (commit: BlockCommit) => readonly Part[]): Part[] => commits.flatMap(part)
  const last = commits.at(-1)!
  return {
    slot: last.slot,
    trades: of((commit) => commit.trades),
    poolEvents: of((commit) => commit.poolEvents),
    log: of((commit) => commit.log),
    candles: lastOf(
      of((commit) => commit.candles),
      ({ mint, cash, interval, candle }) => `${textOf(mint, cash)}${interval}${candle.ts}`
    ),
    launches: lastOf(
      of((commit) => commit.launches),
      ({ mint }) => textOf(mint)
    ),
    pairs: lastOf(
      of((commit) => commit.pairs),
      ({ mint, cash }) => textOf(mint, cash)
    ),
    solPrice: of(({ solPrice }) => (solPrice === null ? [] : [solPrice])).at(-1) ?? null,
    activity: lastOf(
      of((commit) => commit.activity),
      (hour) => `${hour.of}${textOf(hour.owner)}${hour.hour}`
    ),
    tokens: lastOf(
      of((commit) => commit.tokens),
      ({ mint }) => textOf(mint)
    ),
    pools: lastOf(
      of((commit) => commit.pools),
      ({ pool }) => textOf(pool)
    ),
    curves: lastOf(
      of((commit) => commit.curves),
      ({ mint }) => textOf(mint)
    ),
    totals: of(({ totals }) => (totals === null ? [] : [totals])).at(-1) ?? null
  }
}

const textOf = (...keys: readonly Pubkey[]): string => keys.map(pubkeyMapKey).join('')

function lastOf<Row>(rows: readonly Row[], keyOf: (row: Row) => string): Row[] {
  return [...new Map(rows.map((row) => [keyOf(row), row])).values()]
}
