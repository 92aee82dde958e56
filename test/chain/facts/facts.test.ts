import { statSync } from 'node:fs'
import t from 'tap'
import { encodeBase58 } from '../../../src/chain/base58.ts'
import { decodeTransactions } from '../../../src/chain/decode-block.ts'
import { decodeTransaction } from '../../../src/chain/decode.ts'
import { samePubkey } from '../../../src/chain/pubkey.ts'
import type { Transaction } from '../../../src/chain/transaction.ts'
import { VENUE_IDS } from '../../../src/chain/venue-id.ts'
import { testWithFixtures } from '../../fixtures.ts'
import { balancesShow } from './balance-changes.ts'
import { FACTS_FILE, readFacts, type Fact } from './encoding.ts'
import { eventText } from './event-text.ts'
import { featuresOf } from './features.ts'
import { readableLines } from './log-lines.ts'
import { plainBlock } from './plain-block.ts'
import { candidates } from './recorded-facts.ts'

const blocks = readFacts()
const facts = blocks.flatMap((block) => block.facts)
const shown = new Set(
  facts.flatMap(({ transaction, loadedKeys }) => [...featuresOf(transaction, loadedKeys)])
)

const nameOf = ({ transaction }: Fact): string => encodeBase58(transaction.signature)
const eventsOf = (transaction: Transaction): string =>
  eventText(decodeTransaction(transaction).events, transaction.keys)

t.test('every fact decodes to the events that stand beside it', async (t) => {
  for (const fact of facts) {
    t.strictSame(JSON.parse(eventsOf(fact.transaction)), JSON.parse(fact.expected), nameOf(fact))
  }
})

// INVARIANTS 1
t.test('a trade is one that the balances show, where nothing else touches its pool', async (t) => {
  const shownTrades = new Set<string>()
  for (const fact of facts) {
    const { transaction } = fact
    const { events } = decodeTransaction(transaction)
    // A creation or a liquidity change also changes the pool's balances.
    if (events.some(({ kind }) => kind !== 'trade') || transaction.preBalances.length === 0) continue
    for (const event of events) {
      if (event.kind !== 'trade' || events.filter(({ pool }) => samePubkey(pool, event.pool)).length > 1)
        continue
      t.ok(balancesShow(transaction, event), `${nameOf(fact)} ${event.venue}`)
      shownTrades.add(event.venue)
    }
  }
  t.strictSame(
    VENUE_IDS.filter((venue) => shown.has(`${venue} trade`) && !shownTrades.has(venue)),
    []
  )
})

t.test('a block of facts decodes to what its transactions do one by one', async (t) => {
  const block = blocks.find(({ parentSlot }) => parentSlot !== null)!
  t.ok(block.facts.length > 1)
  t.ok(block.votes > 0)
  const { entries } = decodeTransactions(block.facts.map(({ transaction }) => transaction))
  const alone = block.facts.flatMap(({ transaction }) =>
    decodeTransaction(transaction).events.map((event) => ({ event, txIndex: transaction.index }))
  )
  t.ok(alone.length > 0)
  t.strictSame(
    entries.map(({ event, txIndex }) => ({ event, txIndex })),
    alone
  )
})

t.test('every venue that mainnet records are known of has a trade among the facts', async (t) => {
  const traded = VENUE_IDS.filter((venue) => shown.has(`${venue} trade`))
  t.strictSame(
    VENUE_IDS.filter((venue) => !traded.includes(venue)),
    ['raydium-stable']
  )
})

// No record has a curve's completion; the venues' own tests write one.
t.test('the facts show every kind of event that the records have', async (t) => {
  const kinds = [
    'trade',
    'liquidity add',
    'liquidity remove',
    'launch create',
    'curve create',
    'curve migrate',
    'pool create'
  ]
  t.strictSame(
    kinds.filter((kind) => !VENUE_IDS.some((venue) => shown.has(`${venue} ${kind}`))),
    []
  )
})

t.test('the facts show every form of transaction', async (t) => {
  const forms = [
    'version legacy',
    'version 0 with lookups',
    'version 0 without lookups',
    'version 1',
    'failed',
    'several signers',
    'heights missing',
    'logs truncated',
    'index known',
    'index missing',
    'a pool traded twice',
    'route of 1',
    'route of 2',
    'route of 3',
    'aggregator jupiter-v6'
  ]
  t.strictSame(
    forms.filter((form) => !shown.has(form)),
    []
  )
  t.ok([...shown].some((feature) => feature.endsWith('fee transfer')))
})

t.test('a failed transaction gives no event', async (t) => {
  const failed = facts.filter(({ transaction }) => transaction.failed)
  t.ok(failed.length > 0)
  for (const fact of failed) t.equal(fact.expected, '[]', nameOf(fact))
})

t.test('the file is small, and holds of the logs only what the decoder reads', async (t) => {
  t.ok(statSync(FACTS_FILE).size < 800_000)
  for (const fact of facts) {
    t.strictSame(fact.transaction.logs, readableLines(fact.transaction.logs), nameOf(fact))
  }
})

testWithFixtures(t, 'a fact is the record of its signature, and gives what the whole record gives', (t) => {
  const known = new Map(candidates().map((candidate) => [candidate.signature, candidate]))
  for (const block of blocks) {
    for (const fact of block.facts) {
      const name = nameOf(fact)
      const candidate = known.get(name)
      if (candidate === undefined) {
        t.fail(`${name} is not among the records`)
        continue
      }
      t.strictSame(plainBlock({ ...block, facts: [fact] }), plainBlock(candidate.block), name)
      t.equal(eventsOf(candidate.recorded), fact.expected, name)
    }
  }
})

testWithFixtures(t, 'the facts show everything that the records show', (t) => {
  const known = new Set(candidates().flatMap(({ features }) => [...features]))
  t.ok(known.size > 500)
  t.strictSame(
    [...known].filter((feature) => !shown.has(feature)),
    []
  )
})
