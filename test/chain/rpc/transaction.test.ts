import fc from 'fast-check'
import t from 'tap'
import { readRpcTransaction, isVoteTransaction } from '../../../src/chain/rpc/transaction.ts'
import type { Transaction } from '../../../src/chain/transaction.ts'
import { PubkeyTable, pubkeyToBase58 } from '../../../src/chain/pubkey.ts'
import { fixtureFiles, fixtureTransactions, readFixture, testWithFixtures } from '../../fixtures.ts'
import { randomRuns } from '../../random-runs.ts'
import { plainTransaction } from './plain.ts'
import { ENCODINGS, isCompiled, reencode, type JsonResult } from './reencode.ts'

testWithFixtures(t, 'every fixture transaction is read, with the version that the catalogue states', (t) => {
  let read = 0
  let failed = 0
  for (const { entry, result } of fixtureTransactions()) {
    const transaction = mustRead(result)
    t.equal(transaction.version, entry.version, entry.file)
    t.same(transaction.signature.length, 64)
    if (transaction.failed) failed++
    read++
  }
  t.same({ read, failed }, { read: 223, failed: 14 })
  t.equal(fixtureFiles('tx-jsonparsed').map((path) => mustRead(readFixture(path))).length, 114)
})

testWithFixtures(t, 'a transaction is the same under every encoding', (t) => {
  let compared = 0
  for (const { entry, result } of fixtureTransactions()) {
    if (!isCompiled(result)) continue
    const { header, recentBlockhash } = result.transaction.message
    // A record without the header does not say which keys are writable; bytes have a blockhash where the record has none.
    const plainOf = (value: unknown) => {
      const plain = header ? plainTransaction(mustRead(value)) : withoutLocks(mustRead(value))
      return recentBlockhash === null ? { ...plain, lifetime: undefined } : plain
    }
    const plain = plainOf(result)
    for (const encoding of ENCODINGS) {
      t.same(plainOf(reencode(result, encoding)), plain, `${entry.file} as ${encoding}`)
    }
    t.same(plainOf({ jsonrpc: '2.0', id: 1, result }), plain, 'as a whole response')
    compared++
  }
  t.equal(compared, 221)
})

testWithFixtures(t, 'jsonParsed gives what the binary instructions gave', (t) => {
  let compared = 0
  for (const { entry, result } of fixtureTransactions()) {
    if (entry.file_source === undefined) continue
    const plain = withoutMemoAccounts(mustRead(result))
    t.same(withoutMemoAccounts(mustRead(readFixture(entry.file_source))), plain, entry.file)
    compared++
  }
  t.equal(compared, 114)
})

testWithFixtures(t, 'a key is found by table and by bytes alike, whatever the encoding', (t) => {
  const { result } = fixtureTransactions().find(
    ({ entry, result }) => entry.version === 0 && isCompiled(result)
  )!
  for (const encoding of ENCODINGS) {
    const { keys } = mustRead(reencode(result as JsonResult, encoding))
    const texts = Array.from({ length: keys.length }, (_, i) => pubkeyToBase58(keys.bytes(i)))
    const table = new PubkeyTable(texts.map((text, i) => [text, i]))
    t.same(
      texts.map((_, i) => keys.lookup(i, table)),
      texts.map((_, i) => i)
    )
    t.equal(keys.lookup(0, new PubkeyTable([])), undefined)
    for (const outside of [-1, keys.length, NaN]) t.throws(() => keys.bytes(outside), RangeError)
  }
})

t.test('what may be absent is absent without harm', (t) => {
  const { meta, ...rest } = sample()
  const bare = mustRead({ ...rest, meta: { err: null, fee: 5000 } })
  t.match(bare, {
    version: 'legacy',
    index: null,
    logs: null,
    failed: false,
    feeLamports: 5000n,
    signerCount: 1
  })
  t.same(
    [bare.preTokenBalances, bare.postTokenBalances, bare.preBalances, bare.postBalances],
    [[], [], [], []]
  )
  t.equal(bare.nestingKnown, true)
  const nulls = Object.fromEntries(Object.keys(meta).map((key) => [key, null]))
  t.same(
    plainTransaction(mustRead({ ...rest, version: null, meta: { ...nulls, fee: 5000 } })),
    plainTransaction(bare)
  )
  t.match(readRpcTransaction({ ...rest, meta, slot: undefined, blockTime: null }), {
    kind: 'transaction',
    slot: null,
    blockTime: null
  })
  t.end()
})

t.test('an inner instruction without its height leaves the nesting unknown', (t) => {
  const result = sample()
  const [group] = result.meta.innerInstructions
  const without = { ...group!.instructions[0]!, stackHeight: undefined }
  const transaction = mustRead({
    ...result,
    meta: { ...result.meta, innerInstructions: [{ index: 0, instructions: [without] }] }
  })
  t.equal(transaction.nestingKnown, false)
  t.same(
    transaction.instructions.map((each) => [each.height, each.outerIndex, each.innerIndex]),
    [
      [1, 0, null],
      [0, 0, 0]
    ]
  )
  t.equal(mustRead(result).nestingKnown, true)
  t.end()
})

t.test('a failed transaction is read and marked', (t) => {
  const result = sample()
  const err = { InstructionError: [0, { Custom: 1 }] }
  t.equal(mustRead({ ...result, meta: { ...result.meta, err } }).failed, true)
  const old = { ...result.meta, err: undefined }
  t.equal(mustRead({ ...result, meta: { ...old, status: { Err: err } } }).failed, true)
  t.equal(mustRead({ ...result, meta: { ...old, status: { Ok: null } } }).failed, false)
  t.end()
})

t.test('a vote is recognised after reading too', (t) => {
  const result = sample()
  t.equal(isVoteTransaction(mustRead(result)), false)
  const { message } = result.transaction
  const accountKeys = [message.accountKeys[0]!, 'Vote111111111111111111111111111111111111111']
  const vote = { ...result, transaction: { ...result.transaction, message: { ...message, accountKeys } } }
  t.equal(isVoteTransaction(mustRead(vote)), true)
  const nothing = { ...result.transaction, message: { ...message, instructions: [] } }
  t.equal(
    isVoteTransaction(mustRead({ ...result, transaction: nothing, meta: { err: null, fee: 1 } })),
    false
  )
  t.end()
})

t.test('an error, an absent result and every broken field have an outcome of their own', (t) => {
  const result = sample()
  const { message } = result.transaction
  t.same(readRpcTransaction({ jsonrpc: '2.0', id: 1, error: { code: -32015, message: 'unsupported' } }), {
    kind: 'rpc-error',
    code: -32015,
    message: 'unsupported'
  })
  t.same(readRpcTransaction({ jsonrpc: '2.0', id: 1, result: null }), { kind: 'absent' })
  t.same(readRpcTransaction(null), { kind: 'absent' })
  const inMeta = (fields: object): object => ({ ...result, meta: { ...result.meta, ...fields } })
  const inMessage = (fields: object): object => ({
    ...result,
    transaction: { ...result.transaction, message: { ...message, ...fields } }
  })
  const balance = { ...result.meta.preTokenBalances[0]! }
  const broken: [reason: string, value: unknown][] = [
    ['transaction', 'text'],
    ['transaction', []],
    ['transaction', { ...result, transaction: ['?', 'base64'] }],
    ['transaction', { ...result, transaction: ['AQ==', 'base64+zstd'] }],
    ['transaction: transaction bytes end early', { ...result, transaction: ['AQ==', 'base64'] }],
    ['transaction.message', { ...result, transaction: { signatures: [] } }],
    ['transaction.signatures', { ...result, transaction: { message, signatures: ['2'] } }],
    ['version', { ...result, version: 2 }],
    ['slot', { ...result, slot: -1 }],
    ['blockTime', { ...result, blockTime: '1' }],
    ['transactionIndex', { ...result, transactionIndex: 0.5 }],
    ['meta', { ...result, meta: null }],
    ['meta.err', inMeta({ err: undefined })],
    ['meta.fee', inMeta({ fee: null })],
    ['meta.logMessages', inMeta({ logMessages: [1] })],
    ['meta.preBalances', inMeta({ preBalances: ['1'] })],
    ['meta.preTokenBalances', inMeta({ preTokenBalances: [{ ...balance, mint: 'x'.repeat(44) }] })],
    ['meta.preTokenBalances.accountIndex', inMeta({ preTokenBalances: [{ ...balance, accountIndex: 9 }] })],
    [
      'meta.postTokenBalances.amount',
      inMeta({ postTokenBalances: [{ ...balance, uiTokenAmount: { amount: '1.5', decimals: 0 } }] })
    ],
    ['meta.innerInstructions', inMeta({ innerInstructions: {} })],
    ['meta.innerInstructions.index', inMeta({ innerInstructions: [{ index: 1, instructions: [] }] })],
    ['transaction.message.accountKeys', inMessage({ accountKeys: ['short'] })],
    ['transaction.message.header', inMessage({ header: { numRequiredSignatures: '1' } })],
    ['transaction.signatures', inMessage({ header: { numRequiredSignatures: 3 } })],
    [
      'transaction.message.instructions.data',
      inMessage({ instructions: [{ programIdIndex: 1, accounts: [], data: 5 }] })
    ],
    [
      'transaction.message.instructions.accounts',
      inMessage({ instructions: [{ programIdIndex: 1, accounts: [2], data: '' }] })
    ],
    [
      'transaction.message.instructions.programIdIndex',
      inMessage({ instructions: [{ programIdIndex: 2, accounts: [], data: '' }] })
    ],
    [
      'transaction.message.instructions.programId',
      inMessage({ instructions: [{ programId: 'nobody', accounts: [], data: '' }] })
    ],
    [
      'meta.loadedAddresses',
      inMessage({ addressTableLookups: [{ accountKey: 'x', writableIndexes: [1], readonlyIndexes: [] }] })
    ]
  ]
  for (const [reason, value] of broken)
    t.same(readRpcTransaction(value), { kind: 'unreadable', reason }, reason)
  t.end()
})

testWithFixtures(t, 'a changed or cut record never throws, neither when read nor when looked at', (t) => {
  const samples = fixtureTransactions().filter((_, i) => i % 9 === 0)
  const forms = samples.flatMap(({ entry, result }) => [
    result,
    ...(isCompiled(result) ? [reencode(result, 'base64')] : []),
    ...(entry.file_source === undefined ? [] : [readFixture(entry.file_source)])
  ])
  const texts = forms.map((form) => JSON.stringify(form))
  const junk = fc.constantFrom<unknown>(
    null,
    -1,
    0.5,
    300,
    1e300,
    '',
    '0',
    'zz',
    [],
    {},
    [null],
    true,
    '1'.repeat(44)
  )
  let unreadable = 0
  fc.assert(
    fc.property(
      fc.constantFrom(...texts),
      fc.array(fc.nat(), { minLength: 1, maxLength: 3 }),
      junk,
      (text, at, value) => {
        const changed: unknown = JSON.parse(text)
        for (const seed of at) replaceSomewhere(changed, seed, structuredClone(value))
        const outcome = readRpcTransaction(changed)
        if (outcome.kind === 'transaction') plainTransaction(outcome.transaction)
        if (outcome.kind === 'unreadable') unreadable++
        return true
      }
    ),
    randomRuns(1500, 7)
  )
  t.ok(unreadable > 100, 'the changes do break records')
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      readRpcTransaction(value)
      return true
    }),
    { seed: 7 }
  )
})

/** Replaces one value of a JSON tree, chosen by the seed. */
function replaceSomewhere(root: unknown, seed: number, value: unknown): void {
  let node = root
  let rest = seed
  for (;;) {
    if (typeof node !== 'object' || node === null) return
    const keys = Object.keys(node)
    if (keys.length === 0) return
    const key = keys[rest % keys.length]!
    rest = Math.floor(rest / keys.length)
    const child = (node as Record<string, unknown>)[key]
    if (typeof child !== 'object' || child === null || rest % 7 === 0) {
      ;(node as Record<string, unknown>)[key] = value
      return
    }
    node = child
  }
}

function sample() {
  return {
    slot: 7,
    blockTime: 1_700_000_000,
    transaction: {
      signatures: ['5'.repeat(87)],
      message: {
        header: { numRequiredSignatures: 1, numReadonlySignedAccounts: 0, numReadonlyUnsignedAccounts: 1 },
        accountKeys: ['So11111111111111111111111111111111111111112', '11111111111111111111111111111111'],
        recentBlockhash: '11111111111111111111111111111111',
        instructions: [
          { programIdIndex: 1, accounts: [0], data: '3Bxs4h24hBtQy9rw', stackHeight: null as number | null }
        ]
      }
    },
    meta: {
      err: null,
      fee: 5000,
      innerInstructions: [
        { index: 0, instructions: [{ programIdIndex: 1, accounts: [0, 0], data: '', stackHeight: 2 }] }
      ],
      logMessages: ['Program log: hello'],
      preTokenBalances: [
        {
          accountIndex: 0,
          mint: 'So11111111111111111111111111111111111111112',
          uiTokenAmount: { amount: '18446744073709551615', decimals: 9 }
        }
      ],
      postTokenBalances: [],
      preBalances: [1, 1],
      postBalances: [1, 1]
    }
  }
}

function mustRead(value: unknown): Transaction {
  const outcome = readRpcTransaction(value)
  if (outcome.kind !== 'transaction') throw new Error(JSON.stringify(outcome))
  return outcome.transaction
}

const MEMO = 'MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr'

/** Removes the accounts of memos: a node does not send them for a parsed memo, and the position only in some fixtures. */
/** A transaction without which keys are writable: in jsonParsed a node has demoted some (`writableAccounts`). */
function withoutLocks(transaction: Transaction) {
  const { writable: _, ...plain } = plainTransaction(transaction)
  return plain
}

function withoutMemoAccounts(transaction: Transaction) {
  const memo = new PubkeyTable([[MEMO, true]])
  const plain = withoutLocks(transaction)
  return {
    ...plain,
    index: null,
    instructions: plain.instructions.map((each) =>
      transaction.keys.lookup(each.program, memo) ? { ...each, accounts: [] } : each
    )
  }
}
