import t from 'tap'
import { decodeTransaction } from '../../src/chain/decode.ts'
import type { Note } from '../../src/chain/emitter.ts'
import { KnownVaults } from '../../src/chain/known-vaults.ts'
import { notesOfMovedVaults } from '../../src/chain/moved-vaults.ts'
import { readRpcBlock } from '../../src/chain/rpc/block.ts'
import { readRpcTransaction } from '../../src/chain/rpc/transaction.ts'
import { TOKEN_PROGRAM } from '../../src/chain/token-movement.ts'
import { pubkeyToBase58, samePubkey } from '../../src/chain/pubkey.ts'
import type { Transaction } from '../../src/chain/transaction.ts'
import type { VenueId } from '../../src/chain/venue-id.ts'
import { VENUE_IDS } from '../../src/chain/venue-id.ts'
import { VENUES_BY_PROGRAM } from '../../src/chain/venues.ts'
import { BLOCK_SLOT, fixtureBlock, fixtureTransactions, testWithFixtures } from '../fixtures.ts'
import { trade } from '../market/world.ts'
import {
  buildTransaction,
  burn,
  checkedTransfer,
  keyOf,
  tokenTransfer,
  type CallSpec,
  type BalanceSpec
} from './build-transaction.ts'
import { readFacts } from './facts/encoding.ts'

/** Knows the vaults of all events of some transactions. */
function vaultsOf(transactions: readonly Transaction[]): KnownVaults {
  const vaults = new KnownVaults()
  for (const transaction of transactions)
    for (const event of decodeTransaction(transaction).events) vaults.learn(event)
  return vaults
}

/** Returns a transaction as if its record lacked the calls of the venues. */
function withoutCalls(transaction: Transaction): Transaction {
  const { keys } = transaction
  const instructions = transaction.instructions.filter(
    ({ program }) => keys.lookup(program, VENUES_BY_PROGRAM) === undefined
  )
  return withFields(transaction, { instructions })
}

/** Returns a transaction with other fields; its own may be accessors. */
function withFields(transaction: Transaction, fields: Partial<Transaction>): Transaction {
  const { failed, keys, unstated, instructions, preTokenBalances, postTokenBalances } = transaction
  const own = { failed, keys, unstated, instructions, preTokenBalances, postTokenBalances }
  return Object.assign(Object.create(transaction) as Transaction, own, fields)
}

const kindsOf = (notes: readonly Note[]): string[] =>
  notes.map((note) =>
    note.kind === 'missing' ? note.reason : note.kind === 'vault-transfer' ? note.transfer : note.kind
  )

testWithFixtures(t, 'no recorded transaction of mainnet moves a known vault without a call', async (t) => {
  const block = readRpcBlock(fixtureBlock(), BLOCK_SLOT)
  if (block.kind !== 'block') throw new Error(block.kind)
  const singles = fixtureTransactions().flatMap(({ result }) => {
    const outcome = readRpcTransaction(result)
    return outcome.kind === 'transaction' ? [outcome.transaction] : []
  })
  const transactions = [...singles, ...block.block.transactions]
  const vaults = vaultsOf(transactions)
  t.ok(vaults.size > 400, `${vaults.size} vaults`)
  for (const transaction of transactions) t.strictSame(notesOfMovedVaults(transaction, vaults), [])
})

t.test('trades of every venue whose call is not recorded are noted as moved vaults', async (t) => {
  const transactions = readFacts().flatMap(({ facts }) => facts.map(({ transaction }) => transaction))
  const vaults = vaultsOf(transactions)
  const shown = new Set<VenueId>()
  for (const transaction of transactions) {
    const { events } = decodeTransaction(transaction)
    t.strictSame(notesOfMovedVaults(transaction, vaults), [])
    const cut = withoutCalls(transaction)
    const notes = notesOfMovedVaults(cut, vaults)
    for (const event of events) {
      // The balances show only the sum of several events of a pool.
      const isLone = events.filter(({ pool }) => samePubkey(pool, event.pool)).length === 1
      if (event.kind !== 'trade' || event.vaults?.out == null || !isLone) continue
      const own = notes.filter((note) => JSON.stringify(note).includes(pubkeyToBase58(event.pool)))
      // Meteora lends the tokens of DAMM v1: calls of its vaults, which remain here, move them without trades.
      if (event.venue === 'meteora-damm-v1') t.strictSame(own, [])
      else t.match(own, [{ kind: 'missing', venue: event.venue, reason: 'vault-moved' }])
      shown.add(event.venue)
    }
    t.strictSame(notesOfMovedVaults(withFields(cut, { failed: true }), vaults), [])
    t.strictSame(notesOfMovedVaults(withFields(cut, { unstated: ['token-balances'] }), vaults), [])
    t.strictSame(
      notesOfMovedVaults(withFields(cut, { unstated: ['inner-instructions'] }), vaults),
      [],
      'the transaction names the program: it may have been called'
    )
  }
  t.strictSame(
    VENUE_IDS.filter((venue) => !shown.has(venue)),
    ['raydium-stable']
  )
})

const POOL = { in: 'cash vault', out: 'token vault' }
const SWAP = trade({ pool: keyOf('pool'), vaults: { in: keyOf(POOL.in), out: keyOf(POOL.out) } })
const balance = (account: string, mint: string, owner: string): BalanceSpec => ({
  account,
  mint,
  owner,
  decimals: 6
})
const BALANCES = [
  balance(POOL.in, 'cash', 'pool'),
  balance(POOL.out, 'token', 'pool'),
  balance('wallet cash', 'cash', 'wallet'),
  balance('wallet tokens', 'token', 'wallet')
]

t.test('tokens that leave a known vault are a hole, those that are sent to it are not', async (t) => {
  const vaults = new KnownVaults()
  vaults.learn(SWAP)
  const notesAfter = (calls: readonly CallSpec[], signers = ['wallet', 'delegate']) =>
    notesOfMovedVaults(buildTransaction({ signers, calls, balances: BALANCES }), vaults)
  const pays = tokenTransfer('wallet cash', POOL.in, 'wallet', 50n)
  const gets = tokenTransfer(POOL.out, 'wallet tokens', 'pool', 7n)
  t.strictSame(kindsOf(notesAfter([pays])), ['donated'])
  t.strictSame(kindsOf(notesAfter([gets])), ['vault-moved'])
  const [swapped, ...others] = notesAfter([pays, gets])
  t.match(swapped, { kind: 'missing', venue: 'pumpswap', reason: 'vault-moved', ixIndex: 0 })
  t.match(swapped, { detail: / -7\b/ })
  t.strictSame(others, [], 'one note a pool: what it received is not counted apart')
  t.strictSame(
    notesAfter([gets, tokenTransfer('wallet tokens', POOL.out, 'wallet', 7n)]),
    [],
    'nothing left it'
  )

  // The permanent delegate of a mint takes tokens without the program: no trade.
  const takes = checkedTransfer(POOL.out, 'token', 'wallet tokens', 'delegate', 7n, 6)
  t.strictSame(kindsOf(notesAfter([takes])), ['seized'])
  t.strictSame(kindsOf(notesAfter([burn(POOL.out, 'token', 'delegate', 9n)])), ['seized'])
  t.strictSame(kindsOf(notesAfter([takes, gets])), ['vault-moved'], 'more left it than was taken')
  t.strictSame(kindsOf(notesAfter([takes, pays])), ['seized'])
})

t.test('only a call that names the vault explains its change', async (t) => {
  const vaults = new KnownVaults()
  vaults.learn(SWAP)
  const PUMPSWAP = 'pAMMBay6oceH9fJKBRHGP5D4bD4sWpmSwMn52FMfXEA'
  const RAYDIUM = 'CPMMoo8L3F4NbTegBCKVNunggL7H1ZpdTHKxQB5qKP1C'
  const notesWith = (program: string, accounts: readonly string[]) => {
    const moves = [tokenTransfer(POOL.out, 'wallet tokens', 'pool', 7n)]
    const call = { program, accounts, data: new Uint8Array(8), inner: moves }
    return notesOfMovedVaults(
      buildTransaction({ signers: ['wallet'], calls: [call], balances: BALANCES }),
      vaults
    )
  }
  t.strictSame(
    notesWith(PUMPSWAP, [POOL.out]),
    [],
    'an unknown instruction of the program, which is noted itself'
  )
  t.strictSame(kindsOf(notesWith(PUMPSWAP, [POOL.in])), ['vault-moved'], 'a call about another pool')
  t.strictSame(kindsOf(notesWith(RAYDIUM, [POOL.out])), ['vault-moved'], 'a call of another program')
  t.strictSame(kindsOf(notesWith(TOKEN_PROGRAM, [POOL.out])), ['vault-moved'])
  const unseen = withFields(
    buildTransaction({
      signers: ['wallet'],
      calls: [tokenTransfer(POOL.out, 'wallet tokens', 'pool', 7n)],
      balances: BALANCES
    }),
    { unstated: ['inner-instructions'] }
  )
  t.strictSame(
    kindsOf(notesOfMovedVaults(unseen, vaults)),
    ['vault-moved'],
    'no call is recorded, and the transaction names no program that could have been called'
  )
})

t.test('vaults of the venues that are indexed are known, the most recent ones', async (t) => {
  const vaults = new KnownVaults(new Set(['pumpswap']), 4)
  const isKnown = (name: string): boolean => {
    const { keys } = buildTransaction({ signers: [name], calls: [] })
    return vaults.ofHash(keys.hash(0)) !== undefined
  }
  const learn = (name: string, venue: VenueId = 'pumpswap') =>
    vaults.learn(trade({ venue, vaults: { in: keyOf(name), out: null } }))
  learn('other', 'phoenix')
  t.notOk(isKnown('other'))
  vaults.learn(trade())
  for (let n = 0; n < 20; n++) {
    learn('busy')
    learn(`vault ${n}`)
    t.ok(isKnown('busy') && isKnown(`vault ${n}`), 'a vault that trades stays')
    t.ok(vaults.size <= 8, `${vaults.size} vaults`)
  }
  t.ok(isKnown('vault 17'), 'of the former generation')
  t.notOk(isKnown('vault 0'), 'evicted')
})
