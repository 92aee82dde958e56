import t from 'tap'
import { decodeTransaction } from '../../../src/chain/decode.ts'
import type { ChainEvent } from '../../../src/chain/events.ts'
import type { Transaction } from '../../../src/chain/transaction.ts'
import { testWithFixtures } from '../../fixtures.ts'
import { decodedFixtures } from './raydium-fixtures.ts'

const VENUES = ['raydium-amm-v4', 'raydium-clmm', 'raydium-cpmm', 'raydium-launchlab'] as const

/** Returns the record as a node wrote it before inner instructions had stack heights. */
function withoutHeights(transaction: Transaction, logs: readonly string[] | null): Transaction {
  const instructions = transaction.instructions.map((instruction) => ({
    program: instruction.program,
    accounts: instruction.accounts,
    data: instruction.data,
    height: instruction.innerIndex === null ? 1 : 0,
    outerIndex: instruction.outerIndex,
    innerIndex: instruction.innerIndex
  }))
  return { ...transaction, instructions, nestingKnown: false, logs }
}

for (const venue of VENUES) {
  const of = (events: readonly ChainEvent[]) => events.filter((event) => event.venue === venue)

  testWithFixtures(t, `${venue}: the log tells the nesting that a record leaves out`, (t) => {
    for (const { entry, transaction, decoded } of decodedFixtures(venue)) {
      const { events } = decodeTransaction(withoutHeights(transaction, transaction.logs))
      t.strictSame(of(events), of(decoded.events), entry.signature)
    }
    t.end()
  })

  testWithFixtures(t, `${venue}: without either, what is left is right, and what is lost is noted`, (t) => {
    for (const { entry, transaction, decoded } of decodedFixtures(venue)) {
      const { events, notes } = decodeTransaction(withoutHeights(transaction, null))
      const trades = (all: readonly ChainEvent[]) =>
        of(all).flatMap((event) => (event.kind === 'trade' ? [[event.inAmount, event.outAmount]] : []))
      const known = trades(decoded.events).map(String)
      for (const trade of trades(events)) t.ok(known.includes(String(trade)), entry.signature)
      const lost = of(decoded.events).length - of(events).length
      const noted = notes.some((note) => note.venue === venue && note.kind === 'missing')
      t.equal(noted, lost > 0, `${entry.signature} lacks ${lost}`)
    }
    t.end()
  })
}
