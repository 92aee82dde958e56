import t, { type Test } from 'tap'
import { decodeTransaction, type Decoded } from '../../../src/chain/decode.ts'
import { pubkeyToBase58 } from '../../../src/chain/pubkey.ts'
import { TOKEN_PROGRAM } from '../../../src/chain/token-movement.ts'
import type { Instruction, Transaction } from '../../../src/chain/transaction.ts'
import type { VenueId } from '../../../src/chain/venue-id.ts'
import { testWithFixtures } from '../../fixtures.ts'
import { littleEndian } from '../build-transaction.ts'
import { decodedRecords, tradesOf, type DecodedRecord } from './decoded-record.ts'

/** The recorded transactions whose only trade is one of a venue. */
function loneTrades(venue: VenueId): DecodedRecord[] {
  const found = decodedRecords().filter(
    ({ raw, trades }) => raw.hasBalances && trades.length === 1 && trades[0]!.venue === venue
  )
  if (found.length === 0) throw new Error(`no record of ${venue}`)
  return found
}

/** Decodes a transaction in which a u64 stands for another wherever instructions of a program hold it. */
function decodeWith(
  transaction: Transaction,
  program: string,
  amount: bigint,
  other: bigint
): Decoded & { readonly changed: number } {
  const [from, to] = [littleEndian(amount, 8), littleEndian(other, 8)]
  let changed = 0
  const instructions = transaction.instructions.map((each): Instruction => {
    const { accounts, height, outerIndex, innerIndex } = each
    if (pubkeyToBase58(transaction.keys.bytes(each.program)) !== program) return each
    const at = Buffer.from(each.data).indexOf(from)
    if (at < 0) return each
    changed++
    const data = each.data.slice()
    data.set(to, at)
    return { program: each.program, accounts, data, height, outerIndex, innerIndex }
  })
  const parts = Object.create(transaction, { instructions: { value: instructions } }) as Transaction
  return { ...decodeTransaction(parts), changed }
}

function isHeldBack(t: Test, { events, notes, changed }: ReturnType<typeof decodeWith>): void {
  t.ok(changed > 0, 'something was changed')
  t.same(tradesOf(events), [])
  t.match(
    notes.findLast(({ kind }) => kind === 'missing'),
    { reason: 'readings-contradict' }
  )
}

for (const venue of ['raydium-amm-v4', 'raydium-clmm', 'orca-whirlpool', 'meteora-damm-v1'] as const) {
  testWithFixtures(t, `a transfer that the balances of a ${venue} vault contradict gives no trade`, (t) => {
    const { transaction, trades } = loneTrades(venue)[0]!
    const { outAmount } = trades[0]!
    isHeldBack(t, decodeWith(transaction, TOKEN_PROGRAM, outAmount, outAmount + 1n))
  })
}

testWithFixtures(
  t,
  'a purchase on the Pump.fun curve that states other lamports than it sent gives no trade',
  (t) => {
    const { transaction, trades } = loneTrades('pumpfun').find(
      ({ trades: [trade] }) => trade!.exact === 'out'
    )!
    const { program, inAmount } = trades[0]!
    isHeldBack(t, decodeWith(transaction, pubkeyToBase58(program), inAmount, inAmount * 3n))
  }
)

testWithFixtures(t, 'a PumpSwap trade that states another quote amount than it moved gives no trade', (t) => {
  const { transaction, trades } = loneTrades('pumpswap').find(
    ({ trades: [trade] }) => trade!.exact === 'out'
  )!
  const { program, inAmount } = trades[0]!
  isHeldBack(t, decodeWith(transaction, pubkeyToBase58(program), inAmount, inAmount / 3n))
})

testWithFixtures(
  t,
  'a PumpSwap transfer of the quote that its vault contradicts leaves the stated trade',
  (t) => {
    const { transaction, trades } = loneTrades('pumpswap').find(
      ({ trades: [trade] }) => trade!.exact === 'out'
    )!
    const { inAmount } = trades[0]!
    const { events, changed } = decodeWith(transaction, TOKEN_PROGRAM, inAmount, inAmount / 3n)
    t.ok(changed > 0)
    t.match(tradesOf(events), [{ inAmount }])
  }
)
