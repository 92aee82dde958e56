import t from 'tap'
import { lamportsOf, funded, openBank, produce, refusal, signed, SOL, transfer, wallet } from './sending.ts'

const PLAIN = { sigVerify: false, replaceRecentBlockhash: false, accounts: [] }

t.test(
  'a simulation says what would happen to the accounts that are asked for, and changes nothing',
  async (t) => {
    const bank = await openBank()
    const owner = await funded(bank, 1)
    const to = wallet(2).publicKey
    const wire = signed(bank, [transfer(owner, to, SOL)], [owner])
    const stranger = wallet(3).publicKey.toBytes()
    const accounts = [to.toBytes(), stranger, owner.publicKey.toBytes()]
    const simulation = bank.simulate(wire, { ...PLAIN, sigVerify: true, accounts })
    t.match(simulation, { err: null, computeUnits: 150n, inner: [], returnData: null, replacement: null })
    t.equal(simulation.logs.length, 2)
    t.equal(simulation.accounts[0]?.lamports, SOL)
    t.equal(simulation.accounts[1], null, 'it is not of the transaction')
    t.equal(simulation.accounts[2]?.lamports, 9n * SOL - 5_000n)
    t.equal(lamportsOf(bank, to), 0n)
    t.equal(bank.transaction(bank.send(wire, { skipPreflight: false })), null)
  }
)

t.test('a simulation that fails has its error and logs, and no accounts', async (t) => {
  const bank = await openBank()
  const owner = await funded(bank, 1)
  const wire = signed(bank, [transfer(owner, wallet(2).publicKey, 20n * SOL)], [owner])
  const simulation = bank.simulate(wire, { ...PLAIN, accounts: [owner.publicKey.toBytes()] })
  t.match(simulation, { err: { InstructionError: [0, { Custom: 1 }] }, accounts: [null] })
  t.match(simulation.logs.join('\n'), /insufficient lamports/)
})

t.test('a blockhash that expired is an error of a simulation, unless it is replaced', async (t) => {
  const bank = await openBank()
  const owner = await funded(bank, 1)
  const wire = signed(bank, [transfer(owner, wallet(2).publicKey, SOL)], [owner])
  await produce(bank, 150)
  t.match(bank.simulate(wire, PLAIN), { err: 'BlockhashNotFound', logs: [] })
  const replaced = bank.simulate(wire, { ...PLAIN, replaceRecentBlockhash: true })
  t.equal(replaced.err, null)
  t.same(replaced.replacement, bank.latestBlockhash('processed'))
})

t.test('signatures are verified by a simulation where it is asked to', async (t) => {
  const bank = await openBank()
  const owner = await funded(bank, 1)
  const wire = signed(bank, [transfer(owner, wallet(2).publicKey, SOL)], [owner])
  const forged = wire.with(1, wire[1]! ^ 1)
  t.equal(bank.simulate(forged, PLAIN).err, null)
  t.same(
    refusal(() => bank.simulate(forged, { ...PLAIN, sigVerify: true })),
    { kind: 'signature' }
  )
  t.match(
    refusal(() => bank.simulate(forged.subarray(1), PLAIN)),
    { kind: 'undecodable' }
  )
})
