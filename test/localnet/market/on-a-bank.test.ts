import assert from 'node:assert/strict'
import t from 'tap'
import { LocalBank } from '../../../src/localnet/bank/bank.ts'
import type { IntendedSlot } from '../../../src/localnet/market/oracle.ts'
import { peopleOf } from '../../../src/localnet/market/people.ts'
import { MarketSimulator, BUSY_MARKET } from '../../../src/localnet/market/simulator.ts'
import { slotClock } from '../bank/lived-chain.ts'
import { OracleComparison } from './oracle-comparison.ts'

const seed = 'a market on a bank'
const GIFT = 5_000_000_000n

/** Makes slots up to the last one, and compares each slot of the market with its oracle. */
async function live(directory: string, comparison: OracleComparison, last: number): Promise<LocalBank> {
  const clock = slotClock()
  const bank = await LocalBank.open({ clock, seed, directory, retainedSlots: 512 })
  const intended: IntendedSlot[] = []
  const kept = {
    part: (name: string) => bank.note(name),
    account: (address: Uint8Array) => bank.account(address)
  }
  comparison.elsewhere = kept.account
  const market = new MarketSimulator({ ...BUSY_MARKET, seed }, kept, (slot) => void intended.push(slot))
  bank.onSlot((slot, blockTime, include, keep) => {
    const done = market.fill(slot, blockTime)
    // Compares before the chain has the transactions, so that accounts are read as they were.
    comparison.compare(done, intended.at(-1)!)
    for (const { transaction, accounts } of done) include(transaction, accounts)
    for (const [name, part] of market.takeParts()) keep(name, part)
  })
  for (let slot = bank.slot('processed') + 1; slot <= last; slot++) {
    clock.setSlot(slot)
    await bank.produceSlot()
  }
  return bank
}

t.test(
  'a chain has the accounts that its market handed out, also after it was closed and opened',
  async (t) => {
    const directory = t.testdir()
    const comparison = new OracleComparison()
    for (const last of [40, 80]) {
      const bank = await live(directory, comparison, last)
      t.equal(bank.slot('processed'), last)
      let same = 0
      for (const account of comparison.accounts.values()) {
        const found = bank.account(account.address)
        if (account.lamports === 0n) assert.equal(found, null)
        else {
          assert.equal(found?.lamports, account.lamports)
          assert.ok(Buffer.compare(found.data, account.data) === 0)
          assert.ok(Buffer.compare(found.owner, account.owner) === 0)
        }
        same++
      }
      t.ok(same > 1500, `${same} accounts`)
      const newest = bank.block(last, 'processed')
      t.ok(newest.kind === 'block' && newest.block.transactions.length > 5)
      await bank.close()
    }
    for (const kind of ['trade', 'vote', 'route', 'launch']) t.ok(comparison.seen.get(kind)! > 0, kind)
  }
)

t.test('what a user pays to a wallet of the market stays its own', async (t) => {
  const directory = t.testdir()
  const comparison = new OracleComparison()
  const bank = await live(directory, comparison, 10)
  const { voters } = peopleOf(seed)
  const { identity } = voters[0]!
  const before = bank.account(identity)!.lamports
  bank.airdrop(identity, GIFT)
  await bank.produceSlot().catch((error: unknown) => {
    // The comparison does not know the airdrop, and fails if the wallet votes in the airdrop's slot.
    assert.ok(error instanceof assert.AssertionError)
  })
  const after = bank.account(identity)!.lamports
  t.ok(after > before + GIFT - 1_000_000n, `${after - before} lamports more`)
  await bank.close()
})
