import t from 'tap'
import { decodeTransactions } from '../../src/chain/decode-block.ts'
import { placeBlock, readRpcBlock } from '../../src/chain/rpc/block.ts'
import { readRpcTransaction } from '../../src/chain/rpc/transaction.ts'
import type { Block } from '../../src/chain/transaction.ts'
import { readUpdate, type StreamedBlock } from '../../src/yellowstone/read-block.ts'
import { plainTransaction } from '../chain/rpc/plain.ts'
import { BLOCK_SLOT, fixtureBlock, fixtureFiles, readFixture, testWithFixtures } from '../fixtures.ts'
import {
  encodeBlock,
  encodeUpdate,
  isCompiled,
  updateBlock,
  updateTransaction,
  type UpdateBlock
} from './encode-block.ts'

function mustRead(bytes: Uint8Array): StreamedBlock {
  const update = readUpdate(bytes)
  if (update.kind !== 'block') throw new Error(JSON.stringify(update))
  return update.block
}

function fromRpc(value: unknown): Block {
  const outcome = readRpcBlock(value, BLOCK_SLOT)
  if (outcome.kind !== 'block') throw new Error(JSON.stringify(outcome))
  return placeBlock(outcome.block)!
}

/** Returns all content of transactions as one text: comparing trees of this size takes seconds. */
function textOf(value: unknown): string {
  return JSON.stringify(value, (_, each: unknown) => (typeof each === 'bigint' ? `${each}n` : each))
}

testWithFixtures(t, 'the recorded block says the same in a stream and from getBlock', (t) => {
  const streamed = mustRead(encodeBlock(updateBlock(fixtureBlock(), BLOCK_SLOT)))
  const polled = fromRpc(fixtureBlock())
  t.match(streamed, {
    slot: BLOCK_SLOT,
    blockTime: 1710441678,
    parentSlot: BLOCK_SLOT - 1,
    votes: 158,
    unreadable: [],
    blockhash: '5GG5pzTbH6KgZM54M9XWfBNmBupQuZXdQxoZRRQXHcpM',
    parentBlockhash: '9BMHTdybcGah8PWtCzu8tVFDBXmiEHZZDf3FaZ651Nf',
    height: polled.height
  })
  t.ok(polled.height! > 0)
  t.equal(polled.height, fixtureBlock().blockHeight)
  t.equal(streamed.transactions.length, 444)
  t.ok(
    textOf(streamed.transactions.map(plainTransaction)) === textOf(polled.transactions.map(plainTransaction)),
    'transactions'
  )
  const events = decodeTransactions(streamed.transactions)
  t.ok(events.entries.length > 50, `${events.entries.length} events`)
  t.ok(textOf(events) === textOf(decodeTransactions(polled.transactions)), 'events and notes')
})

testWithFixtures(t, 'what is kept of a block does not keep the block', (t) => {
  const { transactions } = mustRead(encodeBlock(updateBlock(fixtureBlock(), BLOCK_SLOT)))
  const sizes = transactions.flatMap(({ signature, keys, instructions, preTokenBalances }) => [
    signature.buffer.byteLength,
    keys.bytes(0).buffer.byteLength,
    keys.bytes(keys.length - 1).buffer.byteLength,
    ...instructions.map(({ data }) => data.buffer.byteLength),
    ...preTokenBalances.map(({ mint }) => mint.buffer.byteLength)
  ])
  t.ok(
    sizes.length > 2_000 && Math.max(...sizes) < 10_240,
    `${sizes.length} parts, ${Math.max(...sizes)} bytes`
  )
})

testWithFixtures(t, 'every recorded transaction says the same in a stream and from getTransaction', (t) => {
  const versions = new Set<unknown>()
  let compared = 0
  for (const path of fixtureFiles('tx')) {
    const value = readFixture(path)
    if (!isCompiled(value)) continue
    const outcome = readRpcTransaction(value, 0)
    if (outcome.kind !== 'transaction') continue
    const streamed = mustRead(encodeBlock(blockOf([updateTransaction(value, 0)]))).transactions
    t.ok(textOf(streamed.map(plainTransaction)) === textOf([plainTransaction(outcome.transaction)]), path)
    versions.add(outcome.transaction.version)
    compared++
  }
  t.ok(compared > 200, `${compared} compared`)
  t.same([...versions].sort(), [0, 1, 'legacy'])
})

/** Returns a block of slot 9 with transactions in the stream's form. */
function blockOf(transactions: UpdateBlock['transactions'], facts: Partial<UpdateBlock> = {}): UpdateBlock {
  const empty = {
    blockhash: 'hash',
    previousBlockhash: 'parent',
    parentSlot: 8,
    blockTime: 5,
    transactions: []
  }
  const executedTransactionCount = String(transactions.length)
  return { ...updateBlock(empty, 9), executedTransactionCount, transactions, ...facts }
}

t.test('a block without transactions is a block', async (t) => {
  t.match(mustRead(encodeBlock(blockOf([]))), {
    slot: 9,
    parentSlot: 8,
    blockTime: 5,
    transactions: [],
    votes: 0
  })
})

t.test('rewards say the same in a stream and from getBlock, and their absence is told apart', async (t) => {
  const reward = {
    pubkey: 'FrTqvWe21yaaAwMemRVpBYT7HsDjHpyVnxndzkxrb9PY',
    postBalance: 900,
    commission: null
  }
  const rewards = [
    { ...reward, lamports: 7, rewardType: 'Fee' },
    { ...reward, lamports: -3, rewardType: 'Rent' },
    { ...reward, lamports: 1, rewardType: 'Staking' },
    { ...reward, lamports: 2, rewardType: 'Voting' }
  ]
  const result = {
    blockhash: 'x',
    previousBlockhash: 'w',
    parentSlot: 8,
    blockTime: 5,
    transactions: [],
    rewards
  }
  const streamed = mustRead(encodeBlock(updateBlock(result, 9)))
  t.match(streamed.rewards, [
    { address: reward.pubkey, lamports: 7n, postLamports: 900n, type: 'fee' },
    { lamports: -3n, type: 'rent' },
    { lamports: 1n, type: 'staking' },
    { lamports: 2n, type: 'voting' }
  ])
  t.strictSame(streamed.rewards, fromRpc(result).rewards)
  for (const stated of [{ rewards: [] }, { rewards: undefined }]) {
    const one = mustRead(encodeBlock(updateBlock({ ...result, ...stated }, 9)))
    t.strictSame(one.rewards, stated.rewards)
    t.strictSame(fromRpc({ ...result, ...stated }).rewards, stated.rewards)
  }
  const odd = { ...result, rewards: [{ ...reward, lamports: 1, rewardType: 'Lottery' }] }
  t.match(fromRpc(odd).rewards, [{ type: null }])
  t.equal(fromRpc({ ...result, rewards: [{ ...reward, pubkey: '?' }] }).rewards, undefined, 'malformed')
})

t.test('a block that is not whole is unreadable, and the reason names the field', async (t) => {
  const unreadable = (facts: Partial<UpdateBlock>) => readUpdate(encodeBlock(blockOf([], facts)))
  t.same(unreadable({ executedTransactionCount: '3' }), {
    kind: 'unreadable',
    slot: 9,
    reason: 'transactions: 0 of 3'
  })
  t.match(unreadable({ blockTime: undefined }), { slot: 9, reason: 'blockTime' })
  t.match(unreadable({ blockTime: { timestamp: '-1' } }), { slot: 9, reason: 'blockTime' })
  t.match(unreadable({ parentSlot: '9' }), { slot: 9, reason: 'parentSlot' })
  t.match(unreadable({ blockhash: '' }), { slot: 9, reason: 'blockhash' })
  t.match(unreadable({ slot: '18446744073709551615' }), { slot: null, reason: 'slot' })
})

testWithFixtures(
  t,
  'transactions out of order are put in order; one that is there twice makes a block unreadable',
  (t) => {
    const whole = updateBlock(fixtureBlock(), BLOCK_SLOT)
    const turned = { ...whole, transactions: [...whole.transactions].reverse() }
    t.same(
      mustRead(encodeBlock(turned)).transactions.map(({ index }) => index),
      mustRead(encodeBlock(whole)).transactions.map(({ index }) => index)
    )
    const [first, , ...rest] = whole.transactions
    t.match(readUpdate(encodeBlock({ ...whole, transactions: [first!, first!, ...rest] })), {
      kind: 'unreadable',
      slot: BLOCK_SLOT,
      reason: 'transactions: index 0 in place of 1'
    })
  }
)

testWithFixtures(
  t,
  'a transaction that is not as the protocol has it is left out with a reason, the others stay',
  (t) => {
    const path = fixtureFiles('tx').find((each) => {
      const { version, meta } = readFixture(each) as {
        version: unknown
        meta: { innerInstructions: unknown[] }
      }
      return version === 0 && meta.innerInstructions.length > 0
    })!
    const good = () => updateTransaction(readFixture(path), 0)
    const faults: [reason: string, change: (transaction: ReturnType<typeof good>) => void][] = [
      ['meta', (it) => (it.meta = undefined)],
      ['transaction', (it) => (it.transaction = undefined)],
      ['transaction.message', (it) => (it.transaction!.message = undefined)],
      ['signature', (it) => (it.signature = new Uint8Array(63))],
      ['transaction.signatures', (it) => (it.signature = new Uint8Array(64))],
      ['transaction.signatures', (it) => (it.transaction!.signatures = [])],
      ['transaction.message.header', (it) => (it.transaction!.message!.header = undefined)],
      [
        'transaction.message.accountKeys',
        (it) => (it.transaction!.message!.accountKeys[1] = new Uint8Array(31))
      ],
      ['transaction.message.versioned', (it) => (it.transaction!.message!.versioned = false)],
      [
        'transaction.message.instructions.programIdIndex',
        (it) => (it.transaction!.message!.instructions[0]!.programIdIndex = 250)
      ],
      [
        'transaction.message.instructions.accounts',
        (it) => (it.transaction!.message!.instructions[0]!.accounts = Uint8Array.of(251))
      ],
      ['meta.loadedAddresses', (it) => it.meta!.loadedWritableAddresses.push(new Uint8Array(32))],
      ['meta.loadedReadonlyAddresses', (it) => it.meta!.loadedReadonlyAddresses.push(new Uint8Array(33))],
      ['meta.innerInstructions.index', (it) => (it.meta!.innerInstructions[0]!.index = 99)],
      [
        'meta.innerInstructions.index',
        (it) => it.meta!.innerInstructions.push(it.meta!.innerInstructions[0]!)
      ],
      [
        'meta.innerInstructions.stackHeight',
        (it) => (it.meta!.innerInstructions[0]!.instructions[0]!.stackHeight = 1)
      ],
      [
        'meta.innerInstructions.programIdIndex',
        (it) => (it.meta!.innerInstructions[0]!.instructions[0]!.programIdIndex = 252)
      ],
      ['meta.innerInstructionsNone', (it) => (it.meta!.innerInstructionsNone = true)],
      ['meta.logMessagesNone', (it) => (it.meta!.logMessagesNone = true)],
      ['meta.preTokenBalances', (it) => (it.meta!.preTokenBalances[0]!.mint = '')],
      [
        'meta.preTokenBalances',
        (it) => (it.meta!.preTokenBalances[0]!.mint = 'no base58 text of thirty-two bytes!!')
      ],
      ['meta.preTokenBalances.accountIndex', (it) => (it.meta!.preTokenBalances[0]!.accountIndex = 253)],
      ['meta.preTokenBalances.amount', (it) => (it.meta!.preTokenBalances[0]!.uiTokenAmount!.amount = '1e5')],
      [
        'meta.preTokenBalances.amount',
        (it) => (it.meta!.preTokenBalances[0]!.uiTokenAmount!.amount = '1'.repeat(21))
      ],
      [
        'meta.postTokenBalances.decimals',
        (it) => (it.meta!.postTokenBalances[0]!.uiTokenAmount!.decimals = 256)
      ]
    ]
    for (const [reason, change] of faults) {
      const bad = { ...good(), index: '1' }
      change(bad)
      const block = mustRead(encodeBlock(blockOf([good(), bad])))
      t.same(block.unreadable, [{ index: 1, reason }], reason)
      t.same(block.transactions.length, 1, 'the good one stays')
    }
    const lonely = { ...good(), meta: undefined }
    t.match(readUpdate(encodeBlock(blockOf([lonely]))), { slot: 9, reason: 'transactions: meta' })
  }
)

testWithFixtures(t, 'what a node did not record is told apart from what did not happen', (t) => {
  const entry = readFixture(fixtureFiles('tx')[0]!) as { meta: Record<string, unknown> }
  const read = (meta: Record<string, unknown>) => {
    const update = updateTransaction({ ...entry, meta: { ...entry.meta, ...meta } }, 0)
    return mustRead(encodeBlock(blockOf([update]))).transactions[0]!
  }
  t.equal(read({ logMessages: null }).logs, null)
  t.same(read({ logMessages: [] }).logs, [])
  t.same(read({ logMessages: ['Program log: größer', ''] }).logs, ['Program log: größer', ''])
  const without = (entry.meta.innerInstructions as { index: number; instructions: object[] }[]).map(
    (group) => ({
      ...group,
      instructions: group.instructions.map((each) => ({ ...each, stackHeight: null }))
    })
  )
  t.equal(read({}).nestingKnown, true)
  t.equal(read({ innerInstructions: without }).nestingKnown, false)
  t.equal(read({ innerInstructions: null }).nestingKnown, true)
  t.same(read({ innerInstructions: null }).unstated, ['inner-instructions'])
  t.equal(read({}).unstated, undefined)
  t.same(read({ preBalances: [] }).unstated, ['balances'])
  t.same(read({ preBalances: [0, 9007199254740991, 1] }).preBalances, [0, 9007199254740991, 1])
})

t.test('a ping is recognized, and unrequested updates are ignored', async (t) => {
  t.same(readUpdate(encodeUpdate({ ping: {} })), { kind: 'ping' })
  t.same(readUpdate(encodeUpdate({ pong: { id: 1 } })), { kind: 'other' })
  t.same(readUpdate(encodeUpdate({ slot: { slot: '7', status: 1 } })), { kind: 'other' })
  t.same(readUpdate(new Uint8Array(0)), { kind: 'other' })
})

testWithFixtures(
  t,
  'bytes that are cut or changed anywhere give an outcome, and never more than is there',
  (t) => {
    const whole = updateBlock(fixtureBlock(), BLOCK_SLOT)
    const some = whole.transactions.filter(({ isVote }) => !isVote).slice(40, 43)
    const bytes = encodeBlock(blockOf(some.map((each, index) => ({ ...each, index: String(index) }))))
    const outcomes = { unreadable: 0, block: 0, ping: 0, other: 0 }
    const look = (changed: Uint8Array): void => {
      const update = readUpdate(changed)
      outcomes[update.kind]++
      if (update.kind !== 'block') return
      if (update.block.transactions.length > 3) throw new Error('more than is there')
      decodeTransactions(update.block.transactions)
      textOf(update.block.transactions.map(plainTransaction))
    }
    const step = Math.max(1, Math.floor(bytes.length / 2_000))
    for (let at = 0; at < bytes.length; at += step) {
      look(bytes.subarray(0, at))
      for (const value of [0, 0x7f, 0x80, 0xff]) {
        const changed = Uint8Array.from(bytes)
        changed[at] = value
        look(changed)
      }
    }
    t.ok(outcomes.unreadable > 2_000 && outcomes.block > 1_000, JSON.stringify(outcomes))
  }
)
