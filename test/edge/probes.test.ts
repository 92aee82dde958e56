import t from 'tap'
import type { Outage, Storage } from '../../storage/port.ts'
import { announcementText } from '../../src/fleet/announcement.ts'
import { Fleet } from '../../src/fleet/fleet.ts'
import { PRESENCE_MS } from '../../storage/cluster/coordination.ts'
import { block, NOON } from '../market/world.ts'
import { announced } from '../fleet/sample-fleet.ts'
import { marketApp, type Body } from '../http/market-app.ts'

interface RoleState {
  readonly role: string
  readonly is_ready: boolean
  readonly reasons: readonly string[]
}

const reasonsByRole = (body: Body) =>
  Object.fromEntries((body['roles'] as RoleState[]).map(({ role, reasons }) => [role, reasons]))

t.test('live, ready and health are three things', async (t) => {
  let outage: Outage | null = null
  const watched = (storage: Storage): Storage =>
    Object.defineProperty({ ...storage }, 'outage', { get: () => outage })
  const app = await marketApp(t, watched)
  const statuses = async () =>
    Promise.all(['/live', '/ready', '/v1/health'].map(async (path) => (await app.get(path, {})).status))
  t.same(await statuses(), [200, 200, 503], 'without a block the data is not healthy, and the process is')
  await app.commit(block(1, NOON, []))
  app.nowMs = NOON * 1000
  t.same(await statuses(), [200, 200, 200])
  app.nowMs = (NOON + 121) * 1000
  t.same(await statuses(), [200, 200, 503], 'old data is old behind every gateway')
  app.nowMs = NOON * 1000
  outage = { sinceMs: app.nowMs, detail: 'it is away' }
  t.same(await statuses(), [200, 503, 503], 'another gateway may reach the store')
  t.match((await app.get('/ready', {})).body, { status: 'waiting' })
  outage = null
  app.draining = true
  t.same(await statuses(), [200, 503, 503])
  t.match((await app.get('/ready', {})).body, { status: 'draining' })
})

t.test('each role has reasons of its own', async (t) => {
  const app = await marketApp(t, undefined, { roles: ['ingest', 'gateway', 'delivery'] })
  const none = { ingest: [], gateway: [], delivery: [] }
  t.same(reasonsByRole((await app.get('/ready', {})).body), none)
  app.source = { state: 'refused', reason: 'a secret host refuses', headSlot: 1, nodes: [], fork: null }
  const refused = await app.get('/ready', {})
  t.equal(refused.status, 503)
  t.notMatch(refused.text, 'secret', 'everybody may read it')
  t.same(reasonsByRole(refused.body), { ...none, ingest: ['source_refused'] })
})

t.test('a delivery process has only its own role to be ready for', async (t) => {
  const delivery = await marketApp(t, undefined, { roles: ['delivery'] })
  t.same(reasonsByRole((await delivery.get('/ready', {})).body), { delivery: [] })
})

t.test('a process that leaves says so, and answers until it drains', async (t) => {
  let isLeaving = false
  const app = await marketApp(t, undefined, { leaving: () => isLeaving })
  await app.commit(block(1, NOON, []))
  app.nowMs = NOON * 1000
  t.notOk((await app.get('/v1/launches')).headers['connection'] === 'close')
  isLeaving = true
  t.match(await app.get('/ready', {}), { status: 503, body: { status: 'draining' } })
  t.match(await app.get('/v1/health', {}), { status: 503, body: { status: 'draining' } })
  const answer = await app.get('/v1/launches')
  t.equal(answer.status, 200)
  t.equal(answer.headers['connection'], 'close', 'the balancer opens its next connection elsewhere')
  app.draining = true
  t.match(await app.get('/v1/launches'), { status: 503, body: { code: 'draining' } })
})

t.test('health names the roles that are missing, and is degraded by settings that differ', async (t) => {
  const clock = { now: () => 1_000_000 }
  const own = announced({ roles: ['gateway'], works: [], settings: { MILLRACE_VENUES: 'phoenix' } })
  const fleet = new Fleet({ id: 'own', clock, own: () => own, isAlone: false })
  const app = await marketApp(t, undefined, { fleet })
  await app.commit(block(1, NOON, []))
  app.nowMs = NOON * 1000
  const said = async () => {
    const { status, body } = await app.get('/v1/health', {})
    const reasons = body['reasons'] as { code: string; detail: string }[]
    return [status, ...reasons.map(({ code, detail }) => `${code} ${detail.split(': ').at(-1)}`)]
  }
  t.same(await said(), [200])
  fleet.hear({ coversMs: PRESENCE_MS, processes: [] }, 'redis')
  t.same(await said(), [200, 'role_missing ingest, delivery'], 'its other answers are right')
  t.equal((await app.get('/ready', {})).status, 200)
  const text = announcementText(announced({ settings: { MILLRACE_VENUES: 'all' }, startedAtMs: 0 }))
  fleet.hear({ coversMs: PRESENCE_MS, processes: [{ id: 'b', text, silentMs: 0 }] }, 'redis')
  t.same(await said(), [503, 'deployment_differs MILLRACE_VENUES'])
  t.notMatch((await app.get('/v1/health', {})).text, 'phoenix', 'values are not shown')
})

t.test('the fleet lists each process, its lag and its shards, for the admin key', async (t) => {
  const own = announced({ roles: ['gateway'], works: [], slot: 5 })
  const fleet = new Fleet({ id: 'own', clock: { now: () => 9 }, own: () => own, isAlone: false })
  const shards = { webhooks: ['webhooks:00', 'webhooks:01'] }
  const text = announcementText(
    announced({ name: 'b/2', roles: ['delivery'], slot: 8, shards, isDraining: true })
  )
  fleet.hear({ coversMs: PRESENCE_MS, processes: [{ id: 'b', text, silentMs: 4 }] }, 'redis')
  const app = await marketApp(t, undefined, { fleet })
  t.equal((await app.get('/v1/admin/fleet')).status, 403)
  const key = await app.makeKey(['admin'])
  const { body } = await app.get('/v1/admin/fleet', { 'x-api-key': key })
  t.match(body, {
    source: 'redis',
    roles: [
      { role: 'ingest', processes: 0, is_missing: true },
      { role: 'gateway', processes: 1, is_missing: false },
      { role: 'delivery', processes: 1, is_missing: false }
    ],
    data: [
      { is_this: true, roles: ['gateway'], lag_slots: 3, heard_ms_ago: 0, state: 'running' },
      {
        is_this: false,
        name: 'b/2',
        roles: ['delivery'],
        lag_slots: 0,
        heard_ms_ago: 4,
        state: 'draining',
        shards
      }
    ]
  })
})

t.test('a route that other processes have is not served here, and never unknown', async (t) => {
  const app = await marketApp(t, undefined, { webhooks: null, transactions: null, roles: ['gateway'] })
  for (const [method, path] of [
    ['POST', '/v1/webhooks'],
    ['GET', '/v1/webhooks/7'],
    ['GET', '/v1/tx/x/status']
  ] as const) {
    const answer = await app.ask(method, path)
    t.match(answer, { status: 503, body: { code: 'not_served_here', detail: /its roles: gateway/ } }, path)
    t.equal(answer.headers['retry-after'], '1')
  }
  t.match(await app.get('/v1/nothing'), { status: 404, body: { code: 'unknown_route' } })
  t.match(await app.get('/v1/webhooks/7/nothing'), { status: 404, body: { code: 'unknown_route' } })
  t.match(await app.ask('DELETE', '/v1/launches'), { status: 405, body: { code: 'method_not_allowed' } })
})
