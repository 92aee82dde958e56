import t from 'tap'
import { placeBlock, readRpcBlock, type RpcBlock } from '../../../src/chain/rpc/block.ts'
import { readRpcRecord } from '../../../src/chain/rpc/record.ts'
import { BLOCK_SLOT, fixtureBlock, fixtureFiles, readFixture, testWithFixtures } from '../../fixtures.ts'
import { plainTransaction } from './plain.ts'
import { decompile } from './decompile.ts'
import { reencode } from './reencode.ts'

testWithFixtures(t, 'the recorded block is read whole, its votes counted and left out', (t) => {
  const block = mustRead(fixtureBlock(), BLOCK_SLOT)
  t.match(block, { slot: BLOCK_SLOT, blockTime: 1710441678, parentSlot: BLOCK_SLOT - 1, votes: 158 })
  t.same(block.unreadable, [])
  t.equal(block.transactions.length, 444)
  t.equal(block.transactions.filter((each) => each.failed).length, 305)
  t.same(
    block.transactions.map((each) => each.index),
    [...block.transactions.map((each) => each.index)].sort((a, b) => a! - b!),
    'in chain order, positions counting the votes'
  )
  t.equal(block.transactions.at(-1)?.index, 601)
})

testWithFixtures(
  t,
  'a block is the same in base64, base58 and json, bare, wrapped and with its slot beside it',
  (t) => {
    const original = fixtureBlock()
    const json = { ...original, transactions: original.transactions.map(decompile) }
    const base58 = { ...original, transactions: json.transactions.map((each) => reencode(each, 'base58')) }
    const facts = factsOf(mustRead(original, BLOCK_SLOT))
    const forms: [name: string, block: RpcBlock][] = [
      ['json', mustRead(json, BLOCK_SLOT)],
      ['base58', mustRead(base58, BLOCK_SLOT)],
      ['a whole response', mustRead({ jsonrpc: '2.0', id: 1, result: json }, BLOCK_SLOT)],
      ['with its slot beside it', mustRead({ slot: BLOCK_SLOT, block: json }, 5)],
      [
        'a whole response with its slot beside it',
        mustRead({ slot: BLOCK_SLOT, block: { jsonrpc: '2.0', id: 1, result: json } })
      ]
    ]
    for (const [name, block] of forms) t.ok(factsOf(block) === facts, name)
  }
)

t.test('a block without transactions is a block', (t) => {
  const empty = { blockhash: 'x', blockTime: 9, parentSlot: 6, transactions: [] }
  t.same(readRpcBlock(empty, 7), {
    kind: 'block',
    block: {
      slot: 7,
      blockTime: 9,
      parentSlot: 6,
      blockhash: 'x',
      transactions: [],
      votes: 0,
      unreadable: []
    }
  })
  t.end()
})

t.test('a block is placed only when slot and time are known', (t) => {
  const empty = { blockhash: 'x', parentSlot: 6, transactions: [] }
  t.equal(placeBlock(mustRead({ ...empty, blockTime: 9 })), null)
  t.equal(placeBlock(mustRead({ ...empty, blockTime: null }, 7)), null)
  t.same(placeBlock(mustRead({ ...empty, blockTime: 9 }, 7)), {
    slot: 7,
    blockTime: 9,
    parentSlot: 6,
    blockhash: 'x',
    transactions: [],
    votes: 0
  })
  t.end()
})

testWithFixtures(t, 'an entry that cannot be read is named and leaves the others', (t) => {
  const block = fixtureBlock()
  const transactions = [...block.transactions]
  const healthy = mustRead(block, BLOCK_SLOT).transactions[0]!.index!
  transactions[healthy] = { ...transactions[healthy], meta: null }
  const read = mustRead({ ...block, transactions }, BLOCK_SLOT)
  t.same(read.unreadable, [{ index: healthy, reason: 'meta' }])
  t.equal(read.transactions.length, 443)
})

t.test('what is no block has an outcome that says so', (t) => {
  t.same(readRpcBlock({ jsonrpc: '2.0', id: 1, error: { code: -32009, message: 'Slot 7 was skipped' } }), {
    kind: 'rpc-error',
    code: -32009,
    message: 'Slot 7 was skipped'
  })
  t.same(readRpcBlock({ slot: 7, block: { error: 'gone' } }), {
    kind: 'rpc-error',
    code: null,
    message: 'gone'
  })
  t.same(readRpcBlock({ slot: 7, block: null }), { kind: 'absent' })
  t.same(readRpcBlock({ jsonrpc: '2.0', id: 1, result: null }), { kind: 'absent' })
  t.same(readRpcBlock({ blockhash: 'x', signatures: [] }), { kind: 'unreadable', reason: 'transactions' })
  t.same(readRpcBlock({ blockTime: 'now', transactions: [] }), { kind: 'unreadable', reason: 'blockTime' })
  t.same(readRpcBlock({ transactions: [{ transaction: { signatures: [] }, meta: null }] }), {
    kind: 'unreadable',
    reason: 'transactions: transaction.message'
  })
  for (const value of [7, 'text', [], true])
    t.match(readRpcBlock(value), { kind: 'unreadable', reason: 'block' })
  t.end()
})

testWithFixtures(t, 'a record is told apart by its shape', (t) => {
  const kinds = (folder: string): string[] => [
    ...new Set(fixtureFiles(folder).map((path) => readRpcRecord(readFixture(path)).kind))
  ]
  t.same(kinds('tx'), ['transaction'])
  t.same(kinds('tx-jsonparsed'), ['transaction'])
  t.same(kinds('accounts'), ['other'])
  t.same(kinds('vectors'), ['other'])
  t.equal(readRpcRecord(readFixture('index.json')).kind, 'other')
  t.match(readRpcRecord(fixtureBlock(), { slot: 7 }), { kind: 'block', block: { slot: 7 } })
  t.match(readRpcRecord({ slot: 8, block: fixtureBlock() }, { slot: 7 }), {
    kind: 'block',
    block: { slot: 8 }
  })
  const withoutSlot = { ...(readFixture(fixtureFiles('tx')[0]!) as object), slot: null }
  t.match(readRpcRecord(withoutSlot, { slot: 7, position: 3 }), {
    kind: 'transaction',
    slot: 7,
    transaction: { index: 3 }
  })
})

function mustRead(value: unknown, slot: number | null = null): RpcBlock {
  const outcome = readRpcBlock(value, slot)
  if (outcome.kind !== 'block') throw new Error(JSON.stringify(outcome))
  return outcome.block
}

/** Returns all content of a block as one text: comparing trees of this size takes seconds. */
function factsOf(block: RpcBlock): string {
  const plain = { ...block, transactions: block.transactions.map(plainTransaction) }
  return JSON.stringify(plain, (_, value: unknown) => (typeof value === 'bigint' ? `${value}n` : value))
}
