import { pubkeyMapKey, samePubkey, type Pubkey } from '../../chain/pubkey.ts'
import type { FactLeg, FactPlace, TradeFact } from '../rows/trade-fact.ts'
import type { ArchivedRow } from './archived-row.ts'
import { rowText } from './row-pack.ts'

/**
 * Returns the trades that rows state, each once. The result does not depend on the order of the rows.
 *
 * S1. Two rows are of one trade if their signatures are equal, and also the instructions; if one of them states no
 *     instruction, its pool (unless one states none), mints and amounts must be equal instead.
 * S2. Of two different statements the one with more facts counts, then the one with the lower bytes. Facts that it lacks
 *     are taken from the others, if their mints and amounts are equal.
 * S3. The lowest stated index of a transaction counts for all of its rows.
 */
export function distinctTrades(rows: readonly ArchivedRow[]): ArchivedRow[] {
  if (rows.length < 2) return [...rows]
  const bySignature = Map.groupBy(rows, ({ fact }) => textOf(fact.signature))
  if (bySignature.size === rows.length) return [...rows]
  return [...bySignature.values()].flatMap((each) => (each.length === 1 ? each : ofTransaction(each)))
}

/** Returns whether rows that are added to those of a slot change its trades. */
export function changesTrades(stored: readonly ArchivedRow[], added: readonly ArchivedRow[]): boolean {
  const [before, after] = [stored, [...stored, ...added]].map((rows) => tradesText(distinctTrades(rows)))
  return before !== after
}

/** Returns a text that is equal for equal trades. A line counts only where it decides the order. */
function tradesText(trades: readonly ArchivedRow[]): string {
  const isPlaced = ({ txIndex, ixIndex }: FactPlace): boolean => txIndex !== null && ixIndex !== null
  return trades
    .map((row) => `${isPlaced(row.fact.place) ? '' : row.line} ${rowText(row)}`)
    .sort()
    .join('\n')
}

const textOf = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1')

function ofTransaction(rows: readonly ArchivedRow[]): ArchivedRow[] {
  const indexes = rows.flatMap(({ fact }) => fact.place.txIndex ?? [])
  const txIndex = indexes.length === 0 ? null : Math.min(...indexes)
  const placed = Map.groupBy(
    rows.filter(({ fact }) => fact.place.ixIndex !== null),
    ({ fact: { place } }) => `${place.ixIndex} ${place.innerIxIndex}`
  )
  const trades = [...placed.values()].map(joined)
  const others = Map.groupBy(
    rows.filter(({ fact }) => fact.place.ixIndex === null),
    ({ fact }) => amountsText(fact)
  )
  for (const each of others.values()) {
    // A pool that one row lacks does not distinguish it from a row that states a pool.
    const pools = Map.groupBy(each, ({ fact }) => (fact.pool === null ? '' : pubkeyMapKey(fact.pool)))
    const without = pools.get('') ?? []
    pools.delete('')
    if (pools.size === 0) addUnplaced(trades, without)
    for (const [at, text] of [...pools.keys()].sort().entries())
      addUnplaced(trades, [...pools.get(text)!, ...(at === 0 ? without : [])])
  }
  return trades.map((row) => withIndex(row, txIndex))
}

/** Adds a trade whose rows state no instruction, unless one that states its instruction is the same. */
function addUnplaced(trades: ArchivedRow[], rows: readonly ArchivedRow[]): void {
  const row = joined(rows)
  const { pool } = row.fact
  const same = trades
    .filter(
      ({ fact }) =>
        fact.place.ixIndex !== null &&
        amountsText(fact) === amountsText(row.fact) &&
        (pool === null || fact.pool === null || samePubkey(pool, fact.pool))
    )
    .sort(byInstruction)[0]
  if (same === undefined) trades.push(row)
  else trades[trades.indexOf(same)] = filled(same, row)
}

const byInstruction = ({ fact: { place: a } }: ArchivedRow, { fact: { place: b } }: ArchivedRow): number =>
  a.ixIndex! - b.ixIndex! || (a.innerIxIndex ?? -1) - (b.innerIxIndex ?? -1)

const amountsText = ({ in: paid, out: received }: TradeFact): string =>
  `${pubkeyMapKey(paid.mint)}${pubkeyMapKey(received.mint)}${paid.amountRaw} ${received.amountRaw}`

/** Joins rows of one trade (S2). */
function joined(rows: readonly ArchivedRow[]): ArchivedRow {
  const [only, ...more] = rows
  if (only === undefined) throw new RangeError('a trade needs a row')
  if (more.length === 0) return only
  const ranked = rows
    .map((row) => ({ row, count: statedFacts(row.fact), text: rowText(row) }))
    .sort((a, b) => b.count - a.count || (a.text < b.text ? -1 : a.text > b.text ? 1 : 0))
  const best = ranked.reduce((row, other) => filled(row, other.row), ranked[0]!.row)
  const same = ranked.filter(({ text }) => text === ranked[0]!.text).map(({ row }) => row)
  return { ...best, line: Math.min(...same.map(({ line }) => line)) }
}

function statedFacts({
  blockTime,
  program,
  pool,
  trader,
  in: paid,
  out,
  place,
  solUsd,
  details
}: TradeFact): number {
  const facts = [blockTime, program, pool, trader, paid.decimals, out.decimals, solUsd]
  const places = [place.txIndex, place.ixIndex, place.innerIxIndex]
  const ofDetails =
    details === null ? [] : [details.cursor, details.feePayer, details.reserves, details.route]
  return [...facts, ...places, ...ofDetails].filter((fact) => fact !== null).length
}

/** Adds the facts of another row that a row lacks. */
function filled(row: ArchivedRow, { fact: other }: ArchivedRow): ArchivedRow {
  const { fact } = row
  if (fact === other || amountsText(fact) !== amountsText(other)) return row
  const leg = (one: FactLeg, two: FactLeg): FactLeg => ({ ...one, decimals: one.decimals ?? two.decimals })
  const key = (one: Pubkey | null, two: Pubkey | null): Pubkey | null => one ?? two
  return {
    ...row,
    fact: {
      ...fact,
      blockTime: fact.blockTime ?? other.blockTime,
      program: key(fact.program, other.program),
      pool: key(fact.pool, other.pool),
      trader: key(fact.trader, other.trader),
      in: leg(fact.in, other.in),
      out: leg(fact.out, other.out),
      place: fact.place.ixIndex === null ? other.place : fact.place,
      solUsd: fact.solUsd ?? other.solUsd,
      details: fact.details ?? other.details
    }
  }
}

function withIndex(row: ArchivedRow, txIndex: number | null): ArchivedRow {
  const { fact } = row
  if (fact.place.txIndex === txIndex) return row
  return { ...row, fact: { ...fact, place: { ...fact.place, txIndex } } }
}
