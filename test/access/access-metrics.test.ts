import t from 'tap'
import { marketApp } from '../http/market-app.ts'

t.test('metrics are for the machine itself, and else for an admin key', async (t) => {
  const app = await marketApp(t)
  const admin = await app.makeKey(['admin'])
  t.equal((await app.get('/metrics', {})).status, 200)
  for (const forwarding of [
    { 'x-forwarded-for': '203.0.113.9' },
    { forwarded: 'for=203.0.113.9' },
    { 'x-real-ip': '203.0.113.9' },
    { via: '1.1 proxy' }
  ]) {
    const passedOn = Object.keys(forwarding).join()
    t.match(await app.get('/metrics', forwarding), { status: 401 }, `${passedOn}: passed on by a proxy`)
    t.equal((await app.get('/metrics', { ...forwarding, 'x-api-key': admin })).status, 200, passedOn)
  }
})

t.test('metrics are for an admin key alone where the operator requires one', async (t) => {
  const app = await marketApp(t, undefined, { metricsKeyRequired: true })
  const admin = await app.makeKey(['admin'])
  t.match(await app.get('/metrics', {}), { status: 401, body: { code: 'missing_api_key' } })
  t.match(await app.get('/metrics'), { status: 403, body: { code: 'insufficient_scope' } })
  t.equal((await app.get('/metrics', { 'x-api-key': admin })).status, 200)
})
