import t from 'tap'
import { decodeTransactions } from '../../../src/chain/decode-block.ts'
import { decodeTransaction } from '../../../src/chain/decode.ts'
import { explainTransaction } from '../../../src/chain/explain.ts'
import { pubkeyToBase58 } from '../../../src/chain/pubkey.ts'
import { readRpcBlock, type RpcBlock } from '../../../src/chain/rpc/block.ts'
import { BLOCK_SLOT, fixtureBlock, readFixture, testWithFixtures } from '../../fixtures.ts'
import { tradesOf } from './decoded-record.ts'
import { publishedCall } from './published-accounts.ts'
import { RawRecord, type RawCall } from './raw-record.ts'
import { traderChanges } from './trader-flows.ts'
import { vaultChanges } from './vault-flows.ts'

function recordedBlock(): { readonly block: RpcBlock; readonly entries: readonly unknown[] } {
  const result = fixtureBlock()
  const outcome = readRpcBlock(result, BLOCK_SLOT)
  if (outcome.kind !== 'block') throw new Error(outcome.kind)
  return { block: outcome.block, entries: result.transactions }
}

/** The place of a swap or its trade, as text. */
function place(ixIndex: number, innerIxIndex: number | null, venue: string): string {
  return `${ixIndex}.${innerIxIndex ?? 'outer'} ${venue}`
}

function swapPlace(call: RawCall): string | null {
  const published = publishedCall(call)
  return published?.isSwap === true ? place(call.ixIndex, call.innerIxIndex, published.venue) : null
}

interface ListedTransaction {
  readonly signature: string
  readonly kind: readonly string[]
  readonly instructions: Readonly<Record<string, readonly string[]>>
}

/** Returns the number of swaps by venue in the catalogue's own list for the block. */
function listedSwaps(): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const { kind, instructions } of readFixture(`blocks/${BLOCK_SLOT}.dex.json`) as ListedTransaction[]) {
    if (kind.includes('failed')) continue
    for (const [venue, names] of Object.entries(instructions)) {
      const swaps = names.filter((name) => name.startsWith('swap')).length
      if (swaps > 0) counts[venue] = (counts[venue] ?? 0) + swaps
    }
  }
  return counts
}

testWithFixtures(
  t,
  'in the recorded block every swap that succeeded gives its trade, and nothing else gives one',
  (t) => {
    const { block, entries } = recordedBlock()
    t.strictSame([entries.length, block.votes, block.transactions.length], [602, 158, 444])
    const counts: Record<string, number> = {}
    for (const transaction of block.transactions) {
      const raw = new RawRecord(entries[transaction.index!])
      const { events, notes } = decodeTransaction(transaction)
      const swaps = raw.failed ? [] : raw.calls.map(swapPlace).filter((found) => found !== null)
      const trades = tradesOf(events).map(({ ixIndex, innerIxIndex, venue }) =>
        place(ixIndex, innerIxIndex, venue)
      )
      t.strictSame(trades, swaps, pubkeyToBase58(transaction.signature))
      t.strictSame(notes, [], 'nothing is missing or unclear')
      for (const { venue } of tradesOf(events)) counts[venue] = (counts[venue] ?? 0) + 1
    }
    const { 'lifinity-v2': lifinity, ...listed } = listedSwaps()
    t.same(counts, { ...listed, lifinity })
    t.equal(
      Object.values(counts).reduce((sum, count) => sum + count),
      58
    )
  }
)

testWithFixtures(
  t,
  'Phoenix orders of the recorded block that are placed without a fill give no event',
  (t) => {
    const { block } = recordedBlock()
    let orders = 0
    for (const transaction of block.transactions) {
      if (transaction.failed) continue
      for (const { venue, instruction, events, notes } of explainTransaction(transaction)) {
        if (venue !== 'phoenix' || instruction === 'swap') continue
        t.same({ events, notes }, { events: [], notes: [] }, instruction ?? 'unknown')
        orders++
      }
    }
    t.equal(orders, 12)
  }
)

testWithFixtures(t, 'a failed transaction of the recorded block gives no event', (t) => {
  const { block } = recordedBlock()
  let failed = 0
  let callingVenues = 0
  for (const transaction of block.transactions) {
    if (!transaction.failed) continue
    failed++
    if (explainTransaction(transaction).length > 0) callingVenues++
    t.strictSame(decodeTransaction(transaction), { events: [], notes: [] })
  }
  t.strictSame({ failed, callingVenues }, { failed: 305, callingVenues: 292 })
})

testWithFixtures(
  t,
  'the trades of the recorded block sum up to what vaults and traders gained and lost',
  (t) => {
    const { block, entries } = recordedBlock()
    const traders = { equal: 0, 'equal-with-others': 0, 'other-accounts': 0, different: 0 }
    let vaults = 0
    for (const transaction of block.transactions) {
      if (transaction.failed) continue
      const { events } = decodeTransaction(transaction)
      const raw = new RawRecord(entries[transaction.index!])
      for (const { account, decoded, recorded } of vaultChanges(events, raw)) {
        t.equal(decoded, recorded, `vault ${account}`)
        vaults++
      }
      for (const { agreement } of traderChanges(events, raw)!) traders[agreement]++
    }
    t.strictSame(traders, { equal: 39, 'equal-with-others': 11, 'other-accounts': 0, different: 0 })
    t.equal(vaults, 118)
  }
)

testWithFixtures(t, 'a block decodes to the events of its transactions in their order', (t) => {
  const { block } = recordedBlock()
  const { entries } = decodeTransactions(block.transactions)
  const expected = block.transactions.flatMap((transaction) => {
    const { events } = decodeTransaction(transaction)
    return events.map((event) => ({ txIndex: transaction.index, event }))
  })
  t.strictSame(
    entries.map(({ txIndex, event }) => ({ txIndex, event })),
    expected
  )
})
