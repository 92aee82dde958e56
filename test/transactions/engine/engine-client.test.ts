import t, { type Test } from 'tap'
import { EngineClient, type EngineClientOptions } from '../../../actors/transactions/engine/engine-client.ts'
import { bundleIdOf } from '../../../src/signing/bundle-id.ts'
import { encodeBase58 } from '../../../src/chain/base58.ts'
import { TIP_ACCOUNTS } from '../../../src/localnet/engine/tip-accounts.ts'
import { systemPorts } from '../../../src/ports.ts'
import { openBank, signed, transfer, wallet } from '../../localnet/bank/sending.ts'
import { freePort } from '../../servers/free-port.ts'
import { startTestEngine } from '../../servers/test-engine.ts'

const END = new AbortController().signal

function clientOf(
  t: Test,
  urls: readonly string[],
  options: Partial<EngineClientOptions> = {}
): EngineClient {
  const client = new EngineClient({
    urls,
    auth: null,
    requestsPerSecond: Infinity,
    clock: systemPorts.clock,
    client: { timeoutMs: 60_000 },
    ...options
  })
  t.teardown(() => client.close())
  return client
}

async function wires(count: number): Promise<Uint8Array[]> {
  const bank = await openBank()
  return Array.from({ length: count }, (_, nth) =>
    signed(bank, [transfer(wallet(1), wallet(2).publicKey, BigInt(nth + 1))], [wallet(1)])
  )
}

const idOf = (bundle: readonly Uint8Array[]): string =>
  bundleIdOf(bundle.map((wire) => encodeBase58(wire.subarray(1, 65))))

t.test('a bundle and a transaction go to their paths in base64, with the token', async (t) => {
  const engine = await startTestEngine(t)
  const client = clientOf(t, [`${engine.url}/`], { auth: 'an-uuid' })
  const bundle = await wires(2)
  t.same(await client.sendBundle(bundle, END), { kind: 'accepted', id: idOf(bundle) })
  t.match(await client.sendTransaction(bundle[0]!, false, END), { kind: 'accepted' })
  t.match(await client.sendTransaction(bundle[0]!, true, END), { kind: 'accepted' })
  t.same(
    engine.requests.map(({ path, auth }) => [path, auth]),
    [
      ['/api/v1/bundles', 'an-uuid'],
      ['/api/v1/transactions', 'an-uuid'],
      ['/api/v1/transactions?bundleOnly=true', 'an-uuid']
    ]
  )
  t.same(engine.requests[0]!.params, [
    bundle.map((wire) => Buffer.from(wire).toString('base64')),
    { encoding: 'base64' }
  ])
})

t.test('a submission goes to another region where the first cannot have taken it', async (t) => {
  const [first, second] = [await startTestEngine(t), await startTestEngine(t)]
  const bundle = await wires(1)
  const dead = `http://127.0.0.1:${await freePort(['127.0.0.1'])}`
  t.match(await clientOf(t, [dead, second.url]).sendBundle(bundle, END), { kind: 'accepted' })
  t.equal(second.taken.size, 1)
  for (const fault of [
    { kind: 'status', status: 429, retryAfter: 3 },
    { kind: 'status', status: 401 },
    { kind: 'error', code: -32097, message: 'Network congested. Endpoint is globally rate limited.' }
  ] as const) {
    const [before, first0] = [second.requests.length, first.taken.size]
    first.fault('sendBundle', fault)
    t.match(await clientOf(t, [first.url, second.url]).sendBundle(bundle, END), { kind: 'accepted' })
    t.same([second.requests.length, first.taken.size], [before + 1, first0])
  }
})

t.test('a submission whose answer is lost goes nowhere else', async (t) => {
  const [first, second] = [await startTestEngine(t), await startTestEngine(t)]
  const client = clientOf(t, [first.url, second.url], { client: { timeoutMs: 400 } })
  const bundle = await wires(1)
  first.fault(
    'sendBundle',
    { kind: 'dropped' },
    { kind: 'garbage' },
    { kind: 'status', status: 502 },
    { kind: 'late', ms: 600 },
    { kind: 'error', code: -32603, message: 'Internal error' }
  )
  for (let nth = 0; nth < 5; nth++) t.match(await client.sendBundle(bundle, END), { kind: 'unsure' })
  t.equal(second.requests.length, 0)
  t.equal(first.requests.length, 5)
})

t.test(
  'a refusal for good is told with its reason, and a full stop of all regions with a wait',
  async (t) => {
    const engine = await startTestEngine(t)
    const client = clientOf(t, [engine.url])
    const bundle = await wires(1)
    engine.fault('sendBundle', {
      kind: 'error',
      code: -32602,
      message: 'bundle contains an expired blockhash'
    })
    t.same(await client.sendBundle(bundle, END), {
      kind: 'refused',
      code: -32602,
      message: 'bundle contains an expired blockhash'
    })
    engine.fault('sendBundle', { kind: 'status', status: 429, retryAfter: 7 })
    t.match(await client.sendBundle(bundle, END), { kind: 'deferred', waitMs: 7_000 })
    const asked = engine.requests.length
    t.match(await client.sendBundle(bundle, END), { kind: 'deferred' })
    t.equal(engine.requests.length, asked, 'a region that rests is not asked')
  }
)

t.test('a read goes to the next region after any fault, and is read with care', async (t) => {
  const [first, second] = [await startTestEngine(t), await startTestEngine(t)]
  const client = clientOf(t, [first.url, second.url], { client: { timeoutMs: 3_000 } })
  for (const fault of [
    { kind: 'status', status: 503 },
    { kind: 'garbage' },
    { kind: 'dropped' },
    { kind: 'late', ms: 3_500 }
  ] as const) {
    first.fault('getTipAccounts', fault)
    if (fault.kind === 'dropped') first.fault('getTipAccounts', fault)
    t.same(await client.tipAccounts(END), TIP_ACCOUNTS)
  }
  t.equal(second.requests.length, 4)
  const [bundle] = [await wires(1)]
  await client.sendBundle(bundle, END)
  const statuses = await client.statuses([idOf(bundle), 'ff'], END)
  t.match(statuses.get(idOf(bundle)), { kind: 'pending', reason: null })
  t.match(statuses.get('ff'), { kind: 'unknown' })
  await first.close()
  await second.close()
  await t.rejects(client.tipAccounts(END), { name: 'NodeError' })
})

t.test('a region gets no more requests a second than it allows, submissions first', async (t) => {
  const engine = await startTestEngine(t)
  const client = clientOf(t, [engine.url], { requestsPerSecond: 1 })
  const bundle = await wires(1)
  const began = performance.now()
  await Promise.all([client.tipAccounts(END), client.statuses(['ff'], END), client.sendBundle(bundle, END)])
  const tookMs = performance.now() - began
  t.same(
    engine.requests.map(({ method }) => method),
    ['getTipAccounts', 'sendBundle', 'getInflightBundleStatuses']
  )
  t.ok(tookMs > 1_950, `${tookMs} ms for three requests`)
})
