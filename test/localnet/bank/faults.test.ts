import t from 'tap'
import type { ChainEvent, ExecutedTransaction, LocalAccount } from '../../../src/localnet/chain.ts'
import type { LocalBank } from '../../../src/localnet/bank/bank.ts'
import { advance, virtualClock } from '../../virtual-time.ts'
import { included, marketAccount } from './market-entries.ts'
import { blockAt, funded, lamportsOf, openBank, produce, signed, SOL, transfer, wallet } from './sending.ts'

/** Returns the bank's events in short form. */
function hear(bank: LocalBank): string[] {
  const told: string[] = []
  bank.listen((event: ChainEvent) => {
    if (event.kind === 'block')
      told.push(`${event.commitment} ${event.block.slot} on ${event.block.parentSlot}`)
  })
  return told
}

const signaturesAt = (bank: LocalBank, slot: number): readonly Uint8Array[] =>
  blockAt(bank, slot).transactions.map(({ signature }) => signature)

t.test('skipped slots have no block, and heights go on without them', async (t) => {
  const bank = await openBank()
  await produce(bank, 2)
  bank.faults.skip(3)
  const told = hear(bank)
  await produce(bank, 3)
  t.same(told, [])
  t.equal(bank.slot('processed'), 2)
  await produce(bank, 2)
  t.same(told, ['processed 6 on 2', 'confirmed 2 on 1', 'processed 7 on 6', 'confirmed 6 on 2'])
  for (const slot of [3, 4, 5]) t.same(bank.block(slot, 'confirmed'), { kind: 'skipped' })
  t.equal(bank.blockHeight('processed'), 4)
  t.same(blockAt(bank, 6).previousBlockhash, blockAt(bank, 2).blockhash)
  t.same(bank.faults.fired, { skips: 3, forks: 0, stalledSlots: 0 })
})

t.test('a stalled chain makes no slot until it is resumed, and then goes on with the next one', async (t) => {
  const clock = virtualClock()
  const bank = await openBank({ clock })
  const end = new AbortController()
  const running = bank.run(end.signal)
  await advance(clock, 800)
  bank.faults.stall()
  await advance(clock, 4_000)
  t.equal(bank.slot('processed'), 2)
  t.equal(bank.faults.fired.stalledSlots, 10)
  bank.faults.resume()
  await advance(clock, 800)
  t.equal(bank.slot('processed'), 4)
  t.equal(blockAt(bank, 3).blockTime, 5)
  end.abort()
  await running
})

t.test(
  'a dropped block is never confirmed, and its transactions land in order in the next slot',
  async (t) => {
    const bank = await openBank()
    const owner = await funded(bank, 1)
    const sent = [1n, 2n, 3n].map((sol) =>
      bank.send(signed(bank, [transfer(owner, wallet(2).publicKey, sol * SOL)], [owner]), {
        skipPreflight: true
      })
    )
    const told = hear(bank)
    await bank.produceSlot()
    const lost = blockAt(bank, 2)
    const { blockhash } = bank.latestBlockhash('processed')
    const waitingOnLost = bank.send(signed(bank, [transfer(owner, wallet(3).publicKey, SOL)], [owner]), {
      skipPreflight: true
    })
    bank.faults.fork('drop')
    await bank.produceSlot()
    t.equal(bank.faults.fired.forks, 1)
    t.same(told, ['processed 2 on 1', 'confirmed 1 on 0', 'processed 3 on 1'])
    t.same(bank.block(2, 'processed'), { kind: 'skipped' })
    t.same(signaturesAt(bank, 3), sent)
    t.equal(blockAt(bank, 3).blockHeight, lost.blockHeight)
    t.equal(bank.transaction(sent[0]!)?.slot, 3)
    t.equal(lamportsOf(bank, wallet(2).publicKey), 6n * SOL)
    t.equal(lamportsOf(bank, owner.publicKey), 4n * SOL - 15_000n)
    t.notOk(bank.isBlockhashValid(blockhash, 'processed'))
    t.equal(bank.transaction(waitingOnLost), null, 'its blockhash is of the lost block')
    await produce(bank, 3)
    t.same(told.slice(-6), [
      'processed 4 on 3',
      'confirmed 3 on 1',
      'processed 5 on 4',
      'confirmed 4 on 3',
      'processed 6 on 5',
      'confirmed 5 on 4'
    ])
  }
)

t.test('a replaced block has half of its transactions, and the next block the others', async (t) => {
  const bank = await openBank()
  const owner = await funded(bank, 1)
  const [to, other] = [wallet(2).publicKey, wallet(3).publicKey]
  const sent = [to, other].map((one) =>
    bank.send(signed(bank, [transfer(owner, one, SOL)], [owner]), { skipPreflight: true })
  )
  const told = hear(bank)
  const balances: string[] = []
  bank.listen((event) => {
    if (event.kind !== 'block' || event.commitment !== 'processed') return
    const found = event.accounts.filter(({ address }) =>
      [to, other].some((one) => Buffer.compare(one.toBytes(), address) === 0)
    )
    const nameOf = ({ address }: LocalAccount): string =>
      Buffer.compare(to.toBytes(), address) === 0 ? 'to' : 'other'
    balances.push(
      found
        .map((account) => `${nameOf(account)} ${account.lamports / SOL}`)
        .sort()
        .join(', ')
    )
  })
  await bank.produceSlot()
  const lost = blockAt(bank, 2)
  bank.faults.fork('replace')
  await bank.produceSlot()
  t.same(told, [
    'processed 2 on 1',
    'confirmed 1 on 0',
    'processed 2 on 1',
    'processed 3 on 2',
    'confirmed 2 on 1'
  ])
  t.same(signaturesAt(bank, 2), [sent[0]])
  t.same(signaturesAt(bank, 3), [sent[1]])
  t.notSame(blockAt(bank, 2).blockhash, lost.blockhash)
  t.same(
    balances,
    ['other 1, to 1', 'other 0, to 1', 'other 1'],
    'what went back is told with the other block'
  )
})

t.test('a transaction that can no longer land after a fork is gone, with all its effects', async (t) => {
  const bank = await openBank()
  const owner = await funded(bank, 1)
  const { blockhash } = bank.latestBlockhash('processed')
  await produce(bank, 149)
  const sent = [wallet(2), wallet(3)].map(({ publicKey }) =>
    bank.send(signed(bank, [transfer(owner, publicKey, SOL)], [owner], blockhash), { skipPreflight: true })
  )
  await bank.produceSlot()
  t.equal(lamportsOf(bank, wallet(3).publicKey), SOL)
  bank.faults.fork('replace')
  await bank.produceSlot()
  t.not(bank.transaction(sent[0]!), null)
  t.equal(bank.transaction(sent[1]!), null, 'its blockhash expired on the way')
  t.equal(lamportsOf(bank, wallet(3).publicKey), 0n)
  t.equal(lamportsOf(bank, owner.publicKey), 9n * SOL - 5_000n)
})

t.test(
  'what the market did in a dropped block is in the next one as it stands, and it is not asked again',
  async (t) => {
    const bank = await openBank()
    const filled: number[] = []
    const made: ExecutedTransaction[] = []
    bank.onSlot((slot, _, include) => {
      filled.push(slot)
      const transaction = included(slot)
      made.push(transaction)
      include(transaction, [marketAccount(slot)])
    })
    await produce(bank, 2)
    bank.faults.fork('drop')
    await bank.produceSlot()
    t.same(filled, [1, 2, 3])
    t.same(blockAt(bank, 3).transactions, made.slice(1))
    t.same(bank.account(marketAccount(2).address), marketAccount(2))
    t.equal(bank.block(2, 'processed').kind, 'skipped')
  }
)

t.test('a fork waits for a block that was not reported as confirmed', async (t) => {
  const bank = await openBank()
  bank.faults.fork('drop')
  await bank.produceSlot()
  t.equal(bank.faults.fired.forks, 0, 'the genesis block stays')
  await bank.produceSlot()
  t.equal(bank.faults.fired.forks, 1)
  t.same(bank.block(1, 'processed'), { kind: 'skipped' })
  t.equal(blockAt(bank, 2).parentSlot, 0)
})
