import assert from 'node:assert/strict'
import fc from 'fast-check'
import type { Test } from 'tap'
import { decodeTransaction } from '../../src/chain/decode.ts'
import type { Layout } from '../../src/chain/layout.ts'
import type { Venue } from '../../src/chain/venue.ts'
import { randomRuns } from '../random-runs.ts'
import { buildTransaction, tokenTransfer, type CallSpec } from './build-transaction.ts'

const SEED = 20261121

/** Bytes that are mostly zero or small, so that counts, tags and lengths are often valid. */
const body = fc
  .array(fc.oneof({ weight: 8, arbitrary: fc.constant(0) }, fc.nat(3), fc.nat(255)), {
    maxLength: 420,
    size: 'max'
  })
  .map((bytes) => Uint8Array.from(bytes))

/** Property: a value that a layout reads from any bytes, written and read again, is equal; shorter bytes give null. */
export function layoutsReadWhatTheyWrite(t: Test, venue: Venue): void {
  const layouts: readonly Layout<unknown>[] = [...venue.instructions.entries, ...venue.events.entries]
  for (const layout of layouts) {
    let read = 0
    fc.assert(
      fc.property(body, (bytes) => {
        const reading = layout.read(bytes, 0)
        if (reading === null) return
        read++
        const written = layout.write(reading.value)
        const again = layout.read(written, layout.discriminator.length)
        assert.deepEqual(written.slice(0, layout.discriminator.length), layout.discriminator)
        assert.deepEqual(again, { value: reading.value, drift: 0 })
      }),
      randomRuns(100, SEED)
    )
    t.ok(read > 0, `${layout.name} read some of them`)
  }
}

/** Property: no bytes, account lists, logs or transfers make the venue throw (INVARIANTS 9). */
export function anyCallDecodes(t: Test, venue: Venue): void {
  const names = Array.from({ length: 12 }, (_, i) => `account ${i}`)
  const account = fc.constantFrom(...names)
  const discriminators = [...venue.instructions.entries, ...venue.events.entries].map(
    ({ discriminator }) => discriminator
  )
  const data = fc
    .tuple(fc.oneof(fc.constantFrom(...discriminators), fc.uint8Array({ maxLength: 9 })), body)
    .map(([start, rest]) => Uint8Array.from([...start, ...rest]))
  const amount = fc.oneof(fc.bigInt(0n, 3n), fc.bigInt(0n, (1n << 64n) - 1n))
  const program = venue.programs[0]!
  const selfCall = data.map((bytes): CallSpec => ({
    program,
    accounts: [names[0]!],
    data: Uint8Array.from([...Uint8Array.fromHex('e445a52e51cb9a1d'), ...bytes])
  }))
  const transfer = fc
    .tuple(account, account, account, amount)
    .map(([source, destination, owner, moved]) => tokenTransfer(source, destination, owner, moved))
  const call = fc.record({
    program: fc.constant(program),
    accounts: fc.array(account, { maxLength: 40 }),
    data,
    inner: fc.array(fc.oneof(transfer, selfCall), { maxLength: 6 }),
    logged: fc.array(data, { maxLength: 3 }),
    lines: fc.array(
      data.map((bytes) => `Program log: ray_log: ${bytes.toBase64()}`),
      { maxLength: 2 }
    )
  })
  fc.assert(
    fc.property(fc.array(call, { minLength: 1, maxLength: 3 }), fc.boolean(), (calls, heights) => {
      const transaction = buildTransaction({
        signers: ['signer', names[0]!],
        calls,
        heights,
        balances: names.map((name, i) => ({
          account: name,
          mint: `mint ${i % 2}`,
          owner: 'signer',
          decimals: 6,
          before: 1n,
          after: 2n
        }))
      })
      decodeTransaction(transaction)
    }),
    randomRuns(400, SEED)
  )
  t.pass('nothing was thrown')
}
