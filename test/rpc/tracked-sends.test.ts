import t from 'tap'
import { encodeBase58 } from '../../src/chain/base58.ts'
import { TrackedSends } from '../../src/rpc/tracked-sends.ts'
import { marketApp } from '../http/market-app.ts'
import { fakeTransactions } from '../transactions/fake-transactions.ts'
import { virtualClock } from '../virtual-time.ts'
import { signedWire, toBase64, transfer, wallet } from '../transactions/signed.ts'

const { signal } = new AbortController()

t.test(
  'a tracked send is taken once, in base58 or base64, with the preflight of sendTransaction',
  async (t) => {
    const { storage } = await marketApp(t)
    const parts = fakeTransactions()
    const sends = new TrackedSends(storage.documents, parts, virtualClock())
    const wire = signedWire([transfer(5n, wallet(2).publicKey)])
    const base58 = await sends.send('acme', [encodeBase58(wire)], signal)
    t.match(base58, { result: /^"[1-9A-HJ-NP-Za-km-z]{80,90}"$/ })
    const options = { encoding: 'base64', skipPreflight: true }
    t.same(await sends.send('acme', [toBase64(wire), options], signal), base58, 'the same one again')
    t.equal(parts.begun.length, 1, 'tracking was begun once')
    t.equal(parts.simulated.length, 1, 'preflight ran where it was not skipped')
  }
)

t.test('a tracked send that is refused is refused as a node does', async (t) => {
  const { storage } = await marketApp(t)
  const parts = fakeTransactions()
  const sends = new TrackedSends(storage.documents, parts, virtualClock())
  const wire = signedWire([transfer(6n, wallet(2).publicKey)])
  const send = (...params: unknown[]) => sends.send('acme', params, signal)
  const base64 = { encoding: 'base64' }
  for (const [name, params] of [
    ['nothing', []],
    ['a number', [5]],
    ['no base58', ['0OIl']],
    ['too long', ['1'.repeat(2_000)]],
    ['no transaction', [Buffer.from('nonsense').toString('base64'), base64]]
  ] as const)
    t.match(await send(...params), { error: { code: -32602 } }, name)
  const unsigned = Uint8Array.from(wire)
  unsigned.fill(0, 1, 65)
  t.match(await send(toBase64(unsigned), base64), { error: { code: -32003 } })
  parts.simulation = { err: { InstructionError: [0, { Custom: 1 }] }, logs: ['a log'], unitsConsumed: 7 }
  t.match(await send(toBase64(wire), base64), {
    error: { code: -32002, data: { logs: ['a log'], unitsConsumed: 7, err: { InstructionError: [0, {}] } } }
  })
  parts.fault = { kind: 'timeout', afterMs: 1 }
  t.match(await send(toBase64(wire), base64), { error: { code: -32603, data: { retryable: true } } })
  t.equal(parts.begun.length, 0)
})
