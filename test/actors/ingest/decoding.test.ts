import t from 'tap'
import { decodeInTurns } from '../../../actors/ingest/decoding.ts'
import { decodeTransactions } from '../../../src/chain/decode-block.ts'
import { readFacts } from '../../chain/facts/encoding.ts'

const facts = readFacts().flatMap((block) => block.facts.map(({ transaction }) => transaction))
/** Enough transactions for several turns of the event loop. The places within the block do not matter. */
const transactions = Array.from({ length: 450 }, (_, place) => ({
  ...facts[place % facts.length]!,
  index: null
}))

t.test('a block decoded in turns gives what it gives at once', async (t) => {
  const at = decodeTransactions(transactions)
  const inTurns = await decodeInTurns(transactions)
  t.ok(at.entries.some(({ txIndex }) => txIndex > 400))
  t.strictSame(
    inTurns.entries.map(({ txIndex, event }) => [txIndex, event.kind, event.ixIndex]),
    at.entries.map(({ txIndex, event }) => [txIndex, event.kind, event.ixIndex])
  )
  t.strictSame(inTurns.notes, at.notes)
  t.strictSame(await decodeInTurns([]), { entries: [], notes: [], openFees: [] })
})

t.test('other work has its turn while a long block is decoded', async (t) => {
  let turns = 0
  const count = (): void => {
    turns++
    if (turns < 100) setImmediate(count)
  }
  setImmediate(count)
  await decodeInTurns(transactions)
  t.ok(turns >= 2)
  turns = 100
})
