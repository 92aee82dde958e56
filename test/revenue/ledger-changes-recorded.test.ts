import t from 'tap'
import { decodeTransaction } from '../../src/chain/decode.ts'
import { pubkeyOfMapKey, pubkeyToBase58, PubkeyTable } from '../../src/chain/pubkey.ts'
import { placeBlock, readRpcBlock } from '../../src/chain/rpc/block.ts'
import { readRpcTransaction } from '../../src/chain/rpc/transaction.ts'
import type { Block, Transaction } from '../../src/chain/transaction.ts'
import { balanceChanges } from '../../src/holders/balance-changes.ts'
import { WSOL } from '../../src/market/cash.ts'
import { ledgerChanges } from '../../src/revenue/ledger-changes.ts'
import { deltaOf, ledgerChange } from '../../src/revenue/ledger-entry.ts'
import { tradesOf } from '../chain/decode/decoded-record.ts'
import { BLOCK_SLOT, fixtureBlock, fixtureTransactions, testWithFixtures } from '../fixtures.ts'
import { changesOfAll, ledgerTotals, statedTotals, Totals } from './balance-totals.ts'

function recordedBlock(): Block {
  const outcome = readRpcBlock(fixtureBlock(), BLOCK_SLOT)
  if (outcome.kind !== 'block') throw new Error(outcome.kind)
  return placeBlock(outcome.block)!
}

function recordedTransactions(): readonly Transaction[] {
  return fixtureTransactions().flatMap(({ result }, place) => {
    const outcome = readRpcTransaction(result, place)
    return outcome.kind === 'transaction' ? [outcome.transaction] : []
  })
}

for (const [name, read] of [
  ['the recorded block', () => recordedBlock().transactions],
  ['recorded transactions', recordedTransactions]
] as const) {
  testWithFixtures(t, `${name}: entries of each account add up to its balances after less before`, (t) => {
    const transactions = read()
    const stated = statedTotals(transactions).shown
    t.ok(stated.length > 500, `${stated.length} accounts`)
    t.strictSame(ledgerTotals(changesOfAll(transactions)).shown, stated)
  })

  testWithFixtures(t, `${name}: every entry is valid, changes a balance and has its place`, (t) => {
    const transactions = read()
    let count = 0
    for (const [address, list] of changesOfAll(transactions))
      for (const [at, change] of list.entries()) {
        count++
        const earlier = list[at - 1]
        const isSameTransaction = earlier?.txIndex === change.txIndex
        const { success } = ledgerChange.safeParse(JSON.parse(JSON.stringify(change, asText)))
        const isRight =
          success &&
          change.pre !== change.post &&
          change.index === (isSameTransaction ? earlier.index + 1 : 0) &&
          change.counterparty !== address &&
          (change.counterparty === null) === (change.confidence === 'none') &&
          (earlier === undefined || isSameTransaction || earlier.txIndex < change.txIndex)
        if (!isRight) t.fail(`${address} ${JSON.stringify(change, asText)}`)
      }
    t.ok(count > 1000, `${count} entries`)
  })
}

const asText = (_: string, value: unknown): unknown => (typeof value === 'bigint' ? String(value) : value)

testWithFixtures(t, 'in the recorded block entries of an account follow each other without a hole', (t) => {
  let followed = 0
  for (const [address, list] of changesOfAll(recordedBlock().transactions)) {
    const last = new Map<string, bigint>()
    for (const { account, isNative, mint, pre, post } of list) {
      const key = `${account} ${isNative} ${mint}`
      const before = last.get(key)
      if (before !== undefined) {
        followed++
        if (before !== pre) t.fail(`${address}: ${key} ends at ${before} and begins at ${pre}`)
      }
      last.set(key, post)
    }
  }
  t.ok(followed > 200, `${followed} entries after another`)
})

testWithFixtures(t, 'in the recorded block the tokens of owners agree with the changes of holders', (t) => {
  const { transactions } = recordedBlock()
  const byAccount = new Totals()
  for (const [mint, { accounts }] of balanceChanges({ transactions }, null))
    for (const { account, before, after } of accounts.values())
      byAccount.add(
        `${pubkeyToBase58(account)} ${pubkeyToBase58(pubkeyOfMapKey(mint))}`,
        (after?.amount ?? 0n) - before
      )
  const ownerOf = new Map<string, string>()
  for (const { keys, preTokenBalances, postTokenBalances } of transactions)
    for (const { account, owner } of [...preTokenBalances, ...postTokenBalances])
      ownerOf.set(pubkeyToBase58(keys.bytes(account)), pubkeyToBase58(owner!))
  const owners = new Set(ownerOf.values())
  const table = new PubkeyTable([...owners].map((each) => [each, each] as const))
  const ofOwners = new Totals()
  for (const [address, list] of ledgerChanges({ transactions }, table))
    for (const change of list)
      // An owner that is a token account of another owner has entries of itself too.
      if (!change.isNative && ownerOf.get(change.account) === address)
        ofOwners.add(`${change.account} ${change.mint}`, deltaOf(change))
  t.ok(ofOwners.shown.length > 100)
  t.strictSame(ofOwners.shown, byAccount.shown)
})

testWithFixtures(
  t,
  'in the recorded block one watched address has the entries that it has among all',
  (t) => {
    const { transactions } = recordedBlock()
    const all = changesOfAll(transactions)
    for (const [address, expected] of [...all].filter((_, at) => at % 40 === 0)) {
      const alone = ledgerChanges({ transactions }, new PubkeyTable([[address, address]]))
      t.strictSame(alone, new Map([[address, expected]]), address)
    }
  }
)

testWithFixtures(t, 'in the recorded block each failed transaction costs its payer the fee', (t) => {
  const { transactions } = recordedBlock()
  const failed = transactions.filter((transaction) => transaction.failed)
  t.ok(failed.length > 200)
  const expected = failed.map(({ index, keys, feeLamports }) => [
    index,
    pubkeyToBase58(keys.bytes(0)),
    -feeLamports
  ])
  const places = new Set(failed.map(({ index }) => index))
  const found = [...changesOfAll(transactions)].flatMap(([address, list]) =>
    list
      .filter(({ txIndex }) => places.has(txIndex))
      .map((change) => [change.txIndex, address, deltaOf(change), change.kind])
  )
  const order = (a: readonly unknown[], b: readonly unknown[]): number => Number(a[0]) - Number(b[0])
  t.strictSame(
    found.sort(order),
    expected.map((each) => [...each, 'fee'])
  )
})

testWithFixtures(t, 'recorded trades are swaps of the tokens of their traders', (t) => {
  const kinds = new Set<string>()
  let swaps = 0
  for (const transaction of recordedTransactions()) {
    const changes = changesOfAll([transaction])
    for (const { kind } of [...changes.values()].flat()) kinds.add(kind)
    for (const trade of tradesOf(decodeTransaction(transaction).events)) {
      const mints = [trade.inMint, trade.outMint].map(pubkeyToBase58)
      for (const change of changes.get(pubkeyToBase58(trade.user)) ?? []) {
        if (change.mint === WSOL || !mints.includes(change.mint)) continue
        swaps++
        if (change.kind !== 'swap') t.fail(`${change.signature} ${change.account} ${change.kind}`)
      }
    }
  }
  t.ok(swaps > 100, `${swaps} swaps`)
  t.strictSame([...kinds].sort(), ['burn', 'fee', 'mint', 'other', 'rent', 'swap', 'transfer', 'unwrap'])
})
