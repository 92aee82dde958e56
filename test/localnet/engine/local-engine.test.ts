import { PublicKey } from '@solana/web3.js'
import t, { type Test } from 'tap'
import { encodeBase58 } from '../../../src/chain/base58.ts'
import { bundleIdOf } from '../../../src/signing/bundle-id.ts'
import type { LocalBank } from '../../../src/localnet/bank/bank.ts'
import { LocalEngine } from '../../../src/localnet/engine/local-engine.ts'
import { TIP_ACCOUNTS } from '../../../src/localnet/engine/tip-accounts.ts'
import { virtualClock } from '../../virtual-time.ts'
import { funded, openBank, produce, signed, SOL, transfer, wallet } from '../bank/sending.ts'

const TIP = new PublicKey(TIP_ACCOUNTS[0]!)
const B = wallet(2).publicKey

async function world(t: Test) {
  const clock = virtualClock()
  const bank = await openBank({ clock })
  bank.airdrop(TIP.toBytes(), SOL)
  const owner = await funded(bank, 1)
  const engine = new LocalEngine(bank, clock)
  t.teardown(() => bank.close())
  const tipped = (lamports: bigint) => signed(bank, [transfer(owner, TIP, lamports)], [owner])
  return { clock, bank, owner, engine, tipped }
}

const landedSlots = (bank: LocalBank, wires: readonly Uint8Array[]) =>
  wires.map((wire) => bank.transaction(wire.subarray(1, 65))?.slot ?? null)

t.test('a bundle is pending, lands, becomes confirmed, and is forgotten after five minutes', async (t) => {
  const { engine, bank, owner, tipped, clock } = await world(t)
  const wires = [signed(bank, [transfer(owner, B, SOL)], [owner]), tipped(1_000n)]
  const id = engine.sendBundle(wires)
  t.equal(id, bundleIdOf(wires.map((wire) => encodeBase58(wire.subarray(1, 65)))))
  t.match(engine.inflight([id]), [{ status: 'Pending', landed_slot: null }])
  t.same(engine.statuses([id]), [null])
  t.equal(engine.sendBundle(wires), id, 'a repeat is the same bundle')
  await bank.produceSlot()
  const slot = bank.slot('processed')
  t.same(landedSlots(bank, wires), [slot, slot])
  t.same(engine.inflight([id]), [{ bundle_id: id, status: 'Landed', landed_slot: slot }])
  t.match(engine.statuses([id]), [{ slot, confirmation_status: 'processed', err: { Ok: null } }])
  await produce(bank, 1)
  t.match(engine.statuses([id]), [{ confirmation_status: 'confirmed' }])
  clock.increment(300_001)
  t.same(engine.inflight([id]), [{ bundle_id: id, status: 'Invalid', landed_slot: null }])
})

t.test('a bundle that fails says why', async (t) => {
  const { engine, bank, owner, tipped } = await world(t)
  const id = engine.sendBundle([signed(bank, [transfer(owner, B, 99n * SOL)], [owner]), tipped(5_000n)])
  await bank.produceSlot()
  t.match(engine.inflight([id]), [
    {
      status: 'Failed',
      landed_slot: null,
      reason: 'simulation_failure',
      err: { InstructionError: [0, { Custom: 1 }] }
    }
  ])
})

t.test('a refused bundle that is sent again is executed again', async (t) => {
  const { engine, bank, owner, tipped } = await world(t)
  const wires = [signed(bank, [transfer(wallet(2), owner.publicKey, SOL)], [wallet(2)]), tipped(5_000n)]
  const id = engine.sendBundle(wires)
  await bank.produceSlot()
  t.match(engine.inflight([id]), [{ status: 'Failed' }])
  await funded(bank, 2)
  t.equal(engine.sendBundle(wires), id)
  t.match(engine.inflight([id]), [{ status: 'Pending' }])
  await bank.produceSlot()
  t.match(engine.inflight([id]), [{ status: 'Landed' }])
})

t.test('a bundle without a tip, of no or six members, or of other bytes is refused', async (t) => {
  const { engine, bank, owner, tipped } = await world(t)
  const plain = signed(bank, [transfer(owner, B, SOL)], [owner])
  for (const wires of [[], [plain], [tipped(999n)], [plain, plain, plain, plain, plain, tipped(1_000n)]])
    t.throws(() => engine.sendBundle(wires), /transactions|must tip/)
  t.throws(() => engine.sendBundle([plain.subarray(0, 90), tipped(1_000n)]), /invalid transaction/)
})

t.test('a landed bundle that a fork removes is pending until it lands again', async (t) => {
  const { engine, bank, tipped } = await world(t)
  const id = engine.sendBundle([tipped(2_000n)])
  await bank.produceSlot()
  t.match(engine.inflight([id]), [{ status: 'Landed' }])
  bank.faults.fork('drop')
  await bank.produceSlot()
  t.match(engine.inflight([id]), [{ status: 'Landed', landed_slot: bank.slot('processed') }])
})

t.test('the tip floor ascends, and follows the tips that land', async (t) => {
  const { engine, bank, owner } = await world(t)
  const before = engine.tipFloor()
  const values = (floor: typeof before) => [
    floor.landed_tips_25th_percentile,
    floor.landed_tips_50th_percentile,
    floor.landed_tips_75th_percentile,
    floor.landed_tips_95th_percentile,
    floor.landed_tips_99th_percentile
  ]
  t.same(
    values(before).toSorted((a, b) => a - b),
    values(before)
  )
  for (let nth = 0n; nth < 110n; nth++)
    engine.sendBundle([signed(bank, [transfer(owner, TIP, 5_000_000n + nth)], [owner])])
  await bank.produceSlot()
  const after = engine.tipFloor()
  t.ok(after.landed_tips_75th_percentile > 0.005)
  t.ok(after.ema_landed_tips_50th_percentile > before.ema_landed_tips_50th_percentile)
})
