import t from 'tap'
import {
  OFF_CHAIN_FRESH_MS,
  OFF_CHAIN_RETRY_MS,
  OFF_CHAIN_WAIT_MS,
  OFF_CHAIN_WAITING_MAX,
  OffChainCache
} from '../../../actors/accounts/off-chain-cache.ts'
import type { OffChainReading } from '../../../src/accounts/ports.ts'
import { settle, virtualClock } from '../../virtual-time.ts'

const fieldsOf = (description: string): OffChainReading => ({
  kind: 'read',
  fields: { image: null, description, website: null, twitter: null, telegram: null, discord: null }
})

function start(bytesMax = 2 ** 20) {
  const clock = virtualClock()
  const asked: string[] = []
  const answers: ((reading: OffChainReading) => void)[] = []
  const cache = new OffChainCache({
    clock,
    bytesMax,
    fetch: (uri, signal) => {
      asked.push(uri)
      return new Promise((resolve, reject) => {
        answers.push(resolve)
        signal.addEventListener('abort', () => reject(signal.reason as Error))
      })
    }
  })
  return { cache, clock, asked, answers }
}

async function turns(count = 5): Promise<void> {
  for (let turn = 0; turn < count; turn++) await settle()
}

t.test(
  'the first answer waits a short time, and is pending after it; later ones have the fields',
  async (t) => {
    const { cache, clock, asked, answers } = start()
    const first = cache.read(['https://a.example', 'https://b.example'])
    await turns()
    t.same(asked, ['https://a.example', 'https://b.example'])
    answers[0]!(fieldsOf('a'))
    await turns()
    let isAnswered = false
    void first.then(() => (isAnswered = true))
    clock.increment(OFF_CHAIN_WAIT_MS - 1)
    await turns()
    t.equal(isAnswered, false)
    clock.increment(1)
    t.match(await first, [{ kind: 'read', readAtMs: 0 }, { kind: 'pending' }])
    answers[1]!(fieldsOf('b'))
    await turns()
    t.match(await cache.read(['https://b.example']), [{ fields: { description: 'b' } }])
    t.equal(asked.length, 2)
    await cache.close()
  }
)

t.test('a URI that many ask for is fetched once', async (t) => {
  const { cache, asked, answers } = start()
  const all = [1, 2, 3].map(() => cache.read(['https://a.example']))
  await turns()
  answers[0]!(fieldsOf('a'))
  for (const each of await Promise.all(all)) t.match(each, [{ kind: 'read' }])
  t.equal(asked.length, 1)
  await cache.close()
})

t.test(
  'a failure is kept briefly, fields for long; what there is answers while it is fetched again',
  async (t) => {
    const { cache, clock, asked, answers } = start()
    const uri = 'https://a.example'
    const first = cache.read([uri])
    await turns()
    answers[0]!({ kind: 'failed', error: 'status' })
    t.match(await first, [{ kind: 'failed', error: 'status', readAtMs: 0 }])
    clock.increment(OFF_CHAIN_RETRY_MS - 1)
    await cache.read([uri])
    t.equal(asked.length, 1)
    clock.increment(1)
    t.match(await cache.read([uri]), [{ kind: 'failed' }], 'nobody waits a second time')
    await turns()
    t.equal(asked.length, 2)
    answers[1]!(fieldsOf('a'))
    await turns()
    const readAtMs = OFF_CHAIN_RETRY_MS
    t.match(await cache.read([uri]), [{ kind: 'read', readAtMs }])
    clock.increment(OFF_CHAIN_FRESH_MS - 1)
    await cache.read([uri])
    t.equal(asked.length, 2)
    clock.increment(1)
    t.match(await cache.read([uri]), [{ kind: 'read', readAtMs }])
    await turns()
    t.equal(asked.length, 3)
    answers[2]!({ kind: 'failed', error: 'unreachable' })
    await turns()
    t.match(await cache.read([uri]), [{ kind: 'read', readAtMs }], 'a failure does not undo a success')
    t.equal(asked.length, 3)
    t.equal(cache.failed, 2)
    await cache.close()
  }
)

// INVARIANTS 10
t.test(
  'a host has few places, the process some more, and beyond a limit of waiting nothing is asked',
  async (t) => {
    const { cache, clock, asked } = start()
    const ofOne = Array.from({ length: 20 }, (_, n) => `https://one.example/${n}`)
    const others = Array.from({ length: OFF_CHAIN_WAITING_MAX }, (_, n) => `https://h${n}.example/`)
    const answers = [cache.read(ofOne), cache.read(others)]
    await turns()
    t.equal(asked.filter((uri) => uri.includes('one.example')).length, 4)
    t.equal(asked.length, 16)
    t.equal(cache.inFlight, OFF_CHAIN_WAITING_MAX)
    t.equal(cache.dropped, 20)
    clock.increment(OFF_CHAIN_WAIT_MS)
    for (const each of (await Promise.all(answers)).flat()) t.equal(each.kind, 'pending')
    await cache.close()
    t.equal(cache.inFlight, 0)
    t.match(await cache.read(['https://late.example']), [{ kind: 'pending' }])
  }
)

t.test('its memory has a limit', async (t) => {
  const { cache, answers } = start(50_000)
  for (let n = 0; n < 100; n++) {
    const read = cache.read([`https://h${n}.example/`])
    await turns(2)
    answers[n]!(fieldsOf('x'.repeat(500)))
    await read
    t.ok(cache.bytes <= 50_000)
  }
  t.ok(cache.size > 10 && cache.size < 60)
  await cache.close()
})
