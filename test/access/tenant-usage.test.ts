import t from 'tap'
import { WSOL } from '../../src/market/cash.ts'
import { WORK_PER_MINUTE } from '../../src/kernel/work/work-units.ts'
import { contractOf } from '../http/checked-requests.ts'
import { marketApp } from '../http/market-app.ts'
import { NOON } from '../market/world.ts'

const PATH = '/v1/admin/tenants/usage'

t.test("the use of each tenant is its keys' work, refusals and time", async (t) => {
  const app = await marketApp(t)
  app.nowMs = NOON * 1_000
  const contract = await contractOf(app)
  const admin = await app.makeKey(['admin'])
  const usage = async (query = '') => {
    const answer = await app.get(`${PATH}${query}`, { 'x-api-key': admin })
    t.equal(
      contract.breach({ method: 'GET', path: PATH, ...answer }),
      null,
      'the document describes the answer'
    )
    return answer.body
  }
  await app.ask(
    'POST',
    '/v1/admin/tenants',
    { 'x-api-key': admin, 'content-type': 'application/json' },
    '{"name":"quiet"}'
  )
  const { data: before } = await usage()
  t.match(before, [
    { name: 'acme', keys: 2, work_refused: 0, answers_waiting: 0, sockets: 0 },
    { name: 'quiet', keys: 0, work_units: 0, work_units_this_minute: 0, answer_ms: 0 }
  ])
  t.equal(before[1]!['work_limit_per_minute'], WORK_PER_MINUTE)

  for (let call = 0; call < 5; call++) await app.get(`/v1/tokens/${WSOL}/trades?limit=${call + 1}`)
  const { data: after } = await usage()
  t.ok(Number(after[0]!['work_units']) > Number(before[0]!['work_units']))
  t.ok(Number(after[0]!['work_units_this_minute']) > 0)
  t.match(after[1], { work_units: 0 }, 'another tenant is not charged')

  app.deps.metrics.work.refused('acme')
  await app.makeKey(['data:read'], { workPerMinute: 2 * WORK_PER_MINUTE })
  const { data: larger } = await usage()
  t.match(larger[0], { keys: 3, work_refused: 1, work_limit_per_minute: 2 * WORK_PER_MINUTE })

  app.nowMs += 60_000
  t.match((await usage()).data[0], { work_units_this_minute: 0 }, 'a new minute')
  t.match(await usage('?limit=1'), { nextCursor: 'acme', data: [{ name: 'acme' }] })
  t.match(await usage('?after=acme'), { nextCursor: null, data: [{ name: 'quiet' }] })
})

t.test('the use of tenants is for admin keys alone', async (t) => {
  const app = await marketApp(t)
  t.match(await app.get(PATH), { status: 403, body: { code: 'insufficient_scope' } })
  t.match(await app.get(`${PATH}?after=nobody`, { 'x-api-key': await app.makeKey(['admin']) }), {
    status: 400,
    body: { code: 'invalid_cursor' }
  })
})
