import {
  AddressLookupTableProgram,
  ComputeBudgetProgram,
  Keypair,
  NONCE_ACCOUNT_LENGTH,
  NonceAccount,
  SystemProgram,
  SYSVAR_CLOCK_PUBKEY,
  SYSVAR_SLOT_HASHES_PUBKEY,
  TransactionInstruction,
  TransactionMessage,
  VersionedTransaction
} from '@solana/web3.js'
import type { AddressLookupTableAccount, PublicKey } from '@solana/web3.js'
import t from 'tap'
import { decodeBase58, encodeBase58 } from '../../../src/chain/base58.ts'
import type { LocalBank } from '../../../src/localnet/bank/bank.ts'
import { signerOf } from '../../../src/signing/ed25519.ts'
import {
  blockAt,
  funded,
  lamportsOf,
  land,
  landed,
  openBank,
  produce,
  refusal,
  signed,
  SOL,
  transfer,
  wallet
} from './sending.ts'
import { virtualClock } from '../../virtual-time.ts'
import {
  createMint,
  createTokenAccount,
  memo,
  mintTo,
  TOKEN,
  TOKEN_2022,
  tokenAccountOf,
  transferChecked
} from './token-instructions.ts'

for (const [name, program] of Object.entries({ token: TOKEN, 'Token-2022': TOKEN_2022 })) {
  t.test(
    `a mint of the ${name} program is made, minted and moved, with token balances in meta`,
    async (t) => {
      const bank = await openBank()
      const owner = await funded(bank, 1)
      const mint = wallet(100)
      const lamports = bank.minimumBalance(82)
      await land(bank, createMint(owner.publicKey, mint, { program, decimals: 6, lamports }), [owner, mint])
      const [from, to] = [owner.publicKey, wallet(2).publicKey].map((one) =>
        tokenAccountOf(one, mint.publicKey, program)
      )
      const minted = await land(
        bank,
        [
          memo(Buffer.from('first')),
          createTokenAccount(owner.publicKey, owner.publicKey, mint.publicKey, program),
          mintTo(mint.publicKey, from!, owner.publicKey, 5_000n, program)
        ],
        [owner]
      )
      t.same(minted.meta.preTokenBalances, [])
      const balance = {
        mint: mint.publicKey.toBytes(),
        owner: owner.publicKey.toBytes(),
        program: program.toBytes(),
        amount: 5_000n,
        decimals: 6
      }
      t.match(minted.meta.postTokenBalances, [balance])
      t.equal(minted.meta.postTokenBalances.length, 1)
      t.match(minted.meta.inner, [{ index: 1 }], 'only the instruction that calls has a group')
      const [group] = minted.meta.inner
      t.ok(group!.instructions.length >= 3)
      t.ok(group!.instructions.every(({ stackHeight }) => stackHeight === 2))

      const movement = { mint: mint.publicKey, from: from!, to: to!, authority: owner.publicKey, decimals: 6 }
      const moved = await land(
        bank,
        [
          createTokenAccount(owner.publicKey, wallet(2).publicKey, mint.publicKey, program),
          transferChecked({ ...movement, amount: 2_000n }, program)
        ],
        [owner]
      )
      const amounts = (balances: typeof moved.meta.preTokenBalances): Record<string, bigint> =>
        Object.fromEntries(balances.map(({ owner, amount }) => [encodeBase58(owner), amount]))
      t.same(amounts(moved.meta.preTokenBalances), { [owner.publicKey.toBase58()]: 5_000n })
      t.same(amounts(moved.meta.postTokenBalances), {
        [owner.publicKey.toBase58()]: 3_000n,
        [wallet(2).publicKey.toBase58()]: 2_000n
      })
      t.equal(bank.accountsOf(program.toBytes()).filter(({ data }) => data.length > 82).length, 2)

      const failed = await land(bank, [transferChecked({ ...movement, amount: 9_999n }, program)], [owner], {
        skipPreflight: true
      })
      t.same(failed.meta.err, { InstructionError: [0, { Custom: 1 }] })
      t.match(failed.meta.logs.join('\n'), /insufficient funds/)
      t.same(failed.meta.postTokenBalances, failed.meta.preTokenBalances)
      t.equal(failed.meta.fee, 5_000n)
    }
  )
}

t.test('a memo is logged, and one that is no text fails', async (t) => {
  const bank = await openBank()
  const owner = await funded(bank, 1)
  const { meta } = await land(bank, [memo(Buffer.from('hello'))], [owner])
  t.match(meta.logs, ['Program MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr invoke [1]', /Memo/, /hello/])
  const failed = await land(bank, [memo(Uint8Array.of(0xff, 0xfe))], [owner], { skipPreflight: true })
  t.match(failed.meta.err, { InstructionError: [0, String] })
})

t.test(
  'a priority fee is the price by the limit, rounded up, or by the default limit where none is set',
  async (t) => {
    const bank = await openBank()
    const owner = await funded(bank, 1)
    const price = ComputeBudgetProgram.setComputeUnitPrice({ microLamports: 1_000_001 })
    const limit = ComputeBudgetProgram.setComputeUnitLimit({ units: 700 })
    const move = transfer(owner, wallet(2).publicKey, SOL)
    for (const [instructions, priority] of [
      [[price, limit, move], 701n],
      [[price, move], 6_001n],
      [[price, memo(Buffer.from('hi'))], 203_001n]
    ] as const) {
      const before = lamportsOf(bank, owner.publicKey)
      const { meta } = await land(bank, instructions, [owner])
      t.equal(meta.fee, 5_000n + priority)
      const moved = (instructions as readonly TransactionInstruction[]).includes(move) ? SOL : 0n
      t.equal(lamportsOf(bank, owner.publicKey), before - moved - meta.fee, 'what the engine took')
    }
    const starved = ComputeBudgetProgram.setComputeUnitLimit({ units: 200 })
    const { meta } = await land(bank, [starved, move], [owner], { skipPreflight: true })
    t.same(meta.err, { InstructionError: [1, 'ComputationalBudgetExceeded'] })
    t.equal(meta.computeUnits, 200n)
  }
)

t.test('a call of what is no program pays its fee and does nothing', async (t) => {
  const bank = await openBank()
  const owner = await funded(bank, 1)
  await land(bank, [transfer(owner, wallet(2).publicKey, SOL)], [owner])
  const call = (programId: PublicKey): TransactionInstruction =>
    new TransactionInstruction({ programId, keys: [], data: Buffer.alloc(0) })
  for (const [program, err] of [
    [Keypair.generate().publicKey, 'ProgramAccountNotFound'],
    [wallet(2).publicKey, 'InvalidProgramForExecution']
  ] as const) {
    const before = lamportsOf(bank, owner.publicKey)
    t.match(
      refusal(() => bank.send(signed(bank, [call(program)], [owner]), { skipPreflight: false })),
      {
        kind: 'preflight',
        simulation: { err }
      }
    )
    const { meta } = await land(bank, [call(program)], [owner], { skipPreflight: true })
    t.match(meta, { err, fee: 5_000n, logs: [], computeUnits: 0n })
    t.equal(lamportsOf(bank, owner.publicKey), before - 5_000n)
    t.equal(meta.postBalances[0], before - 5_000n)
  }
})

async function lookupTable(bank: LocalBank, owner: Keypair, addresses: PublicKey[]): Promise<PublicKey> {
  const [create, table] = AddressLookupTableProgram.createLookupTable({
    authority: owner.publicKey,
    payer: owner.publicKey,
    recentSlot: bank.slot('processed')
  })
  await bank.produceSlot()
  const extend = AddressLookupTableProgram.extendLookupTable({
    lookupTable: table,
    authority: owner.publicKey,
    payer: owner.publicKey,
    addresses
  })
  await land(bank, [create, extend], [owner])
  return table
}

t.test('a versioned transaction with a lookup table lands with its loaded addresses', async (t) => {
  const bank = await openBank()
  const owner = await funded(bank, 1)
  const [to, other] = [wallet(2).publicKey, wallet(3).publicKey]
  const key = await lookupTable(bank, owner, [other, to])
  const table = { key, state: { addresses: [other, to] } } as AddressLookupTableAccount
  const wireWith = (account: AddressLookupTableAccount): Uint8Array => {
    const message = new TransactionMessage({
      payerKey: owner.publicKey,
      recentBlockhash: encodeBase58(bank.latestBlockhash('processed').blockhash),
      instructions: [transfer(owner, to, SOL)]
    })
    const transaction = new VersionedTransaction(message.compileToV0Message([account]))
    transaction.sign([owner])
    return transaction.serialize()
  }
  await bank.produceSlot()
  const { meta } = await landed(bank, bank.send(wireWith(table), { skipPreflight: false }))
  t.equal(meta.err, null)
  t.same(meta.loadedWritable, [to.toBytes()])
  t.same(meta.loadedReadonly, [])
  t.equal(meta.postBalances.at(-1), SOL, 'loaded accounts have balances after the static ones')
  t.equal(lamportsOf(bank, to), SOL)
  t.equal(bank.signaturesOf(to.toBytes(), { limit: 5 }).length, 1, 'it is found by its loaded address')

  for (const [addresses, err] of [
    [[other, wallet(4).publicKey, to], 'InvalidAddressLookupTableIndex'],
    [[to], null]
  ] as const) {
    const state = { addresses: [...addresses] }
    const wire = wireWith({ key, state } as unknown as AddressLookupTableAccount)
    if (err === null)
      t.equal(
        refusal(() => bank.send(wire, { skipPreflight: false })),
        null
      )
    else
      t.match(
        refusal(() => bank.send(wire, { skipPreflight: false })),
        { simulation: { err } }
      )
  }
  const missing = wireWith({ ...table, key: wallet(9).publicKey } as unknown as AddressLookupTableAccount)
  t.match(
    refusal(() => bank.send(missing, { skipPreflight: false })),
    {
      simulation: { err: 'AddressLookupTableNotFound' }
    }
  )
})

t.test(
  'a version 1 transaction with its budget in the message lands and pays its priority fee',
  async (t) => {
    const bank = await openBank()
    const owner = await funded(bank, 1)
    const signer = signerOf(owner.secretKey.slice(0, 32))
    const config = Buffer.alloc(16)
    config.writeBigUInt64LE(77n)
    config.writeUInt32LE(50_000, 8)
    config.writeUInt32LE(65_536, 12)
    const message = Buffer.concat([
      // Version 1, one signature, one readonly program; priority fee, compute units and loaded bytes are set.
      Buffer.from([0x81, 1, 0, 1, 0b1111, 0, 0, 0]),
      bank.latestBlockhash('processed').blockhash,
      Buffer.from([1, 3]),
      owner.publicKey.toBytes(),
      wallet(2).publicKey.toBytes(),
      SystemProgram.programId.toBytes(),
      config,
      Buffer.from([2, 2, 12, 0]),
      Buffer.from([0, 1]),
      transfer(owner, wallet(2).publicKey, SOL).data
    ])
    const wire = Buffer.concat([message, signer.sign(message)])
    const { meta } = await landed(bank, bank.send(wire, { skipPreflight: false }))
    t.match(meta, { err: null, fee: 5_077n, computeUnits: 150n })
    t.equal(lamportsOf(bank, owner.publicKey), 9n * SOL - 5_077n)
    t.equal(lamportsOf(bank, wallet(2).publicKey), SOL)
  }
)

t.test('sysvars tell of the newest slot and of the blocks before it', async (t) => {
  const clock = virtualClock()
  clock.increment(1_700_000_000_000)
  const bank = await openBank({ clock })
  bank.faults.skip(1)
  await produce(bank, 4)
  const read = (sysvar: PublicKey): Buffer => Buffer.from(bank.account(sysvar.toBytes())!.data)
  const clockData = read(SYSVAR_CLOCK_PUBKEY)
  t.equal(clockData.readBigUInt64LE(0), 4n)
  t.equal(clockData.readBigInt64LE(32), 1_700_000_000n)
  const hashes = read(SYSVAR_SLOT_HASHES_PUBKEY)
  t.equal(hashes.length, 20_488)
  t.equal(hashes.readBigUInt64LE(0), 3n)
  t.same(
    [0, 1, 2].map((at) => Number(hashes.readBigUInt64LE(8 + at * 40))),
    [3, 2, 0]
  )
  t.same(hashes.subarray(16, 48), Buffer.from(blockAt(bank, 3).blockhash))
})

t.test('a transaction on a durable nonce lands when every blockhash of its time has expired', async (t) => {
  const bank = await openBank()
  const owner = await funded(bank, 1)
  const nonce = wallet(50)
  await land(
    bank,
    SystemProgram.createNonceAccount({
      fromPubkey: owner.publicKey,
      noncePubkey: nonce.publicKey,
      authorizedPubkey: owner.publicKey,
      lamports: Number(bank.minimumBalance(NONCE_ACCOUNT_LENGTH))
    }).instructions,
    [owner, nonce]
  )
  const valueOf = (): Uint8Array =>
    decodeBase58(NonceAccount.fromAccountData(bank.account(nonce.publicKey.toBytes())!.data).nonce)
  const value = valueOf()
  const advance = SystemProgram.nonceAdvance({
    noncePubkey: nonce.publicKey,
    authorizedPubkey: owner.publicKey
  })
  const wires = [SOL, 2n * SOL].map((lamports) =>
    signed(bank, [advance, transfer(owner, wallet(2).publicKey, lamports)], [owner], value)
  )
  await produce(bank, 200)
  const { meta } = await landed(bank, bank.send(wires[0]!, { skipPreflight: false }))
  t.equal(meta.err, null)
  t.notSame(valueOf(), value, 'the nonce has advanced')
  t.same(
    refusal(() => bank.send(wires[1]!, { skipPreflight: true })),
    { kind: 'blockhash' }
  )
  t.equal(lamportsOf(bank, wallet(2).publicKey), SOL)
})
