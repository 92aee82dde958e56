import { AddressLookupTableAccount, SystemProgram, TransactionInstruction } from '@solana/web3.js'
import fc from 'fast-check'
import t from 'tap'
import { tipOf } from '../../src/chain/tip.ts'
import { readWire } from '../../src/chain/wire.ts'
import { randomRuns } from '../random-runs.ts'
import { signedWire, transfer, wallet } from '../transactions/signed.ts'

const TIPS = [30, 31].map((number) => wallet(number).publicKey)
const TEXTS = TIPS.map((tip) => tip.toBase58())

t.test('the tip is the sum of transfers to tip accounts, whatever else is transferred', (t) => {
  const amounts = fc.array(fc.tuple(fc.nat(2), fc.bigInt({ min: 0n, max: 10n ** 12n })), { maxLength: 8 })
  fc.assert(
    fc.property(amounts, fc.constantFrom('legacy' as const, 0 as const), (transfers, version) => {
      const to = [...TIPS, wallet(40).publicKey]
      const wire = signedWire(
        transfers.map(([index, lamports]) => transfer(lamports, to[index])),
        { version }
      )
      const tips = transfers.filter(([index]) => index < TIPS.length)
      return tipIn(wire) === tips.reduce((sum, [, lamports]) => sum + lamports, 0n)
    }),
    randomRuns(60)
  )
  t.pass('no counter-example')
  t.end()
})

t.test('a tip account that is loaded from a lookup table does not count', (t) => {
  const table = new AddressLookupTableAccount({
    key: wallet(50).publicKey,
    state: { deactivationSlot: 0n, lastExtendedSlot: 0, lastExtendedSlotStartIndex: 0, addresses: TIPS }
  })
  t.equal(tipIn(signedWire([transfer(5_000n, TIPS[0])], { lookups: [table] })), 0n)
  t.equal(tipIn(signedWire([transfer(5_000n, TIPS[0])])), 5_000n)
  t.end()
})

t.test('a transfer with seed counts, and another program’s data of the same form does not', (t) => {
  const seeded = SystemProgram.transfer({
    fromPubkey: wallet(60).publicKey,
    basePubkey: wallet(1).publicKey,
    toPubkey: TIPS[1]!,
    lamports: 1_234n,
    seed: 'seed',
    programId: SystemProgram.programId
  })
  t.equal(tipIn(signedWire([seeded])), 1_234n)
  const same = transfer(5_000n, TIPS[0])
  const foreign = new TransactionInstruction({ ...same, programId: wallet(61).publicKey })
  t.equal(tipIn(signedWire([foreign])), 0n)
  const cut = new TransactionInstruction({ ...same, data: same.data.subarray(0, 11) })
  t.equal(tipIn(signedWire([cut])), 0n)
  t.end()
})

function tipIn(bytes: Uint8Array): bigint {
  const read = readWire(bytes)
  if (read.kind === 'unreadable') throw new Error(read.reason)
  return tipOf(read.wire, new Set(TEXTS))
}
