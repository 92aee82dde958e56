import t from 'tap'
import { ChangeQueue } from '../../src/access/change-queue.ts'
import { UnknownOutcome } from '../../src/kernel/errors.ts'
import { noted, RequestEffects, withEffects } from '../../src/kernel/request-effects.ts'
import { settle } from '../virtual-time.ts'

const never = (): Promise<never> => new Promise(() => undefined)

t.test('a change whose write is never answered gives up its turn with its request', async (t) => {
  let reloads = 0
  const queue = new ChangeQueue(async () => void reloads++)
  const effects = new RequestEffects()
  void withEffects(effects, () => queue.run(() => noted(never, () => true)))
  let isLaterDone = false
  const later = queue.run(async () => {
    t.equal(reloads, 1, 'memory follows the store before the next change')
    isLaterDone = true
  })
  await settle()
  t.notOk(isLaterDone)
  effects.end()
  await later
  t.ok(isLaterDone)
})

t.test('a change whose answer is lost is followed by a reload, any other is not', async (t) => {
  let reloads = 0
  const queue = new ChangeQueue(async () => void reloads++)
  const write = (error: Error | null) => async (): Promise<boolean> => {
    if (error !== null) throw error
    return true
  }
  const run = (error: Error | null): Promise<boolean> =>
    withEffects(new RequestEffects(), () => queue.run(() => noted(write(error), (isDone) => isDone)))
  await run(null)
  await t.rejects(run(new Error('refused')))
  await queue.run(async () => undefined)
  t.equal(reloads, 0)
  await t.rejects(run(new UnknownOutcome('no answer', null)))
  await queue.run(async () => undefined)
  t.ok(reloads > 0)
})

t.test('a change whose request was refused while it waited does not begin', async (t) => {
  const queue = new ChangeQueue(async () => undefined)
  const first = Promise.withResolvers<void>()
  const running = queue.run(() => first.promise)
  const effects = new RequestEffects()
  const waiting = withEffects(effects, () => queue.run(async () => t.fail('it began')))
  effects.refuse(new Error('too late'))
  first.resolve()
  await running
  await t.rejects(waiting, { message: 'too late' })
})
