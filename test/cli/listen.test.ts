import { once } from 'node:events'
import { createInterface } from 'node:readline'
import t, { type Test } from 'tap'
import type { WebhookEvent } from '../../src/client/webhooks.ts'
import { deliveryLines } from '../../src/webhooks/commands/delivery-lines.ts'
import * as example from '../../src/stream/routes/stream-examples.ts'
import { signatureHeaders, signingKeysOf } from '../../src/webhooks/signature.ts'
import { runMillrace, spawnMillrace } from '../service/service-process.ts'
import { VECTOR } from '../webhooks/webhooks-page.ts'

const SECRET = VECTOR.secret!

/** `millrace listen` in its own process. */
async function startListening(
  t: Test,
  args: readonly string[],
  environment: Readonly<Record<string, string>>
) {
  const child = spawnMillrace(['listen', '--port', '0', ...args], environment)
  t.teardown(() => void child.kill('SIGKILL'))
  const [stdout, stderr]: [string[], string[]] = [[], []]
  createInterface(child.stdout!).on('line', (line) => stdout.push(line))
  createInterface(child.stderr!).on('line', (line) => stderr.push(line))
  while (!stderr.some((line) => line.includes('listening on'))) await once(child.stderr!, 'data')
  const url = /listening on (\S+)/.exec(stderr[0]!)![1]!
  const closed = once(child, 'close')
  return {
    stdout,
    stderr,
    async post(body: object, secret = SECRET, method = 'POST'): Promise<number> {
      const bytes = Buffer.from(JSON.stringify(body))
      const batch = { webhookId: 42, batchId: 'b', body: bytes, nowMs: Date.now() }
      const headers = signatureHeaders([signingKeysOf(secret)], batch)
      const answer = await fetch(url, { method, headers, ...(method === 'POST' && { body: bytes }) })
      await answer.arrayBuffer()
      return answer.status
    },
    async interrupt(): Promise<number | null> {
      child.kill('SIGINT')
      const [code] = (await closed) as [number | null]
      return code
    }
  }
}

const TEST = {
  channel: 'test',
  data: { event: 'test', webhook_id: 42, message: 'Test event', ts_ms: 1_767_225_600_123 }
} as const
const LAUNCH: WebhookEvent = { channel: 'launches', data: example.EXAMPLE_LAUNCH }
const batch = (id: string, events: readonly object[], more = {}): object => ({
  webhook_id: 42,
  batch_id: id,
  batch_ts: 1_767_225_600_123,
  events,
  ...more
})

t.test('the events of verified deliveries are printed once, those of others are not', async (t) => {
  const listener = await startListening(t, [], { MILLRACE_WEBHOOK_SECRET: SECRET })
  t.equal(await listener.post(batch('1', [TEST, LAUNCH])), 204)
  t.equal(await listener.post(batch('1', [TEST, LAUNCH])), 204)
  t.equal(await listener.post(batch('2', [LAUNCH], { dropped: 7 })), 204)
  t.equal(await listener.post(batch('3', [LAUNCH]), VECTOR['previous secret']), 400)
  t.equal(await listener.post(batch('4', []), SECRET, 'GET'), 405)
  t.equal(await listener.interrupt(), 0)
  t.match(listener.stdout, [/^00:00:00\.123 {2}test {2}"Test event" of webhook 42$/, / launch /, / launch /])
  t.equal(listener.stdout.length, 3)
  const said = listener.stderr.join('\n')
  for (const line of [
    /batch 1 was redelivered/,
    /7 events were dropped before this batch/,
    /refused a delivery: .* \(signature_mismatch\)/
  ])
    t.match(said, line)
  t.notMatch(said, SECRET)
})

t.test('a secret is taken as an option, and events as JSON', async (t) => {
  const listener = await startListening(t, ['--secret', SECRET, '--json'], {})
  t.equal(await listener.post(batch('1', [TEST])), 204)
  t.equal(await listener.interrupt(), 0)
  t.same(
    listener.stdout.map((line) => JSON.parse(line) as unknown),
    [TEST]
  )
})

t.test('each kind of event of a delivery has a line', async (t) => {
  const { ts_ms } = example.EXAMPLE_TICK
  const retraction = { event: 'retract', of: 5, signature: 'S', slot: 1, ts_ms, cursor: 6 } as const
  const events: WebhookEvent[] = [
    { channel: 'trades:A', data: example.EXAMPLE_TRADE },
    { channel: 'price:A', data: example.EXAMPLE_TICK },
    LAUNCH,
    { channel: 'curves', data: example.EXAMPLE_CURVE },
    { channel: 'pools', data: example.EXAMPLE_POOL_EVENT },
    { channel: 'pool:A', data: example.EXAMPLE_LIQUIDITY },
    { channel: 'trades:A', data: retraction }
  ]
  const lines = deliveryLines({ webhook_id: 1, batch_id: 'a', batch_ts: 1, events }, false)
  const says = [
    /sell {2}/,
    /price {2}/,
    /launch {2}/,
    /curve create/,
    /pool create/,
    /liquidity add/,
    /at 5 was/
  ]
  says.forEach((words, at) => t.match(lines[at], words))
})

t.test('usage that cannot be meant ends with 2, a port that is taken with 1', async (t) => {
  const bad: [args: string[], says: RegExp][] = [
    [['--port', '0'], /MILLRACE_WEBHOOK_SECRET/],
    [['--secret', SECRET], /set the port/],
    [['--secret', SECRET, '--port', '65536'], /--port="65536" is above 65535/],
    [['--secret', SECRET, '--port', 'http'], /--port="http" is not a whole number/]
  ]
  for (const [args, says] of bad) {
    const { code, stderr } = await runMillrace(['listen', ...args])
    t.equal(code, 2, args.join(' '))
    t.match(stderr, says)
  }
  const first = await startListening(t, ['--secret', SECRET], {})
  const { port } = new URL(/listening on (\S+)/.exec(first.stderr[0]!)![1]!)
  const second = await runMillrace(['listen', '--port', port, '--secret', SECRET])
  t.equal(second.code, 1)
  t.match(second.stderr, new RegExp(`cannot listen on port ${port} of 127.0.0.1: .*EADDRINUSE`))
})
