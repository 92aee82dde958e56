import { EventEmitter } from 'node:events'
import t from 'tap'
import { UNREAD_BYTES_MAX } from '../../src/kernel/http/unread-answers.ts'
import { marketApp } from './market-app.ts'

t.test('a tenant whose clients do not read gets no further answer made, and others do', async (t) => {
  const app = await marketApp(t)
  await app.app.ready()
  const { unreadAnswers } = app.app
  const responses = [1, 2, 3].map((parts) =>
    Object.assign(new EventEmitter(), {
      socket: { writableLength: parts === 3 ? 0 : UNREAD_BYTES_MAX / 2 + parts }
    })
  )
  for (const response of responses) {
    unreadAnswers.follow('acme', response)
    response.emit('prefinish')
  }
  const refused = await app.get('/v1/launches?limit=7')
  t.equal(refused.status, 429)
  t.match(refused.body, { code: 'too_many_connections', detail: /have yet to read 128 MiB of answers/ })
  await app.keys.createTenant('beta', 1)
  const key = await app.makeKey(['data:read'], { tenant: 'beta' })
  t.equal((await app.get('/v1/launches?limit=7', { 'x-api-key': key })).status, 200)
  for (const response of responses) response.emit('close')
  t.equal(unreadAnswers.of('acme'), 0)
  t.equal((await app.get('/v1/launches?limit=7')).status, 200)
})
