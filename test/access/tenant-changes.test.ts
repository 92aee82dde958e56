import t from 'tap'
import { noted, RequestEffects, withEffects } from '../../src/kernel/request-effects.ts'
import { TenantChanges } from '../../src/access/tenant-changes.ts'
import { settle } from '../virtual-time.ts'

t.test('changes of one tenant run one after another, in the order of their requests', async (t) => {
  const changes = new TenantChanges()
  let running = 0
  const done: number[] = []
  const change = (nth: number) => async (): Promise<void> => {
    t.equal(++running, 1)
    await settle()
    running--
    done.push(nth)
  }
  await Promise.all([1, 2, 3].map((nth) => changes.run('a', change(nth))))
  t.same(done, [1, 2, 3])
})

t.test('a change waits for no change of another tenant', async (t) => {
  const changes = new TenantChanges()
  const first = Promise.withResolvers<void>()
  const running = changes.run('a', () => first.promise)
  t.equal(await changes.run('b', async () => 'done'), 'done')
  first.resolve()
  await running
})

t.test('a change that fails rejects with its error, and the next one runs', async (t) => {
  const changes = new TenantChanges()
  const failing = changes.run('a', () => Promise.reject(new Error('full disk')))
  const next = changes.run('a', async () => 'done')
  await t.rejects(failing, { message: 'full disk' })
  t.equal(await next, 'done')
})

t.test('a change whose write is never answered gives up its turn with its request', async (t) => {
  const changes = new TenantChanges()
  const effects = new RequestEffects()
  const never = (): Promise<never> => new Promise(() => undefined)
  void withEffects(effects, () => changes.run('a', () => noted(never, () => true)))
  let isLaterDone = false
  const later = changes.run('a', async () => void (isLaterDone = true))
  await settle()
  t.notOk(isLaterDone)
  effects.end()
  await later
})

t.test('a thousand changes of a tenant may wait, and one more has not begun', async (t) => {
  const changes = new TenantChanges()
  const first = Promise.withResolvers<void>()
  let began = 0
  const running = Array.from({ length: 1_000 }, () =>
    changes.run('a', () => {
      began++
      return first.promise
    })
  )
  await t.rejects(
    changes.run('a', async () => t.fail('it began')),
    { code: 'CHANGE_NOT_BEGUN' }
  )
  t.equal(await changes.run('b', async () => 'done'), 'done')
  first.resolve()
  await Promise.all(running)
  t.equal(began, 1_000)
})
