import t, { type Test } from 'tap'
import { EngineClient, type EngineClientOptions } from '../../../actors/transactions/engine/engine-client.ts'
import { bundleIdOf } from '../../../src/signing/bundle-id.ts'
import { encodeBase58 } from '../../../src/chain/base58.ts'
import { TIP_ACCOUNTS } from '../../../src/localnet/engine/tip-accounts.ts'
import { systemPorts } from '../../../src/ports.ts'
import { openBank, signed, transfer, wallet } from '../../localnet/bank/sending.ts'
import { freePort } from '../../servers/free-port.ts'
import { startTestEngine } from '../../servers/test-engine.ts'
import { until } from '../../until.ts'
import { settle, virtualClock } from '../../virtual-time.ts'

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
    { kind: 'status', status: 404 },
    { kind: 'error', code: -32601, message: 'Method not found' },
    { kind: 'error', code: -32097, message: 'Network congested. Endpoint is globally rate limited.' }
  ] as const) {
    const [before, first0] = [second.requests.length, first.taken.size]
    first.fault('sendBundle', fault)
    t.match(await clientOf(t, [first.url, second.url]).sendBundle(bundle, END), { kind: 'accepted' })
    t.same([second.requests.length, first.taken.size], [before + 1, first0])
  }
})

t.test(
  'a submission whose answer is lost goes to the next region, and is unsure after the last',
  async (t) => {
    const bundle = await wires(1)
    for (const fault of [
      { kind: 'dropped' },
      { kind: 'garbage' },
      { kind: 'status', status: 502 },
      { kind: 'status', status: 408 },
      { kind: 'late', ms: 600 },
      { kind: 'error', code: -32603, message: 'Internal error' }
    ] as const) {
      const [first, second] = [await startTestEngine(t), await startTestEngine(t)]
      const client = clientOf(t, [first.url, second.url], { client: { timeoutMs: 400 } })
      first.fault('sendBundle', fault)
      t.match(await client.sendBundle(bundle, END), { kind: 'accepted' }, JSON.stringify(fault))
      t.same([first.requests.length, second.requests.length], [1, 1])
    }
    const [first, second] = [await startTestEngine(t), await startTestEngine(t)]
    const client = clientOf(t, [first.url, second.url])
    first.fault('sendBundle', { kind: 'status', status: 500 })
    second.fault('sendBundle', { kind: 'status', status: 429 })
    t.match(await client.sendBundle(bundle, END), { kind: 'unsure' }, 'the first may have it')
    const other = clientOf(t, [first.url, second.url])
    first.fault('sendBundle', { kind: 'status', status: 500 })
    second.fault('sendBundle', { kind: 'error', code: -32602, message: 'bundle already processed' })
    t.match(await other.sendBundle(bundle, END), { kind: 'unsure' }, 'the refusal may be due to the first')
  }
)

t.test('a sick region gets one try in a while, and is used again once it works', async (t) => {
  const [sick, sound] = [await startTestEngine(t), await startTestEngine(t)]
  const clock = virtualClock()
  const client = clientOf(t, [sick.url, sound.url], { clock })
  const bundle = await wires(1)
  const counts = (): number[] => [sick.requests.length, sound.requests.length]
  sick.fault('sendBundle', ...Array.from({ length: 2 }, () => ({ kind: 'status', status: 500 }) as const))
  for (let nth = 0; nth < 7; nth++) t.match(await client.sendBundle(bundle, END), { kind: 'accepted' })
  t.same(counts(), [1, 7], 'all seven reach the other region, and one was tried at the sick one')
  clock.increment(5_000)
  await Promise.all([client.sendBundle(bundle, END), client.sendBundle(bundle, END)])
  t.same(counts(), [2, 9], 'one of two tries it after 5 s')
  clock.increment(5_000)
  await client.sendBundle(bundle, END)
  t.same(counts(), [2, 10], 'after a second failure in a row it is avoided for twice as long')
  clock.increment(5_000)
  await client.sendBundle(bundle, END)
  await client.sendBundle(bundle, END)
  t.same(counts(), [4, 10], 'it works, and is the nearest')
})

t.test('if all regions are sick, each try still goes to all of them', async (t) => {
  const [first, second] = [await startTestEngine(t), await startTestEngine(t)]
  const client = clientOf(t, [first.url, second.url], { clock: virtualClock() })
  const bundle = await wires(1)
  for (const each of [first, second])
    each.fault('sendBundle', ...Array.from({ length: 2 }, () => ({ kind: 'status', status: 500 }) as const))
  for (let nth = 0; nth < 2; nth++) t.match(await client.sendBundle(bundle, END), { kind: 'unsure' })
  t.match(await client.sendBundle(bundle, END), { kind: 'accepted' })
  t.same([first.requests.length, second.requests.length], [3, 2])
})

t.test(
  'with 200 hopeless sends of one tenant, the first send and bundle of another wait for two',
  async (t) => {
    const engine = await startTestEngine(t)
    const clock = virtualClock()
    const client = clientOf(t, [engine.url], { clock, requestsPerSecond: 1 })
    const all = await wires(203)
    const textOf = (wire: Uint8Array): string => Buffer.from(wire).toString('base64')
    const ended: Promise<unknown>[] = []
    for (const [nth, wire] of all.slice(0, 200).entries()) {
      const rank = (['resend', 'bundle', 'first'] as const)[nth % 3]!
      ended.push(client.sendTransaction(wire, false, END, { tenant: 'a', rank }))
    }
    const pass = async (from: number, to: number): Promise<void> => {
      for (let sent = from; sent <= to; sent++) {
        await until(() => engine.requests.length >= sent)
        clock.increment(1_000)
      }
    }
    await pass(1, 10)
    await until(() => engine.requests.length === 11)
    ended.push(client.sendTransaction(all[200]!, false, END, { tenant: 'b', rank: 'first' }))
    ended.push(client.sendBundle([all[201]!], END, { tenant: 'b', rank: 'first' }))
    const withdrawn = client.sendTransaction(all[202]!, false, END, {
      tenant: 'b',
      rank: 'bundle',
      begin: () => false
    })
    await pass(11, 202)
    const texts = engine.requests.map(({ params }) => [params[0]].flat()[0])
    const waits = [all[200]!, all[201]!].map((wire) => texts.indexOf(textOf(wire)) - 10)
    // Without the other tenant they take one second and two seconds from its last request: the rate is one a second.
    t.ok(waits[0]! <= 2 && waits[1]! <= 4, `they took ${waits.join(' and ')} s`)
    await Promise.all(ended)
    t.match(await withdrawn, { kind: 'withdrawn' })
    t.equal(engine.requests.length, 202, 'a needless send takes no request of the rate')
  }
)

t.test(
  'a refusal for good is told with its reason, and a full stop of all regions with a wait',
  async (t) => {
    const engine = await startTestEngine(t)
    // The wait is compared exactly, so no time passes.
    const client = clientOf(t, [engine.url], { clock: virtualClock() })
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
  const bundle = await wires(1)
  const other = clientOf(t, [first.url, second.url], { client: { timeoutMs: 3_000 } })
  await other.sendBundle(bundle, END)
  const statuses = await other.statuses([idOf(bundle), 'ff'], END)
  t.match(statuses.get(idOf(bundle)), { kind: 'pending', reason: null })
  t.match(statuses.get('ff'), { kind: 'unknown' })
  await first.close()
  await second.close()
  await t.rejects(client.tipAccounts(END), { name: 'NodeError' })
})

t.test('a region gets no more requests a second than it allows, first submissions first', async (t) => {
  const engine = await startTestEngine(t)
  const clock = virtualClock()
  const client = clientOf(t, [engine.url], { requestsPerSecond: 1, clock })
  const bundle = await wires(1)
  const all = Promise.all([
    client.statuses(['ff'], END),
    client.sendTransaction(bundle[0]!, false, END, { tenant: 'a', rank: 'resend' }),
    client.statuses(['fe'], END),
    client.tipAccounts(END),
    client.sendBundle(bundle, END)
  ])
  for (let sent = 1; sent <= 5; sent++) {
    await until(() => engine.requests.length === sent)
    clock.increment(999)
    await settle()
    t.equal(engine.requests.length, sent)
    clock.increment(1)
  }
  await all
  t.same(
    engine.requests.map(({ method }) => method),
    [
      'getInflightBundleStatuses',
      'getTipAccounts',
      'sendBundle',
      'getInflightBundleStatuses',
      'sendTransaction'
    ]
  )
})
