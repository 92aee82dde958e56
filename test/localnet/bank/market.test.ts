import t from 'tap'
import { packBlock, readPackedBlock, unpackBlock } from '../../../src/localnet/bank/block-records.ts'
import type { LocalBlock } from '../../../src/localnet/chain.ts'
import { included, marketAccount } from './market-entries.ts'
import { blockAt, funded, openBank, produce, signed, SOL, transfer, wallet } from './sending.ts'

t.test(
  'the market fills each slot after the users, and its transactions and accounts are taken as they stand',
  async (t) => {
    const bank = await openBank()
    const owner = await funded(bank, 1)
    const seen: (readonly [number, number, bigint | undefined])[] = []
    bank.onSlot((slot, blockTime, include) => {
      seen.push([slot, blockTime, bank.account(wallet(2).publicKey.toBytes())?.lamports])
      include(included(slot, 0), [marketAccount(slot)])
      t.equal(bank.account(marketAccount(slot).address)?.lamports, marketAccount(slot).lamports, 'at once')
    })
    const sent = bank.send(signed(bank, [transfer(owner, wallet(2).publicKey, SOL)], [owner]), {
      skipPreflight: true
    })
    const told: Uint8Array[] = []
    bank.listen((event) => {
      if (event.kind === 'block') told.push(...event.accounts.map(({ address }) => address))
    })
    await bank.produceSlot()
    t.same(seen, [[2, 0, SOL]], 'the market sees what users did in the slot')
    const [first, second] = blockAt(bank, 2).transactions
    t.same(first?.signature, sent)
    t.strictSame(second, included(2, 0))
    t.strictSame(bank.account(marketAccount(2).address), marketAccount(2))
    t.same(bank.accountsOf(marketAccount(2).owner), [marketAccount(2)])
    t.match(bank.transaction(included(2, 0).signature), { slot: 2, indexInBlock: 1 })
    t.ok(
      told.some((address) => Buffer.compare(address, marketAccount(2).address) === 0),
      'it is told of with the block'
    )
    const { loadedWritable, loadedReadonly } = included(2, 0).meta
    for (const address of [...loadedWritable, ...loadedReadonly])
      t.equal(bank.signaturesOf(address, { limit: 5 }).length, 1)
  }
)

t.test('what is included between slots is in the next block, before what was sent', async (t) => {
  const bank = await openBank()
  const owner = await funded(bank, 1)
  const sent = bank.send(signed(bank, [transfer(owner, wallet(2).publicKey, SOL)], [owner]), {
    skipPreflight: true
  })
  bank.include(included(7), [])
  await bank.produceSlot()
  t.same(
    blockAt(bank, 2).transactions.map(({ signature }) => signature),
    [included(7).signature, sent]
  )
})

t.test('an account that is written without lamports is gone', async (t) => {
  const bank = await openBank()
  bank.include(included(1), [marketAccount(1)])
  await bank.produceSlot()
  t.not(bank.account(marketAccount(1).address), null)
  bank.include(included(2), [{ ...marketAccount(1), lamports: 0n }])
  const lamports: bigint[] = []
  bank.listen((event) => {
    if (event.kind === 'block') lamports.push(...event.accounts.map((account) => account.lamports))
  })
  await bank.produceSlot()
  t.equal(bank.account(marketAccount(1).address), null)
  t.same(bank.accountsOf(marketAccount(1).owner), [])
  t.same(lamports.slice(0, 1), [0n], 'those who listen hear that it is empty')
})

t.test('a transaction with something in every field is kept and read back as it was', async (t) => {
  const bank = await openBank()
  const originals: LocalBlock[] = []
  bank.listen((event) => {
    if (event.kind === 'block' && event.commitment === 'processed') originals.push(event.block)
  })
  bank.onSlot((slot, _, include) => {
    for (let i = 0; i < slot % 4; i++) include(included(slot * 10 + i), [])
  })
  await produce(bank, 40)
  for (const original of originals) {
    t.strictSame(unpackBlock(readPackedBlock(packBlock(original).bytes)), original)
    t.strictSame(bank.block(original.slot, 'processed'), { kind: 'block', block: original })
  }
  t.equal(originals.length, 40)
  t.throws(() => unpackBlock(readPackedBlock(packBlock(originals[2]!).bytes.subarray(0, -1))), RangeError)
})
