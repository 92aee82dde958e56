import t from 'tap'
import type { Outage, Storage } from '../../storage/port.ts'
import { block, NOON } from '../market/world.ts'
import { closedStream, marketApp, type Body } from '../http/market-app.ts'

const codes = (body: Body) => (body['reasons'] as { code: string }[]).map(({ code }) => code)

t.test('health is degraded while the store does not answer, however fresh the data is', async (t) => {
  let outage: Outage | null = null
  const watched = (storage: Storage): Storage =>
    Object.defineProperty({ ...storage }, 'outage', { get: () => outage })
  const app = await marketApp(t, watched)
  await app.commit(block(1, NOON, []))
  app.nowMs = NOON * 1000
  const head = { data_freshness_seconds: 0, slot: 1, block_time: NOON }
  t.match(await app.get('/v1/health', {}), { status: 200, body: { status: 'ok', ...head } })
  outage = { sinceMs: app.nowMs, detail: 'too few replicas are up' }
  const degraded = await app.get('/v1/health', {})
  t.match(degraded, { status: 503, body: { status: 'degraded', ...head } })
  t.equal(degraded.headers['retry-after'], '1')
  app.draining = true
  t.match((await app.get('/v1/health', {})).body, { status: 'draining' })
  app.draining = false
  outage = null
  t.match(await app.get('/v1/health', {}), { status: 200, body: { status: 'ok', ...head } })
})

t.test('health says how the source does, whatever that does to the data', async (t) => {
  const app = await marketApp(t)
  await app.commit(block(1, NOON, []))
  app.nowMs = NOON * 1000
  const said = async () => {
    const { status, body } = await app.get('/v1/health', {})
    return [status, body.status, body.source]
  }
  t.same(await said(), [200, 'ok', null], 'recorded blocks have no source that could be away')
  const reasonOf = { stalled: 'source_stalled', waiting: 'source_away', refused: 'source_refused' }
  const states = ['connecting', 'advancing', 'full', 'stalled', 'waiting', 'refused'] as const
  for (const state of states) {
    app.source = { state, reason: 'a secret host is away', headSlot: 1, nodes: [], fork: null }
    t.same(await said(), [200, 'ok', state], 'fresh data is fresh')
    const { text, body } = await app.get('/v1/health', {})
    t.notMatch(text, 'secret', 'everybody may read it')
    t.same(codes(body), state in reasonOf ? [reasonOf[state as keyof typeof reasonOf]] : [])
  }
  app.source = { ...app.source!, state: 'advancing', fork: 'a secret host was put back' }
  t.same(await said(), [503, 'degraded', 'advancing'], 'what is stored is not known to be of the chain')
  t.notMatch((await app.get('/v1/health', {})).text, 'secret')
  app.source = { ...app.source, state: 'refused', fork: null }
  app.nowMs = (NOON + 121) * 1000
  t.same(await said(), [503, 'degraded', 'refused'])
})

t.test('health lists every reason that holds, and is degraded by those that impair answers', async (t) => {
  let outage: Outage | null = null
  const watched = (storage: Storage): Storage =>
    Object.defineProperty({ ...storage }, 'outage', { get: () => outage })
  const app = await marketApp(t, watched)
  const said = async () => {
    const { status, body, text } = await app.get('/v1/health', {})
    t.notMatch(text, '127.0.0.3', 'everybody may read it')
    return [status, body['status'], ...codes(body)]
  }
  t.same(await said(), [503, 'degraded', 'data_missing'])
  await app.commit(block(1, NOON, []))
  app.nowMs = NOON * 1000
  t.same(await said(), [200, 'ok'])
  app.redisAway = true
  t.same(await said(), [200, 'ok', 'redis_away'], 'without Redis the service goes on')
  outage = { sinceMs: app.nowMs, detail: '127.0.0.3:19442: Host considered as DOWN' }
  app.nowMs = (NOON + 121) * 1000
  t.same(await said(), [503, 'degraded', 'data_stale', 'store_away', 'redis_away'])
  app.draining = true
  t.same(await said(), [503, 'draining', 'data_stale', 'store_away', 'redis_away'])
})

t.test('health of the stream says how far a replay reaches back, in seconds of block time', async (t) => {
  const horizon = { cursor: 7, slot: 1, tsMs: (NOON - 90) * 1000 }
  const app = await marketApp(t, undefined, { stream: closedStream({ head: 2 ** 22, horizon }) })
  const said = async () => (await app.get('/v1/stream/health', {})).body['horizon']
  t.equal(await said(), null, 'without a block')
  await app.commit(block(4, NOON, []))
  t.strictSame(await said(), { cursor: 7, slot: 1, ts_ms: horizon.tsMs, seconds: 90 })
})

t.test(
  'data of a chain whose block times are behind is fresh while the head of its node is indexed',
  async (t) => {
    let nodeHead: number | null = 7
    const app = await marketApp(t, undefined, { nodeHead: () => nodeHead })
    const arrived = NOON + 20 * 60
    await app.commit({ ...block(7, NOON, []), receivedAtMs: arrived * 1000 })
    const said = async (nowSeconds: number) => {
      app.nowMs = nowSeconds * 1000
      const { status, body, headers } = await app.get('/v1/health', {})
      const stream = await app.get('/v1/stream/health', {})
      t.equal(headers['x-data-freshness-seconds'], String(body['data_freshness_seconds']))
      t.strictSame(
        [stream.status, stream.body['data_freshness_seconds']],
        [status, body['data_freshness_seconds']]
      )
      return [status, body['data_freshness_seconds'], body['chain_clock_lag_seconds']]
    }
    t.strictSame(await said(arrived + 2), [200, 2, 1202])
    nodeHead = 7 + 30
    t.strictSame(
      await said(arrived + 2),
      [200, 2, 1202],
      'a node is a few slots ahead while its blocks are read'
    )
    nodeHead = 7 + 31
    t.strictSame(await said(arrived + 2), [503, 1202, 1202], 'the index is behind its node')
    nodeHead = null
    t.strictSame(await said(arrived + 2), [503, 1202, 1202], 'no node has said where the chain is')
    nodeHead = 7
    t.strictSame(await said(arrived + 120), [200, 120, 1320])
    t.strictSame(
      await said(arrived + 121),
      [503, 121, 1321],
      'the node stands still, or is alone with its head'
    )
  }
)

t.test('a fresh localnet is starting until its past is indexed, and says how much of it is', async (t) => {
  let pastEnd: number | null = 200
  const app = await marketApp(t, undefined, { pastEnd: () => pastEnd, sourceKind: 'localnet' })
  const said = async () => {
    const [{ status, body }, stream] = [
      await app.get('/v1/health', {}),
      await app.get('/v1/stream/health', {})
    ]
    t.strictSame([stream.status, stream.body['status']], [status, body['status']])
    return [status, body['status'], body['progress'], ...codes(body)]
  }
  app.nowMs = NOON * 1000
  t.strictSame(await said(), [200, 'starting', 0])
  await app.commit(block(50, NOON - 60_000, []))
  t.strictSame(await said(), [200, 'starting', 0.25])
  app.source = { state: 'stalled', reason: null, headSlot: 50, nodes: [], fork: null }
  t.strictSame(
    await said(),
    [503, 'degraded', undefined, 'data_stale', 'source_stalled'],
    'no more of it comes'
  )
  app.source = { ...app.source, state: 'advancing' }
  t.strictSame(await said(), [200, 'starting', 0.25])
  app.draining = true
  t.strictSame(await said(), [503, 'draining', undefined])
  app.draining = false
  await app.commit(block(200, NOON - 121, []))
  t.strictSame(
    await said(),
    [503, 'degraded', undefined, 'data_stale'],
    'the past is indexed, and nothing since'
  )
  await app.commit(block(201, NOON, []))
  t.strictSame(await said(), [200, 'ok', undefined])
  pastEnd = null
  t.strictSame(await said(), [200, 'ok', undefined])
})
