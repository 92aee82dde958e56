import assert from 'node:assert/strict'
import fc from 'fast-check'
import t from 'tap'
import { WSOL } from '../../src/market/cash.ts'
import { ALL_MINTS, type Sums } from '../../src/revenue/ledger-document.ts'
import { deltaOf, type LedgerEntry } from '../../src/revenue/ledger-entry.ts'
import { NO_SUMS, plus, sumsOf, type MintSums } from '../../src/revenue/sums.ts'
import { ROW, WATCHED } from './ledger-row.ts'
import { randomRuns } from '../random-runs.ts'

const TOKEN = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v'
const OTHER = 'Es9vMFrzaCERmJfrF4H2FYD4KCoNkY11McCe8BenwNYB'

/** Entries of few transactions and mints, which may come in any order. */
const anyEntry: fc.Arbitrary<LedgerEntry> = fc
  .record({
    signature: fc.constantFrom('one', 'two', 'three', null),
    txIndex: fc.constantFrom(-1, 4, 1e6),
    mint: fc.constantFrom(WSOL, TOKEN, OTHER),
    isNative: fc.boolean(),
    account: fc.constantFrom(WATCHED, 'another'),
    decimals: fc.constantFrom(6, 9),
    pre: fc.bigInt({ min: 0n, max: 4n }),
    post: fc.oneof(fc.bigInt({ min: 0n, max: 4n }), fc.bigInt({ min: 0n, max: 2n ** 70n })),
    valueUsd: fc.constantFrom(null, 0, 1.25, -3.000_000_5, 1e9)
  })
  .map((fields) => ({ ...ROW, ...fields }))

/** The sums by their definition: changes of a transaction and mint are netted, and the nets are added up. */
function defined(entries: readonly LedgerEntry[]): readonly MintSums[] {
  const groups = Map.groupBy(entries, ({ signature, txIndex, mint }) => `${signature ?? txIndex} ${mint}`)
  const byMint = new Map<string, MintSums>()
  let all = NO_SUMS
  for (const changes of groups.values()) {
    const { mint, decimals } = changes[0]!
    const flowing = changes.filter(
      ({ isNative, account }) => isNative || mint !== WSOL || account !== WATCHED
    )
    const delta = flowing.reduce((sum, entry) => sum + deltaOf(entry), 0n)
    const usd = flowing.reduce((sum, { valueUsd }) => sum + (valueUsd ?? 0), 0)
    const micros = BigInt(Math.round(Math.abs(usd) * 1e6))
    const own: Sums = {
      ...NO_SUMS,
      entries: changes.length,
      counted: changes.length,
      ...(delta > 0n
        ? { inflow: delta, inflowMicroUsd: micros }
        : { outflow: -delta, outflowMicroUsd: micros }),
      unpriced: delta === 0n ? 0 : flowing.filter(({ valueUsd }) => valueUsd === null).length
    }
    byMint.set(mint, { mint, decimals, sums: plus(byMint.get(mint)?.sums ?? NO_SUMS, own) })
    all = plus(all, mint === WSOL ? own : { ...own, inflow: 0n, outflow: 0n })
  }
  return [{ mint: ALL_MINTS, decimals: 0, sums: all }, ...byMint.values()]
}

t.test('sums of any entries, also of transactions that are divided, are those of the definition', (t) => {
  fc.assert(
    fc.property(fc.array(anyEntry, { maxLength: 30 }), (entries) => {
      assert.deepStrictEqual(sumsOf(WATCHED, entries), defined(entries))
    }),
    randomRuns(500)
  )
  t.end()
})
