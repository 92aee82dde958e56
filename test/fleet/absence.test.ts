import t from 'tap'
import { ERRORS, ServiceError } from '../../src/kernel/errors.ts'
import { worksOf } from '../../src/kernel/compose/product.ts'
import { marketApp } from '../http/market-app.ts'
import { PRODUCTS } from '../products/loaded-products.ts'

const missing = (role: string): ServiceError =>
  new ServiceError(ERRORS.ROLE_MISSING, `no process has had the role ${role} for 5 s`, { members: { role } })

t.test(
  'every request that leaves work is refused while nobody does it, and no other request is',
  async (t) => {
    const asked = new Set<string>()
    const app = await marketApp(t, undefined, {
      absence: ({ name, role }) => {
        asked.add(name)
        return missing(role)
      }
    })
    await app.app.ready()
    const key = await app.makeKey(['data:read', 'tx:send', 'webhooks', 'revenue', 'admin'])
    const leaving = app.app.served.map(({ endpoint }) => endpoint).filter(({ leavesWork }) => leavesWork)
    t.same(leaving.map(({ method, path }) => `${method} ${path}`).toSorted(), [
      'POST /v1/admin/programs',
      'POST /v1/revenue/accounts',
      'POST /v1/revenue/accounts/{address}/backfill',
      'POST /v1/tx/bundle',
      'POST /v1/tx/send',
      'POST /v1/webhooks',
      'POST /v1/webhooks/{id}/enable'
    ])
    const headers = { 'x-api-key': key, 'content-type': 'application/json' }
    for (const { method, path, errors } of leaving) {
      const answer = await app.ask(method, path.replaceAll(/\{\w+\}/g, '1'), headers, '{}')
      t.match(answer, { status: 503, body: { code: 'role_missing', role: /^(ingest|delivery)$/ } }, path)
      t.equal(answer.headers['retry-after'], '1')
      t.ok(errors.includes(ERRORS.ROLE_MISSING), 'the documents of the API state it')
    }
    t.same(asked, new Set(worksOf(PRODUCTS).map(({ name }) => name)), 'each product asks for its own work')
    t.equal((await app.ask('POST', '/v1/tx/send', { 'content-type': 'application/json' }, '{}')).status, 401)
    t.equal((await app.get('/v1/webhooks', headers)).status, 200)
    t.equal((await app.get('/v1/revenue/accounts', headers)).status, 200)
  }
)

t.test('with a process for every work, no request is refused for its role', async (t) => {
  const app = await marketApp(t, undefined, { absence: () => null })
  const key = await app.makeKey(['tx:send'])
  const headers = { 'x-api-key': key, 'content-type': 'application/json' }
  t.match(await app.ask('POST', '/v1/tx/send', headers, '{}'), {
    status: 400,
    body: { code: 'invalid_parameter' }
  })
})
