import type { RequestListener } from 'node:http'
import t, { type Test } from 'tap'
import { OFF_CHAIN_BYTES_MAX, OFF_CHAIN_MS, offChainFetch } from '../../../actors/accounts/off-chain-fetch.ts'
import { REDIRECTS_MAX } from '../../../actors/accounts/public-fetch.ts'
import type { OffChainReading } from '../../../src/accounts/ports.ts'
import { systemPorts } from '../../../src/ports.ts'
import { UrlGuard } from '../../../src/webhooks/url-guard.ts'
import { settle, virtualClock } from '../../virtual-time.ts'
import { startReceiver } from '../webhooks/receiver.ts'

const never = new AbortController().signal
const failed = (error: string): object => ({ kind: 'failed', error })

/** Fetches the answer of a server on loopback. Only loopback is allowed. */
async function fetched(
  t: Test,
  answer: RequestListener,
  { path = '/1.json', clock = systemPorts.clock, guard = new UrlGuard({ allowPrivate: true }) } = {}
): Promise<{ reading: OffChainReading; paths: string[] }> {
  const receiver = await startReceiver(t, answer)
  const origin = `http://127.0.0.1:${receiver.port}`
  const fetch = offChainFetch({ guard, clock, ipfsGateway: origin })
  const reading = await fetch(path.startsWith('/') ? origin + path : path, never)
  return { reading, paths: receiver.received.map(({ url }) => url) }
}

const json =
  (text: string, type = 'application/json'): RequestListener =>
  (_, response) =>
    response.setHeader('content-type', type).end(text)

t.test('a JSON is read whatever type its server states, and ipfs by the gateway', async (t) => {
  const text = '\uFEFF{"image":"https://a.example/1.png","description":"Süß"}'
  const expected = { kind: 'read', fields: { image: 'https://a.example/1.png', description: 'Süß' } }
  t.match((await fetched(t, json(text))).reading, expected)
  t.match((await fetched(t, json(text, 'text/plain'))).reading, expected)
  const { reading, paths } = await fetched(t, json(text), { path: 'ipfs://Qm1/2.json' })
  t.match(reading, expected)
  t.same(paths, ['/ipfs/Qm1/2.json'])
})

t.test('HTML, another JSON, another status and no connection are failures with a name', async (t) => {
  t.strictSame((await fetched(t, json('<!doctype html><p>', 'text/html'))).reading, failed('not_json'))
  t.strictSame((await fetched(t, json('[1]'))).reading, failed('not_an_object'))
  for (const status of [204, 404, 429, 500])
    t.strictSame(
      (await fetched(t, (_, response) => response.writeHead(status).end())).reading,
      failed('status')
    )
  t.strictSame((await fetched(t, (_, response) => response.destroy())).reading, failed('unreachable'))
  const cut: RequestListener = (_, response) =>
    void response.writeHead(200, { 'content-length': 100 }).write('{"a":1', () => response.destroy())
  t.strictSame((await fetched(t, cut)).reading, failed('unreachable'))
  t.strictSame(
    (await fetched(t, json('{}', 'application/json'), { path: 'http://127.0.0.1:1234.5/' })).reading,
    failed('url_not_allowed')
  )
})

// INVARIANTS 10
t.test('a body beyond the limit is not read to its end', async (t) => {
  const image = (length: number): string => `{"image":"${'x'.repeat(length - 12)}"}`
  t.match((await fetched(t, json(image(OFF_CHAIN_BYTES_MAX)))).reading, { kind: 'read' })
  t.strictSame((await fetched(t, json(image(OFF_CHAIN_BYTES_MAX + 1)))).reading, failed('too_large'))
  let sent = 0
  const endless: RequestListener = (_, response) => {
    response.on('error', () => undefined)
    const send = (): void => {
      sent += 16_384
      if (!response.destroyed) response.write(Buffer.alloc(16_384, 32), () => setImmediate(send))
    }
    send()
  }
  t.strictSame((await fetched(t, endless)).reading, failed('too_large'))
  t.ok(sent < 64 * OFF_CHAIN_BYTES_MAX, `${sent} bytes`)
})

t.test('a server that is slow ends the fetch at its deadline', async (t) => {
  const clock = virtualClock()
  const slow: RequestListener = (_, response) => {
    response.writeHead(200).write('{')
    void settle().then(() => clock.increment(OFF_CHAIN_MS))
  }
  t.strictSame((await fetched(t, slow, { clock })).reading, failed('timeout'))
})

t.test('redirects are followed to a limit', async (t) => {
  const hops =
    (count: number): RequestListener =>
    ({ url = '' }, response) => {
      const hop = Number(url.slice(1).split('.')[0])
      if (hop <= count) response.writeHead(302, { location: `/${hop + 1}.json` }).end('gone')
      else response.end('{"description":"there"}')
    }
  const near = await fetched(t, hops(REDIRECTS_MAX))
  t.match(near.reading, { fields: { description: 'there' } })
  t.equal(near.paths.length, REDIRECTS_MAX + 1)
  t.strictSame((await fetched(t, hops(REDIRECTS_MAX + 1))).reading, failed('too_many_redirects'))
})

t.test(
  'neither a URI nor a redirect leads to an address that is not public, or to another scheme',
  async (t) => {
    let reached = 0
    const inside = await startReceiver(t, (_, response) => {
      reached++
      response.end('{"description":"secret"}')
    })
    const guard = new UrlGuard({
      allowPrivate: false,
      lookup: async (host) => (host === 'inside.example' ? ['127.0.0.1'] : [])
    })
    const fetch = offChainFetch({ guard, clock: systemPorts.clock, ipfsGateway: 'http://127.0.0.1' })
    for (const uri of [
      `http://127.0.0.1:${inside.port}/`,
      `http://[::ffff:127.0.0.1]:${inside.port}/`,
      `http://inside.example:${inside.port}/`,
      'http://169.254.169.254/latest/meta-data',
      'file:///etc/passwd',
      'ftp://a.example/',
      'http://user:password@a.example/',
      'http://a.example:22/',
      'data:application/json,{}',
      'not a url',
      ''
    ])
      t.strictSame(await fetch(uri, never), failed('url_not_allowed'), uri)
    t.strictSame(await fetch('http://unknown.example/', never), failed('unreachable'))

    // The first address is allowed, as a public one would be; the second is not.
    class FirstOnly extends UrlGuard {
      override allows(address: string): boolean {
        return address === '127.0.0.1'
      }

      override async addressesOf(host: string): Promise<readonly string[]> {
        return host === '127.0.0.1' ? [host] : guard.addressesOf(host)
      }
    }
    const only = new FirstOnly({ allowPrivate: true })
    for (const location of [
      `http://inside.example:${inside.port}/`,
      `http://[::1]:${inside.port}/`,
      'http://10.0.0.1/',
      'file:///etc/passwd',
      'http://'
    ]) {
      const redirect: RequestListener = (_, response) => response.writeHead(307, { location }).end()
      t.strictSame((await fetched(t, redirect, { guard: only })).reading, failed('url_not_allowed'), location)
    }
    t.equal(reached, 0)
  }
)

t.test('the end of the process ends a fetch', async (t) => {
  const guard = new UrlGuard({ allowPrivate: true })
  const fetch = offChainFetch({ guard, clock: systemPorts.clock, ipfsGateway: 'http://127.0.0.1' })
  const end = new AbortController()
  const receiver = await startReceiver(t, () => end.abort(new Error('the end')))
  await t.rejects(fetch(`http://127.0.0.1:${receiver.port}/`, end.signal), { message: 'the end' })
})
