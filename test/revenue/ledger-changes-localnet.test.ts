import { PublicKey, type Keypair, type TransactionInstruction } from '@solana/web3.js'
import t, { type Test } from 'tap'
import { NATIVE_MINT } from '../../src/chain/token-accounts.ts'
import type { Transaction } from '../../src/chain/transaction.ts'
import { WSOL } from '../../src/market/cash.ts'
import { Choices } from '../../storage/test/choices.ts'
import { blockOfText, textOfBlock } from '../followers/block-text.ts'
import { TokenTraffic } from '../followers/token-traffic.ts'
import { blockAt, funded, openBank, signed, transfer, wallet } from '../localnet/bank/sending.ts'
import {
  burn,
  closeAccount,
  createFeeMint,
  createMint,
  createTokenAccount,
  FEE_MINT_BYTES,
  mintTo,
  syncNative,
  TOKEN,
  TOKEN_2022,
  tokenAccountOf,
  transferChecked,
  withheldFees
} from '../localnet/bank/token-instructions.ts'
import { changesOfAll, ledgerTotals, statedTotals } from './balance-totals.ts'

const WRAPPED = new PublicKey(NATIVE_MINT)

/** A chain with two wallets and a mint whose authority is the first. */
class World {
  readonly bank
  readonly alice
  readonly bob
  readonly mint = wallet(3).publicKey
  /** All transactions that have landed. */
  readonly transactions: Transaction[] = []

  private constructor(bank: Awaited<ReturnType<typeof openBank>>, alice: Keypair, bob: Keypair) {
    this.bank = bank
    this.alice = alice
    this.bob = bob
  }

  static async open(t: Test): Promise<World> {
    const bank = await openBank()
    t.teardown(() => bank.close())
    const world = new World(bank, await funded(bank, 1), await funded(bank, 2))
    const lamports = bank.minimumBalance(82)
    const options = { program: TOKEN, decimals: 3, lamports }
    const make = createMint(world.alice.publicKey, wallet(3), options)
    await world.changes(
      [...make, ...['alice', 'bob'].map((name) => world.open(name as 'alice'))],
      [wallet(3)]
    )
    return world
  }

  open(name: 'alice' | 'bob', mint = this.mint): TransactionInstruction {
    return createTokenAccount(this.alice.publicKey, this[name].publicKey, mint, TOKEN)
  }

  account(name: 'alice' | 'bob', mint = this.mint): PublicKey {
    return tokenAccountOf(this[name].publicKey, mint, TOKEN)
  }

  /** Lands a transaction that Alice pays for, and shows the changes of both wallets, by the names of addresses. */
  async changes(
    instructions: readonly TransactionInstruction[],
    signers: readonly Keypair[] = []
  ): Promise<Readonly<Record<'alice' | 'bob', readonly string[]>>> {
    this.bank.send(signed(this.bank, instructions, [this.alice, ...signers]), { skipPreflight: true })
    await this.bank.produceSlot()
    const slot = this.bank.slot('processed')
    const { transactions } = blockOfText(textOfBlock(blockAt(this.bank, slot)))
    this.transactions.push(...transactions)
    const found = changesOfAll(transactions)
    const names = new Map([
      [this.alice.publicKey.toBase58(), 'alice'],
      [this.bob.publicKey.toBase58(), 'bob'],
      [this.mint.toBase58(), 'gold'],
      [WSOL, 'wsol']
    ])
    const of = ({ publicKey }: Keypair): readonly string[] =>
      (found.get(publicKey.toBase58()) ?? []).map(
        ({ isNative, mint, pre, post, kind, counterparty, confidence }) => {
          const what = isNative ? 'lamports' : (names.get(mint) ?? 'token')
          return `${what} ${post - pre} ${kind} ${names.get(counterparty ?? '') ?? '-'} ${confidence}`
        }
      )
    return { alice: of(this.alice), bob: of(this.bob) }
  }
}

t.test('executed transactions have the entries of what they did', async (t) => {
  const world = await World.open(t)
  const { alice, bob, mint } = world
  const [owner, other] = [alice.publicKey, bob.publicKey]
  const wrapped = world.account('alice', WRAPPED)
  const fee = 5000
  const rent = 2_039_280
  t.strictSame(await world.changes([transfer(alice, other, 70n)]), {
    alice: [`lamports ${-70 - fee} transfer bob exact`],
    bob: ['lamports 70 transfer alice exact']
  })
  t.strictSame(await world.changes([mintTo(mint, world.account('alice'), owner, 90n, TOKEN)]), {
    alice: [`lamports ${-fee} fee - none`, 'gold 90 mint - none'],
    bob: []
  })
  const sent = { mint, from: world.account('alice'), to: world.account('bob'), authority: owner, amount: 40n }
  t.strictSame(await world.changes([transferChecked({ ...sent, decimals: 3 }, TOKEN)]), {
    alice: [`lamports ${-fee} fee - none`, 'gold -40 transfer bob exact'],
    bob: ['gold 40 transfer alice exact']
  })
  const burned = { mint, from: world.account('alice'), authority: owner, amount: 50n }
  t.strictSame((await world.changes([burn(burned, TOKEN)])).alice, [
    `lamports ${-fee} fee - none`,
    'gold -50 burn - none'
  ])
  t.strictSame((await world.changes([closeAccount(world.account('alice'), owner, TOKEN)])).alice, [
    `lamports ${rent - fee} rent - none`
  ])
  t.strictSame(await world.changes([world.open('bob', WRAPPED)]), {
    alice: [`lamports ${-rent - fee} rent bob exact`],
    bob: []
  })
  const wrap = [world.open('alice', WRAPPED), transfer(alice, wrapped, 300n), syncNative(wrapped)]
  t.strictSame((await world.changes(wrap)).alice, [
    `lamports ${-300 - rent - fee} unwrap - none`,
    'wsol 300 unwrap - none'
  ])
  t.strictSame((await world.changes([closeAccount(wrapped, owner, TOKEN)])).alice, [
    `lamports ${300 + rent - fee} unwrap - none`,
    'wsol -300 unwrap - none'
  ])
  const failing = transferChecked({ ...sent, decimals: 3 }, TOKEN)
  t.strictSame(await world.changes([transfer(alice, other, 70n), failing]), {
    alice: [`lamports ${-fee} fee - none`],
    bob: []
  })
})

t.test('lamports sent to wrapped SOL accounts and synced later add up to the balances', async (t) => {
  const world = await World.open(t)
  const { alice } = world
  const [owner, fee] = [alice.publicKey, 5000]
  const own = world.account('alice', WRAPPED)
  const other = world.account('bob', WRAPPED)
  await world.changes([world.open('alice', WRAPPED), world.open('bob', WRAPPED)])
  t.match((await world.changes([transfer(alice, own, 300n)])).alice, [
    `lamports ${-300 - fee} transfer - exact`
  ])
  t.strictSame((await world.changes([syncNative(own)])).alice, [
    `lamports ${-fee} fee - none`,
    'wsol 300 other - none'
  ])
  t.strictSame((await world.changes([transfer(alice, other, 80n)])).bob, [])
  t.strictSame((await world.changes([syncNative(other)])).bob, ['wsol 80 other - none'], 'income once')
  await world.changes([transfer(alice, own, 50n)])
  t.strictSame((await world.changes([closeAccount(own, owner, TOKEN)])).alice, [
    `lamports ${350 + 2_039_280 - fee} unwrap - none`,
    'wsol -300 unwrap - none'
  ])
  t.strictSame(ledgerTotals(changesOfAll(world.transactions)).shown, statedTotals(world.transactions).shown)
})

t.test('transfer fees that Token-2022 has withheld are a fee of who withdraws them', async (t) => {
  const world = await World.open(t)
  const { alice, bob } = world
  const owner = alice.publicKey
  const made = wallet(4)
  const mint = made.publicKey
  const lamports = world.bank.minimumBalance(FEE_MINT_BYTES)
  const accounts = [owner, bob.publicKey].map((each) => createTokenAccount(owner, each, mint, TOKEN_2022))
  await world.changes([...createFeeMint(owner, made, { decimals: 3, lamports }), ...accounts], [made])
  const [from, to] = [owner, bob.publicKey].map((each) => tokenAccountOf(each, mint, TOKEN_2022)) as [
    PublicKey,
    PublicKey
  ]
  const tokens = async (...instructions: TransactionInstruction[]): Promise<readonly string[]> =>
    (await world.changes(instructions)).alice.slice(1)
  t.strictSame(await tokens(mintTo(mint, from, owner, 9000n, TOKEN_2022)), ['token 9000 mint - none'])
  const send = transferChecked({ mint, from, to, authority: owner, amount: 1000n, decimals: 3 }, TOKEN_2022)
  t.strictSame(await tokens(send), ['token -1000 transfer bob inferred'])
  t.strictSame(await tokens(withheldFees.fromAccount(mint, from, owner, to)), ['token 30 fee - none'])
  await tokens(send)
  t.strictSame(await tokens(withheldFees.toMint(mint, to)), [], 'a harvest changes no balance')
  t.strictSame(await tokens(withheldFees.fromMint(mint, from, owner)), ['token 30 fee - none'])
})

t.test('in executed traffic entries add up to the balances', async (t) => {
  const bank = await openBank()
  t.teardown(() => bank.close())
  const traffic = await TokenTraffic.open(bank, new Choices(7))
  const transactions: Transaction[] = []
  bank.listen((event) => {
    if (event.kind === 'block' && event.commitment === 'processed')
      transactions.push(...blockOfText(textOfBlock(event.block)).transactions)
  })
  for (let slot = 0; slot < 40; slot++) {
    traffic.send(4)
    await bank.produceSlot()
  }
  const changes = changesOfAll(transactions)
  t.strictSame(ledgerTotals(changes).shown, statedTotals(transactions).shown)
  const kinds = new Set([...changes.values()].flat().map(({ kind }) => kind))
  t.strictSame([...kinds].sort(), ['burn', 'fee', 'mint', 'rent', 'transfer', 'unwrap'])
})
