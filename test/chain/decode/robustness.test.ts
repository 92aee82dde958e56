import assert from 'node:assert/strict'
import fc from 'fast-check'
import t from 'tap'
import { decodeTransaction } from '../../../src/chain/decode.ts'
import type { Trade } from '../../../src/chain/events.ts'
import { pubkeyToBase58 } from '../../../src/chain/pubkey.ts'
import { readRpcBlock } from '../../../src/chain/rpc/block.ts'
import { readRpcTransaction } from '../../../src/chain/rpc/transaction.ts'
import { testWithFixtures } from '../../fixtures.ts'
import { randomRuns } from '../../random-runs.ts'
import { bareResult, decodedRecords, tradesOf, type DecodedRecord } from './decoded-record.ts'
import { SOL } from './expectation.ts'
import { anyMutation, instructionMutation, logMutation, withoutHeights } from './mutations.ts'
import { publishedPools } from './published-accounts.ts'

const SEED = 20261121

/**
 * A recorded transaction with trades; `confirmed` has, by pool, those that balances confirm and whose vaults no other call
 * touched.
 */
interface ConfirmedRecord extends DecodedRecord {
  readonly confirmed: ReadonlyMap<string, Trade>
}

function confirmedRecords(): ConfirmedRecord[] {
  return decodedRecords()
    .filter(({ raw, trades }) => raw.hasBalances && trades.length > 0)
    .map((record) => ({ ...record, confirmed: confirmedTrades(record) }))
}

function confirmedTrades({ raw, trades }: DecodedRecord): Map<string, Trade> {
  const places = raw.calls.flatMap((call) => publishedPools(call))
  const confirmed = new Map<string, Trade>()
  for (const trade of trades) {
    const [place, ...others] = places.filter(({ pool }) => pool === pubkeyToBase58(trade.pool))
    if (place === undefined || others.length > 0) continue
    const changes = place.vaults.map((vault) => raw.tokenDifference(vault))
    const isKnown = changes.every((change) => change === trade.inAmount || change === -trade.outAmount)
    if (isKnown) confirmed.set(place.pool, trade)
  }
  return confirmed
}

/** Runs a property of a recorded transaction and another value; a counterexample names the record by its position. */
function holdsFor<R, T>(
  records: readonly R[],
  other: fc.Arbitrary<T>,
  numRuns: number,
  holds: (record: R, other: T) => void
): void {
  const property = fc.property(fc.nat(records.length - 1), other, (position, each) =>
    holds(records[position]!, each)
  )
  fc.assert(property, randomRuns(numRuns, SEED))
}

testWithFixtures(t, 'nothing cut, lost, shuffled or changed in a record makes the decoder throw', (t) => {
  let trades = 0
  holdsFor(decodedRecords(), anyMutation, 3000, ({ transaction }, mutate) => {
    for (const trade of tradesOf(decodeTransaction(mutate(transaction)).events)) {
      trades++
      assert.ok(trade.inAmount > 0n && trade.outAmount > 0n && trade.traderIn >= 0n && trade.traderOut >= 0n)
    }
  })
  t.ok(trades > 1000, `${trades} trades were left`)
})

testWithFixtures(
  t,
  'no other bytes, other accounts or lost instruction give a trade that balances contradict',
  (t) => {
    let kept = 0
    let held = 0
    holdsFor(confirmedRecords(), instructionMutation, 6000, ({ transaction, confirmed }, mutate) => {
      const { events, notes } = decodeTransaction(mutate(transaction))
      let found = 0
      for (const trade of tradesOf(events)) {
        const right = confirmed.get(pubkeyToBase58(trade.pool))
        if (right === undefined) continue
        found++
        assert.deepEqual(shownByVaults(trade), shownByVaults(right))
      }
      kept += found
      if (found < confirmed.size && notes.length > 0) held++
    })
    t.ok(kept > 1000 && held > 100, `${kept} trades are right, ${held} times one is held back with a note`)
  }
)

/**
 * Returns the amounts of a trade that vault balances can show. Lamports that a curve pays out are moved by no instruction,
 * and fees of PumpSwap may go through the quote vault or bypass it.
 */
function shownByVaults({ venue, inAmount, outAmount, outMint }: Trade): readonly unknown[] {
  const isSale = pubkeyToBase58(outMint) === SOL
  if (venue === 'pumpswap') return isSale ? [venue, inAmount] : [venue, outAmount]
  if (isSale && (venue === 'pumpfun' || venue === 'moonshot')) return [venue, inAmount]
  return [venue, inAmount, outAmount]
}

testWithFixtures(t, 'nothing in a log changes the amounts of a trade, with stack heights or without', (t) => {
  let compared = 0
  holdsFor(confirmedRecords(), logMutation, 2000, ({ transaction, trades }, mutate) => {
    const amounts = new Set(trades.map(amountsAndPlace))
    const mutated = mutate(transaction)
    const found = [mutated, withoutHeights(mutated)].flatMap((each) => decodeTransaction(each).events)
    for (const trade of tradesOf(found)) {
      assert.ok(amounts.has(amountsAndPlace(trade)), amountsAndPlace(trade))
      compared++
    }
  })
  t.ok(compared > 1000, `${compared} trades were compared`)
})

function amountsAndPlace(trade: Trade): string {
  const { venue, ixIndex, innerIxIndex, inAmount, outAmount, traderIn, traderOut } = trade
  return [venue, ixIndex, innerIxIndex, inAmount, outAmount, traderIn, traderOut].join(' ')
}

const jsonValue = fc.oneof(
  fc.constantFrom(null, undefined, -1, 1.5, 2 ** 53, NaN, '', 'x', '1111', true, [], {}, [null], [[]]),
  fc.jsonValue({ maxDepth: 2 })
)

testWithFixtures(t, 'no change to the JSON of a record makes reading or decoding it throw', (t) => {
  const kinds: Record<string, number> = {}
  const place = fc.array(fc.nat(1000), { minLength: 4, maxLength: 8 })
  const changes = fc.array(fc.tuple(place, jsonValue), { minLength: 1, maxLength: 3 })
  holdsFor(decodedRecords(), changes, 3000, ({ result }, replaced) => {
    const changed = structuredClone(bareResult(result))
    for (const [path, value] of replaced) replaceAt(changed, path, value)
    const outcome = readRpcTransaction(changed)
    kinds[outcome.kind] = (kinds[outcome.kind] ?? 0) + 1
    if (outcome.kind === 'transaction') decodeTransaction(outcome.transaction)
    readRpcBlock({ blockhash: '1', parentSlot: 1, blockTime: 1, transactions: [changed] }, 2)
  })
  t.ok(kinds.transaction! > 100 && kinds.unreadable! > 100, JSON.stringify(kinds))
})

/** Replaces the value at a path of choices. */
function replaceAt(root: unknown, path: readonly number[], value: unknown): void {
  let at = root as Record<string, unknown>
  for (const [depth, choice] of path.entries()) {
    const names = Object.keys(at)
    if (names.length === 0) return
    const name = names[choice % names.length]!
    const next = at[name]
    if (depth === path.length - 1 || next === null || typeof next !== 'object') {
      at[name] = value
      return
    }
    at = next as Record<string, unknown>
  }
}
