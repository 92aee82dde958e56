import { Keypair } from '@solana/web3.js'
import t from 'tap'
import type { ChainEvent } from '../../../src/localnet/chain.ts'
import { advance, virtualClock } from '../../virtual-time.ts'
import {
  blockAt,
  funded,
  lamportsOf,
  land,
  openBank,
  produce,
  refusal,
  signed,
  SOL,
  transfer,
  wallet
} from './sending.ts'

t.test('a new chain has a finalized genesis block and a funded faucet', async (t) => {
  const bank = await openBank()
  for (const commitment of ['processed', 'confirmed', 'finalized'] as const) {
    t.equal(bank.slot(commitment), 0)
    t.equal(bank.blockHeight(commitment), 0)
  }
  t.match(blockAt(bank, 0), { slot: 0, blockHeight: 0, transactions: [] })
  t.same(bank.block(1, 'processed'), { kind: 'pending' })
})

t.test('slots come every 400 ms of the clock until the run is ended', async (t) => {
  const clock = virtualClock()
  const bank = await openBank({ clock })
  const end = new AbortController()
  const running = bank.run(end.signal)
  await advance(clock, 399)
  t.equal(bank.slot('processed'), 0)
  await advance(clock, 1)
  t.equal(bank.slot('processed'), 1)
  await advance(clock, 4_000)
  t.equal(bank.slot('processed'), 11)
  t.equal(blockAt(bank, 11).blockTime, 4)
  end.abort()
  await running
  await advance(clock, 1_000)
  t.equal(bank.slot('processed'), 11)
})

t.test('slots that are late are made up for, and those of a machine that slept are not', async (t) => {
  const clock = virtualClock()
  const bank = await openBank({ clock })
  const end = new AbortController()
  const running = bank.run(end.signal)
  await advance(clock, 400)
  clock.increment(2_800)
  await advance(clock, 20)
  t.equal(bank.slot('processed'), 8, 'as many as there were to be by now')
  await advance(clock, 380)
  t.equal(bank.slot('processed'), 9, 'and on at the usual pace')
  clock.increment(600_000)
  await advance(clock, 20)
  t.ok(bank.slot('processed') <= 9 + 10, `${bank.slot('processed') - 9} slots after ten minutes`)
  end.abort()
  await running
})

t.test('at ten times the pace blocks have the time of the clock, many of them the same second', async (t) => {
  const clock = virtualClock()
  const bank = await openBank({ clock, slotMs: 40 })
  const end = new AbortController()
  const running = bank.run(end.signal)
  await advance(clock, 4_000)
  end.abort()
  await running
  t.equal(bank.slot('processed'), 100)
  t.same(
    [1, 24, 25, 49, 50, 99, 100].map((slot) => blockAt(bank, slot).blockTime),
    [0, 0, 1, 1, 2, 3, 4]
  )
})

t.test(
  'a block is confirmed by the next one and finalized by the 32nd after it, each told once in order',
  async (t) => {
    const bank = await openBank()
    const told: string[] = []
    const end = bank.listen((event) => {
      if (event.kind === 'slot') told.push(`slot ${event.slot} on ${event.parent}, root ${event.root}`)
      else told.push(`${event.commitment} ${event.block.slot}`)
    })
    await produce(bank, 2)
    t.same(told, ['slot 1 on 0, root 0', 'processed 1', 'slot 2 on 1, root 0', 'processed 2', 'confirmed 1'])
    await produce(bank, 31)
    t.same(told.slice(-4), ['slot 33 on 32, root 0', 'processed 33', 'confirmed 32', 'finalized 1'])
    t.equal(bank.slot('processed'), 33)
    t.equal(bank.slot('confirmed'), 32)
    t.equal(bank.slot('finalized'), 1)
    t.same(bank.block(33, 'confirmed'), { kind: 'pending' })
    end()
    const count = told.length
    await produce(bank, 1)
    t.equal(told.length, count, 'who stopped listening hears no more')
  }
)

t.test('an airdrop is a signed transfer of the faucet that lands in the next block', async (t) => {
  const bank = await openBank()
  const owner = wallet(1)
  const signature = bank.airdrop(owner.publicKey.toBytes(), 3n * SOL)
  t.equal(bank.transaction(signature), null)
  await bank.produceSlot()
  const found = bank.transaction(signature)
  t.match(found, { slot: 1, indexInBlock: 0, commitment: 'processed', transaction: { meta: { err: null } } })
  t.equal(lamportsOf(bank, owner.publicKey), 3n * SOL)
  const again = bank.airdrop(owner.publicKey.toBytes(), 3n * SOL)
  t.notSame(again, signature)
  t.notSame(bank.airdrop(owner.publicKey.toBytes(), 3n * SOL), again, 'two alike in one slot are two')
  await bank.produceSlot()
  t.equal(lamportsOf(bank, owner.publicKey), 9n * SOL)
})

t.test('a transfer lands with its balances, fee, logs and compute units', async (t) => {
  const bank = await openBank()
  const owner = await funded(bank, 1)
  const to = wallet(2).publicKey
  const { meta, isVote } = await land(bank, [transfer(owner, to, SOL)], [owner])
  t.equal(isVote, false)
  t.strictSame(meta, {
    err: null,
    fee: 5_000n,
    computeUnits: 150n,
    inner: [],
    logs: [
      'Program 11111111111111111111111111111111 invoke [1]',
      'Program 11111111111111111111111111111111 success'
    ],
    returnData: null,
    preBalances: [10n * SOL, 0n, 1n],
    postBalances: [9n * SOL - 5_000n, SOL, 1n],
    preTokenBalances: [],
    postTokenBalances: [],
    loadedWritable: [],
    loadedReadonly: []
  })
})

t.test(
  'a transfer that fails is refused by preflight, and without it lands as failed and pays its fee',
  async (t) => {
    const bank = await openBank()
    const owner = await funded(bank, 1)
    const wire = signed(bank, [transfer(owner, wallet(2).publicKey, 11n * SOL)], [owner])
    const err = { InstructionError: [0, { Custom: 1 }] }
    t.match(
      refusal(() => bank.send(wire, { skipPreflight: false })),
      { kind: 'preflight', simulation: { err } }
    )
    const signature = bank.send(wire, { skipPreflight: true })
    await bank.produceSlot()
    t.match(bank.transaction(signature), { transaction: { meta: { err, fee: 5_000n } } })
    t.equal(lamportsOf(bank, owner.publicKey), 10n * SOL - 5_000n)
    t.equal(lamportsOf(bank, wallet(2).publicKey), 0n)
  }
)

t.test('a payer without money is refused by preflight, and without it is in no block', async (t) => {
  const bank = await openBank()
  const owner = Keypair.generate()
  const wire = signed(bank, [transfer(owner, wallet(2).publicKey, 1n)], [owner])
  t.match(
    refusal(() => bank.send(wire, { skipPreflight: false })),
    { simulation: { err: 'AccountNotFound' } }
  )
  const signature = bank.send(wire, { skipPreflight: true })
  await produce(bank, 3)
  t.equal(bank.transaction(signature), null)
})

t.test('what has landed is refused as already processed and lands once', async (t) => {
  const bank = await openBank()
  const owner = await funded(bank, 1)
  const wire = signed(bank, [transfer(owner, wallet(2).publicKey, SOL)], [owner])
  const signature = bank.send(wire, { skipPreflight: false })
  t.same(bank.send(wire, { skipPreflight: false }), signature, 'it waits already')
  await bank.produceSlot()
  t.match(
    refusal(() => bank.send(wire, { skipPreflight: false })),
    { kind: 'preflight', simulation: { err: 'AlreadyProcessed' } }
  )
  t.same(bank.send(wire, { skipPreflight: true }), signature)
  await produce(bank, 2)
  t.equal(lamportsOf(bank, wallet(2).publicKey), SOL)
  t.match(bank.transaction(signature), { slot: 2 })
})

t.test('bytes, signatures and blockhashes that cannot land are refused', async (t) => {
  const bank = await openBank()
  const owner = await funded(bank, 1)
  const wire = signed(bank, [transfer(owner, wallet(2).publicKey, SOL)], [owner])
  const kindOf = (bytes: Uint8Array) =>
    refusal(() => bank.send(bytes, { skipPreflight: true }))?.kind ?? 'taken'
  t.equal(kindOf(wire.subarray(0, wire.length - 1)), 'undecodable')
  t.equal(kindOf(new Uint8Array(0)), 'undecodable')
  t.equal(kindOf(new Uint8Array(1_300)), 'undecodable')
  t.equal(kindOf(wire.with(5, wire[5]! ^ 1)), 'signature')
  const other = await openBank({ seed: 'another' })
  t.equal(kindOf(signed(other, [transfer(owner, wallet(2).publicKey, SOL)], [owner])), 'blockhash')
  // The number of signatures, one, is encoded in two bytes: the engine would end the process on it.
  t.equal(kindOf(Uint8Array.from([0x81, 0, ...wire.subarray(1)])), 'undecodable')
  t.equal(kindOf(wire), 'taken')
})

t.test('a blockhash is good for 150 blocks, which skipped slots do not use up', async (t) => {
  const bank = await openBank()
  const owner = await funded(bank, 1)
  const { blockhash, lastValidBlockHeight } = bank.latestBlockhash('processed')
  t.equal(lastValidBlockHeight, bank.blockHeight('processed') + 150)
  bank.faults.skip(100)
  await produce(bank, 100 + 149)
  t.equal(bank.blockHeight('processed'), lastValidBlockHeight - 1)
  t.ok(bank.isBlockhashValid(blockhash, 'processed'))
  const last = signed(bank, [transfer(owner, wallet(2).publicKey, SOL)], [owner], blockhash)
  const late = signed(bank, [transfer(owner, wallet(3).publicKey, SOL)], [owner], blockhash)
  bank.send(last, { skipPreflight: false })
  await bank.produceSlot()
  t.equal(lamportsOf(bank, wallet(2).publicKey), SOL)
  t.notOk(bank.isBlockhashValid(blockhash, 'processed'))
  t.ok(bank.isBlockhashValid(blockhash, 'confirmed'), 'one block behind it still is')
  t.match(
    refusal(() => bank.send(late, { skipPreflight: true })),
    { kind: 'blockhash' }
  )
  t.equal(bank.faults.fired.skips, 100)
})

t.test('a transaction that waits until its blockhash has expired is in no block', async (t) => {
  const bank = await openBank()
  const owner = await funded(bank, 1)
  const { blockhash } = bank.latestBlockhash('processed')
  await produce(bank, 149)
  const signatures = Array.from({ length: 401 }, (_, i) =>
    bank.send(
      signed(bank, [transfer(owner, wallet(2).publicKey, SOL / 1_000n + BigInt(i))], [owner], blockhash),
      {
        skipPreflight: true
      }
    )
  )
  await produce(bank, 2)
  t.not(bank.transaction(signatures[399]!), null)
  t.equal(bank.transaction(signatures[400]!), null, 'a block takes 400, and the next one came too late')
})

t.test(
  'transactions wait up to the limit, and the next one is refused until a block takes them',
  async (t) => {
    const bank = await openBank({ waitingMax: 2 })
    const owner = await funded(bank, 1)
    const send = (lamports: bigint): Uint8Array =>
      bank.send(signed(bank, [transfer(owner, wallet(2).publicKey, SOL + lamports)], [owner]), {
        skipPreflight: true
      })
    send(1n)
    send(2n)
    t.match(
      refusal(() => send(3n)),
      { kind: 'full', waitingMax: 2 }
    )
    await bank.produceSlot()
    t.equal(
      refusal(() => send(3n)),
      null
    )
  }
)

t.test('the same seed gives the same chain, another seed another one', async (t) => {
  const run = async (seed: string): Promise<readonly [Uint8Array, Uint8Array, ChainEvent[]]> => {
    const bank = await openBank({ seed })
    const events: ChainEvent[] = []
    bank.listen((event) => events.push(event))
    const owner = await funded(bank, 1)
    await land(bank, [transfer(owner, wallet(2).publicKey, SOL)], [owner])
    await produce(bank, 3)
    return [bank.genesisHash, bank.latestBlockhash('processed').blockhash, events]
  }
  const [first, same, other] = [await run('a'), await run('a'), await run('b')]
  t.strictSame(first, same)
  t.notSame(first[0], other[0])
  t.notSame(first[1], other[1])
})

t.test('blocks and transactions are kept for the slots that are said, and then pruned', async (t) => {
  const bank = await openBank({ retainedSlots: 512 })
  const owner = await funded(bank, 1)
  const { signature } = blockAt(bank, 1).transactions[0]!
  await produce(bank, 511)
  t.equal(bank.firstSlot, 1)
  t.equal(bank.transaction(signature)?.commitment, 'finalized')
  t.equal(bank.signaturesOf(owner.publicKey.toBytes(), { limit: 10 }).length, 1)
  await produce(bank, 1)
  t.equal(bank.firstSlot, 2)
  t.same(bank.block(1, 'finalized'), { kind: 'pruned' })
  t.equal(bank.transaction(signature), null)
  t.same(bank.signaturesOf(owner.publicKey.toBytes(), { limit: 10 }), [])
  t.equal(lamportsOf(bank, owner.publicKey), 10n * SOL, 'accounts stay')
})

t.test('signatures of an address come newest first, between two signatures, as many as asked', async (t) => {
  const bank = await openBank()
  const owner = await funded(bank, 1)
  const to = wallet(2).publicKey
  const sent: Uint8Array[] = []
  for (let lamports = 0n; lamports < 6n; lamports++) {
    sent.push(
      bank.send(signed(bank, [transfer(owner, to, SOL + lamports)], [owner]), { skipPreflight: false })
    )
    if (lamports % 2n === 1n) await bank.produceSlot()
  }
  const page = (options: { before?: Uint8Array; until?: Uint8Array; limit: number }): number[] =>
    bank
      .signaturesOf(to.toBytes(), options)
      .map(({ transaction }) => sent.findIndex((one) => Buffer.compare(one, transaction.signature) === 0))
  t.same(page({ limit: 10 }), [5, 4, 3, 2, 1, 0])
  t.same(page({ limit: 2 }), [5, 4])
  t.same(page({ limit: 2, before: sent[4]! }), [3, 2])
  t.same(page({ limit: 10, until: sent[2]! }), [5, 4, 3])
  t.same(page({ limit: 10, before: sent[5]!, until: sent[3]! }), [4])
  t.same(page({ limit: 10, before: new Uint8Array(64) }), [])
  t.same(bank.signaturesOf(Keypair.generate().publicKey.toBytes(), { limit: 10 }), [])
})
