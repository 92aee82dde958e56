import t from 'tap'
import { PublicKey } from '@solana/web3.js'
import { readWire } from '../../../src/chain/wire.ts'
import { pubkeyFromBase58, pubkeyToBase58, samePubkey } from '../../../src/chain/pubkey.ts'
import { NATIVE_MINT } from '../../../src/chain/token-accounts.ts'
import { Ledger } from '../../../src/localnet/market/ledger.ts'
import { programAddress } from '../../../src/signing/program-address.ts'
import { ASSOCIATED_TOKEN, COMPUTE_BUDGET, MEMO, TOKEN, TOKEN_2022 } from '../../../src/localnet/programs.ts'
import { rentExempt, tokenAccount } from '../../../src/localnet/market/token-layouts.ts'
import { changed, MarketWorld } from './market-world.ts'

const program = pubkeyFromBase58('pAMMBay6oceH9fJKBRHGP5D4bD4sWpmSwMn52FMfXEA')

t.test('an address that a program derives is the one that web3.js derives', async (t) => {
  for (let i = 0; i < 20; i++) {
    const seed = new Uint8Array(32).fill(i * 11)
    const [expected] = PublicKey.findProgramAddressSync([Buffer.from('pool'), seed], new PublicKey(program))
    t.equal(pubkeyToBase58(programAddress(['pool', seed], program)), expected.toBase58())
  }
  const ledger = new Ledger()
  const owner = new Uint8Array(32).fill(9)
  const [expected] = PublicKey.findProgramAddressSync(
    [owner, TOKEN, NATIVE_MINT],
    new PublicKey(ASSOCIATED_TOKEN)
  )
  t.equal(pubkeyToBase58(ledger.tokenAccountOf(owner, NATIVE_MINT)), expected.toBase58())
})

t.test(
  'what a script moves stands in the balances, the inner instructions, the log and the accounts',
  async (t) => {
    const world = new MarketWorld()
    const [alice, bob, vault, state] = [
      world.person(),
      world.person(),
      world.random.bytes(32),
      world.random.bytes(32)
    ]
    const mint = world.mint(6)
    const from = world.give(alice, mint, 1000n)
    const executed = world.run(alice, (script) => {
      script.call(COMPUTE_BUDGET, [], Uint8Array.of(2, 64, 13, 3, 0))
      script.call(COMPUTE_BUDGET, [], Uint8Array.of(3, 16, 39, 0, 0, 0, 0, 0, 0))
      script.call(program, [{ address: alice, signer: true, writable: true }], Uint8Array.of(1), (call) => {
        call.log('Instruction: Deposit')
        call.createTokenAccount(vault, program, mint)
        call.write(state, Uint8Array.of(1, 2, 3))
        call.transfer({ mint, from, to: vault, authority: alice, amount: 400n })
        call.transferLamports(alice, bob, 5n)
        call.call(program, [], Uint8Array.of(9, 9))
        call.logData(Uint8Array.of(4, 5, 6))
      })
    })
    const { meta, wire } = executed.transaction
    t.equal(meta.err, null)
    t.equal(meta.fee, 5000n + 2000n)
    const heights = meta.inner.flatMap(({ instructions }) =>
      instructions.map(({ stackHeight }) => stackHeight)
    )
    t.same(heights, [2, 2, 2, 2, 2, 2])
    t.equal(meta.inner[0]?.index, 2)
    const sum = (list: readonly bigint[]): bigint => list.reduce((total, one) => total + one, 0n)
    t.equal(sum(meta.preBalances) - sum(meta.postBalances), meta.fee, 'lamports are neither made nor lost')
    t.same(
      meta.preTokenBalances.map(({ amount }) => amount),
      [1000n]
    )
    t.same(
      meta.postTokenBalances.map(({ amount }) => amount).sort((a, b) => Number(a - b)),
      [400n, 600n]
    )
    const invokes = meta.logs.filter((line) => line.includes(' invoke ['))
    t.equal(invokes.length, executed.read.instructions.length)
    t.ok(meta.logs.includes('Program log: Instruction: TransferChecked'))
    t.ok(meta.logs.includes('Program data: BAUG'))
    t.equal(meta.logs.at(-1), `Program ${pubkeyToBase58(program)} success`)
    t.equal(tokenAccount.amount(changed(executed, vault)!.data), 400n)
    t.same(changed(executed, state)!.data, Uint8Array.of(1, 2, 3))
    t.equal(changed(executed, state)!.lamports, rentExempt(3))
    t.ok(samePubkey(changed(executed, state)!.owner, program))
    t.equal(changed(executed, mint), undefined, 'what was only read is not told')
    const read = readWire(wire)
    t.equal(read.kind, 'wire')
    t.equal(executed.read.nestingKnown, true)
  }
)

t.test('a transaction that fails costs its fee and does nothing else', async (t) => {
  const world = new MarketWorld()
  const [alice, bob] = [world.person(), world.person()]
  const before = world.ledger.lamports(alice)
  const executed = world.run(alice, (script) => {
    script.call(program, [{ address: alice, signer: true, writable: true }], Uint8Array.of(1), (call) =>
      call.transferLamports(alice, bob, 5n)
    )
    script.fail(6001)
  })
  t.same(executed.transaction.meta.err, { InstructionError: [0, { Custom: 6001 }] })
  t.equal(executed.read.failed, true)
  t.equal(world.ledger.lamports(alice), before - 5000n)
  t.same(
    executed.accounts.map(({ address }) => pubkeyToBase58(address)),
    [pubkeyToBase58(alice)]
  )
  t.equal(executed.transaction.meta.inner[0]?.instructions.length, 1, 'its inner instructions are recorded')
  const last = executed.transaction.meta.logs.at(-1)
  t.equal(last, `Program ${pubkeyToBase58(program)} failed: custom program error: 0x1771`)
})

t.test('a script that moves more than there is leaves the ledger as it was', async (t) => {
  const world = new MarketWorld()
  const [alice, bob] = [world.person(), world.person()]
  const before = world.ledger.lamports(alice)
  const write = () =>
    world.run(alice, (script) => {
      script.transferLamports(alice, bob, 1n)
      script.transferLamports(alice, bob, before)
    })
  t.throws(write, { message: 'an account lacks the lamports' })
  t.equal(world.ledger.lamports(alice), before)
  t.doesNotThrow(() => world.run(alice, (script) => script.transferLamports(alice, bob, 1n)))
})

t.test(
  'wrapped SOL holds as many lamports as tokens beside its rent, and gives them back when closed',
  async (t) => {
    const world = new MarketWorld()
    const alice = world.person()
    const wrapped = world.ledger.tokenAccountOf(alice, NATIVE_MINT)
    const executed = world.run(alice, (script) => script.wrap(alice, 777n))
    t.equal(world.ledger.tokens(wrapped), 777n)
    t.equal(world.ledger.lamports(wrapped), 777n + rentExempt(165))
    t.equal(executed.transaction.meta.postTokenBalances[0]?.amount, 777n)
    const closed = world.run(alice, (script) => script.closeTokenAccount(wrapped, alice, alice))
    t.equal(changed(closed, wrapped)?.lamports, 0n)
    t.equal(world.ledger.data(wrapped), null)
    t.same(closed.transaction.meta.postTokenBalances, [])
  }
)

t.test('tokens of Token-2022 move by its program, in accounts with its extension', async (t) => {
  const world = new MarketWorld()
  const [alice, bob] = [world.person(), world.person()]
  const mint = world.mint(6, true)
  const from = world.give(alice, mint, 10n)
  const executed = world.run(alice, (script) => {
    const to = script.ensureTokenAccount(bob, mint)
    script.transfer({ mint, from, to, authority: alice, amount: 4n })
  })
  t.equal(world.ledger.data(from)?.length, 170)
  t.ok(executed.transaction.meta.postTokenBalances.every(({ program }) => samePubkey(program, TOKEN_2022)))
  t.equal(world.ledger.mint(mint).supply, 10n)
})

t.test('accounts in a lookup table are named by it, and the decoder finds them', async (t) => {
  const world = new MarketWorld()
  const alice = world.person()
  const [one, two, three] = [world.person(), world.person(), world.person()]
  const table = { address: world.random.bytes(32), addresses: [one, two, three, alice, MEMO] }
  const executed = world.run(
    alice,
    (script) => {
      const accounts = [{ address: alice, signer: true, writable: true }, { address: one }]
      script.call(MEMO, [...accounts, { address: three, writable: true }], Uint8Array.of(1))
    },
    { tables: [table] }
  )
  const { meta } = executed.transaction
  t.same(meta.loadedWritable, [three])
  t.same(meta.loadedReadonly, [one])
  t.equal(executed.read.version, 0)
  const [memo] = executed.read.instructions
  t.same(
    Array.from(memo!.accounts, (index) => pubkeyToBase58(executed.read.keys.bytes(index))),
    [alice, one, three].map((key) => pubkeyToBase58(key))
  )
})

t.test('a ledger made of the accounts of another goes on the same', async (t) => {
  const world = new MarketWorld()
  const alice = world.person()
  world.give(alice, world.mint(6), 5n)
  const again = new Ledger(structuredClone(world.ledger.accounts()))
  t.same(again.accounts(), world.ledger.accounts())
})
