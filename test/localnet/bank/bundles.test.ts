import t from 'tap'
import type { LocalBank } from '../../../src/localnet/bank/bank.ts'
import type { BundleOutcome } from '../../../src/localnet/chain.ts'
import {
  blockAt,
  funded,
  lamportsOf,
  openBank,
  produce,
  refusal,
  signed,
  SOL,
  transfer,
  wallet
} from './sending.ts'

const A = wallet(1).publicKey
const B = wallet(2).publicKey
const C = wallet(3).publicKey

/** Sends a bundle and returns its signatures and outcomes. */
function send(bank: LocalBank, wires: readonly Uint8Array[]) {
  const outcomes: BundleOutcome[] = []
  const signatures = bank.sendBundle(wires, (outcome) => outcomes.push(outcome))
  return { signatures, outcomes }
}

const signaturesAt = (bank: LocalBank, slot: number): readonly Uint8Array[] =>
  blockAt(bank, slot).transactions.map(({ signature }) => signature)

t.test(
  'the members of a bundle land in order in one block, each on the state after the one before',
  async (t) => {
    const bank = await openBank()
    const owner = await funded(bank, 1)
    // The second and third spend what the member before has paid.
    const { signatures, outcomes } = send(bank, [
      signed(bank, [transfer(owner, B, 5n * SOL)], [owner]),
      signed(bank, [transfer(wallet(2), C, 4n * SOL)], [wallet(2)]),
      signed(bank, [transfer(wallet(3), A, 3n * SOL)], [wallet(3)])
    ])
    await bank.produceSlot()
    const slot = bank.slot('processed')
    t.same(outcomes, [{ kind: 'landed', slot }])
    t.same(signaturesAt(bank, slot), signatures)
    t.equal(lamportsOf(bank, A), 8n * SOL - 5_000n)
    t.equal(lamportsOf(bank, C), SOL - 5_000n)
  }
)

t.test(
  'a member that fails in the middle undoes the bundle: no transaction, no fee, no account',
  async (t) => {
    const bank = await openBank()
    const owner = await funded(bank, 1)
    const before = lamportsOf(bank, A)
    const { signatures, outcomes } = send(bank, [
      signed(bank, [transfer(owner, B, 2n * SOL)], [owner]),
      signed(bank, [transfer(wallet(2), C, 50n * SOL)], [wallet(2)]),
      signed(bank, [transfer(owner, C, SOL)], [owner])
    ])
    await bank.produceSlot()
    t.match(outcomes, [
      { kind: 'refused', why: 'failed', index: 1, err: { InstructionError: [0, { Custom: 1 }] } }
    ])
    t.same(signaturesAt(bank, bank.slot('processed')), [])
    for (const signature of signatures) t.equal(bank.transaction(signature), null)
    t.equal(lamportsOf(bank, A), before)
    t.equal(bank.account(B.toBytes()), null)
    // The chain continues as if the bundle had never existed: its transfer lands when sent alone.
    bank.send(signed(bank, [transfer(owner, B, 2n * SOL)], [owner]), { skipPreflight: true })
    await bank.produceSlot()
    t.equal(lamportsOf(bank, B), 2n * SOL)
  }
)

t.test('a bundle whose last member cannot pay its fee, or is expired, does not land', async (t) => {
  const bank = await openBank()
  const owner = await funded(bank, 1)
  const first = () => signed(bank, [transfer(owner, B, SOL)], [owner])
  const poor = send(bank, [first(), signed(bank, [transfer(wallet(9), B, 1n)], [wallet(9)])])
  await bank.produceSlot()
  t.match(poor.outcomes, [{ kind: 'refused', why: 'failed', index: 1 }])
  const stale = send(bank, [
    first(),
    signed(bank, [transfer(owner, C, SOL)], [owner], new Uint8Array(32).fill(7))
  ])
  await bank.produceSlot()
  t.match(stale.outcomes, [{ kind: 'refused', why: 'expired', index: 1, err: null }])
  t.equal(lamportsOf(bank, B), 0n)
})

t.test('a bundle with a member that has landed, or that is twice in it, does not land', async (t) => {
  const bank = await openBank()
  const owner = await funded(bank, 1)
  const wire = signed(bank, [transfer(owner, B, SOL)], [owner])
  const twice = send(bank, [wire, wire])
  await bank.produceSlot()
  t.match(twice.outcomes, [{ kind: 'refused', why: 'known', index: 1 }])
  bank.send(wire, { skipPreflight: true })
  const late = send(bank, [signed(bank, [transfer(owner, C, SOL)], [owner]), wire])
  await bank.produceSlot()
  t.match(late.outcomes, [{ kind: 'refused', why: 'known', index: 1 }])
  t.equal(lamportsOf(bank, C), 0n)
  t.equal(lamportsOf(bank, B), SOL)
})

for (const kind of ['drop', 'replace'] as const) {
  t.test(`a bundle of a block lost by a fork (${kind}) lands whole in a later one`, async (t) => {
    const bank = await openBank()
    const owner = await funded(bank, 1)
    const { signatures, outcomes } = send(bank, [
      signed(bank, [transfer(owner, B, 3n * SOL)], [owner]),
      signed(bank, [transfer(wallet(2), C, SOL)], [wallet(2)])
    ])
    await bank.produceSlot()
    bank.faults.fork(kind)
    await produce(bank, 3)
    t.equal(outcomes.length, 2)
    const { slot } = outcomes[1] as { slot: number }
    t.same(signaturesAt(bank, slot), signatures)
    for (const signature of signatures) t.equal(bank.transaction(signature)?.slot, slot)
    t.equal(lamportsOf(bank, C), SOL)
    t.equal(lamportsOf(bank, B), 2n * SOL - 5_000n)
  })
}

t.test('a wrong signature refuses a bundle at once, and a full queue too', async (t) => {
  const bank = await openBank({ waitingMax: 2 })
  const owner = await funded(bank, 1)
  const wires = [1n, 2n, 3n].map((sol) => signed(bank, [transfer(owner, B, sol * SOL)], [owner]))
  const broken = Uint8Array.from(wires[1]!)
  broken[5]! ^= 1
  t.match(
    refusal(() => bank.sendBundle([wires[0]!, broken], () => undefined)),
    { kind: 'signature' }
  )
  t.match(
    refusal(() => bank.sendBundle(wires, () => undefined)),
    { kind: 'full', waitingMax: 2 }
  )
  t.equal(
    refusal(() => bank.sendBundle(wires.slice(0, 2), () => undefined)),
    null
  )
})
