import { VersionedTransaction } from '@solana/web3.js'
import t from 'tap'
import { accountHashes } from '../../src/chain/account-hash.ts'
import { ByteKeys } from './byte-keys.ts'
import { pubkeyFromBase58, pubkeyToBase58 } from '../../src/chain/pubkey.ts'
import { readRpcTransaction } from '../../src/chain/rpc/transaction.ts'
import type { Transaction } from '../../src/chain/transaction.ts'
import { isReserved, writeWritable } from '../../src/chain/writable-accounts.ts'
import { fixtureBlock, fixtureFiles, fixtureIndex, readFixture, testWithFixtures } from '../fixtures.ts'
import { buildTransaction } from './build-transaction.ts'

const LOADER = 'BPFLoaderUpgradeab1e11111111111111111111111'
const CLOCK = 'SysvarC1ock11111111111111111111111111111111'

function mustRead(value: unknown): Transaction {
  const outcome = readRpcTransaction(value)
  if (outcome.kind !== 'transaction') throw new Error(JSON.stringify(outcome))
  return outcome.transaction
}

/** Addresses that a transaction locks for writing, in the order of its keys. */
function lockedBy(transaction: Transaction): string[] {
  const { keys } = transaction
  const into = new Float64Array(256)
  const hashes = new Set(into.subarray(0, writeWritable(transaction, into, 0)))
  const all = Array.from({ length: keys.length }, (_, index) => keys.bytes(index))
  return all
    .filter((key) => !isReserved(key) && accountHashes(key).some((hash) => hashes.has(hash)))
    .map(pubkeyToBase58)
}

testWithFixtures(t, 'writable keys of the recorded block are those that web3.js finds', (t) => {
  let compared = 0
  for (const entry of fixtureBlock().transactions) {
    const [text] = entry.transaction as [string]
    const { message } = VersionedTransaction.deserialize(Buffer.from(text, 'base64'))
    const { keys } = mustRead(entry)
    const expected = Array.from({ length: keys.length }, (_, index) => message.isAccountWritable(index))
    const found = expected.map((_, index) => keys.isWritable(index))
    if (found.join() !== expected.join()) t.fail(`entry ${compared}`)
    compared++
  }
  t.ok(compared > 600, `${compared} transactions`)
  t.end()
})

testWithFixtures(t, 'accounts locked for writing are those that a node marks in jsonParsed', (t) => {
  const { transactions } = fixtureIndex()
  const verified = new Set(transactions.filter((each) => each.signature_verified).map(({ file }) => file))
  let compared = 0
  for (const path of fixtureFiles('tx-jsonparsed')) {
    const value = readFixture(path) as { result?: unknown }
    const parsed = (value.result ?? value) as {
      transaction: { message: { accountKeys: { pubkey: string; writable: boolean }[] } }
    }
    const marked = parsed.transaction.message.accountKeys.filter(({ writable }) => writable)
    t.strictSame(
      lockedBy(mustRead(value)),
      marked.map(({ pubkey }) => pubkey),
      path
    )
    const compiled = path.replace('tx-jsonparsed', 'tx')
    // Headers without a verified signature were made from the marks, which do not show demoted accounts.
    if (!verified.has(compiled)) continue
    t.strictSame(
      lockedBy(mustRead(readFixture(compiled))),
      marked.map(({ pubkey }) => pubkey),
      compiled
    )
    compared++
  }
  t.ok(compared > 50, `${compared} are compared in both encodings`)
  t.end()
})

/** A transaction with one instruction, which calls the second of its keys. All keys are writable. */
function calling(program: string, others: readonly string[]): Transaction {
  const payer = '11111111111111111111111111111112'
  const texts = [payer, program, ...others]
  const keys = new ByteKeys(Buffer.concat(texts.map(pubkeyFromBase58)), {
    signatures: 1,
    readonlySigned: 0,
    readonlyUnsigned: 0,
    statics: texts.length,
    loadedWritable: 0
  })
  const data = new Uint8Array(0)
  const call = { program: 1, accounts: [], data, height: 1, outerIndex: 0, innerIndex: null }
  return { ...buildTransaction({ signers: [payer], calls: [] }), keys, instructions: [call] }
}

void t.test('a called program and reserved accounts are not locked, unless the loader is named', (t) => {
  const [payer, program, other] = [
    '11111111111111111111111111111112',
    '11111111111111111111111111111113',
    'So11111111111111111111111111111111111111112'
  ]
  t.strictSame(lockedBy(calling(program, [other, CLOCK])), [payer, other])
  t.strictSame(lockedBy(calling(program, [other, CLOCK, LOADER])), [payer, program, other])
  t.end()
})
