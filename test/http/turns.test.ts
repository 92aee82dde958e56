import t from 'tap'
import { until } from '../until.ts'
import { marketApp } from './market-app.ts'

t.test(
  'a tenant with many slow requests waits for itself, and another tenant is answered meanwhile',
  async (t) => {
    const gate = Promise.withResolvers<void>()
    let began = 0
    const app = await marketApp(t, (storage) => {
      const { launches } = storage
      const slow = new Proxy(launches, {
        get: (target, name, receiver) => {
          const method: unknown = Reflect.get(target, name, receiver)
          if (typeof method !== 'function') return method
          return async (...given: unknown[]): Promise<unknown> => {
            began++
            await gate.promise
            return Reflect.apply(method, target, given)
          }
        }
      })
      return new Proxy(storage, {
        get: (target, name, receiver) =>
          name === 'launches' ? slow : (Reflect.get(target, name, receiver) as unknown)
      })
    })
    const asked = Array.from({ length: 30 }, (_, at) => app.get(`/v1/launches?limit=${at + 1}`))
    await until(() => began === 6)
    await app.keys.createTenant('beta', 1)
    const key = await app.makeKey(['data:read'], { tenant: 'beta' })
    t.equal((await app.get('/v1/me', { 'x-api-key': key })).status, 200)
    t.equal(began, 6, 'of the first tenant no more have begun than it has places')
    gate.resolve()
    t.strictSame(new Set((await Promise.all(asked)).map(({ status }) => status)), new Set([200]))
  }
)
