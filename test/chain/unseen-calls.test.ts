import t from 'tap'
import { decodeTransaction } from '../../src/chain/decode.ts'
import { readRpcTransaction } from '../../src/chain/rpc/transaction.ts'
import { fixtureTransactions, testWithFixtures } from '../fixtures.ts'

/** Returns a recorded transaction whose node recorded no inner instructions. */
function withoutInner(record: unknown): unknown {
  const { meta } = record as { readonly meta: object }
  return { ...(record as object), meta: { ...meta, innerInstructions: null } }
}

testWithFixtures(
  t,
  'events of a transaction without recorded inner instructions are held back and counted',
  async (t) => {
    let held = 0
    for (const { entry, result: record } of fixtureTransactions()) {
      const file = entry.file
      const whole = readRpcTransaction(record)
      if (whole.kind !== 'transaction') continue
      const events = decodeTransaction(whole.transaction).events
      if (events.length === 0 || whole.transaction.unstated !== undefined) continue
      const cut = readRpcTransaction(withoutInner(record))
      if (cut.kind !== 'transaction') throw new Error(file)
      t.strictSame(cut.transaction.unstated, ['inner-instructions'], file)
      const decoded = decodeTransaction(cut.transaction)
      t.strictSame(decoded.events, [], file)
      const noted = new Set(decoded.notes.map(({ venue }) => venue))
      for (const note of decoded.notes)
        t.match(note, { kind: 'missing', reason: 'inner-instructions-absent' })
      for (const { venue } of events) t.ok(noted.has(venue), `${file}: ${venue} is counted`)
      held += events.length
    }
    t.ok(held > 50, `${held} events`)
  }
)

t.test('a transaction that names no venue has no events for certain', async (t) => {
  const record = {
    slot: 5,
    blockTime: 9,
    transaction: {
      signatures: ['1'.repeat(64)],
      message: {
        header: { numRequiredSignatures: 1, numReadonlySignedAccounts: 0, numReadonlyUnsignedAccounts: 1 },
        accountKeys: ['FrTqvWe21yaaAwMemRVpBYT7HsDjHpyVnxndzkxrb9PY', '1'.repeat(32)],
        recentBlockhash: '1'.repeat(32),
        instructions: [{ programIdIndex: 1, accounts: [0], data: '' }]
      }
    },
    meta: {
      err: null,
      fee: 5000,
      preBalances: [9, 1],
      postBalances: [4, 1],
      innerInstructions: null,
      preTokenBalances: [],
      postTokenBalances: []
    }
  }
  const read = readRpcTransaction(record)
  if (read.kind !== 'transaction') throw new Error(JSON.stringify(read))
  t.strictSame(read.transaction.unstated, ['inner-instructions'])
  t.strictSame(decodeTransaction(read.transaction), { events: [], notes: [] })
  const unstated = (meta: object) => {
    const outcome = readRpcTransaction({
      ...record,
      meta: { ...record.meta, innerInstructions: [], ...meta }
    })
    return outcome.kind === 'transaction' ? outcome.transaction.unstated : outcome.kind
  }
  t.strictSame(unstated({}), undefined)
  t.strictSame(unstated({ preBalances: null }), ['balances'])
  t.strictSame(unstated({ postBalances: [4] }), ['balances'], 'a balance of one key is missing')
  t.strictSame(unstated({ postTokenBalances: null }), ['token-balances'])
})
