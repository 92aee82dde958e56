import t, { type Test } from 'tap'
import { FLEET_PROCESS, StorePresence } from '../../src/fleet/store-presence.ts'
import { PRESENCE_MS } from '../../storage/cluster/coordination.ts'
import { openEmbeddedStorage } from '../../storage/embedded/store.ts'
import { Documents } from '../../storage/documents.ts'
import { ownDirectory } from '../own-directory.ts'

const BEAT_MS = 1_000

/** Some processes of one store, each with a clock of its own time. */
async function processes(t: Test) {
  const storage = await openEmbeddedStorage({ directory: ownDirectory(t), hotBytesMax: 2 ** 20 })
  t.teardown(() => storage.close())
  const { documents } = storage
  let nowMs = 0
  return {
    documents,
    pass: (ms: number) => void (nowMs += ms),
    join: (aheadMs: number) => new StorePresence(documents, { now: () => nowMs + aheadMs })
  }
}

const heardBy = async (presence: StorePresence, id: string) =>
  Object.fromEntries(
    (await presence.announce(id, `of ${id}`)).processes.map((each) => [each.id, each.silentMs])
  )

t.test('processes hear each other by their beats, however far apart their clocks are', async (t) => {
  const { pass, join } = await processes(t)
  const [a, b] = [join(0), join(86_400_000)]
  t.match(await a.announce('a', 'one'), { coversMs: 0, processes: [{ id: 'a', text: 'one', silentMs: 0 }] })
  t.same(await heardBy(b, 'b'), { a: 0, b: 0 })
  pass(BEAT_MS)
  t.same(await heardBy(a, 'a'), { a: 0, b: 0 })
  pass(BEAT_MS)
  t.same(await heardBy(a, 'a'), { a: 0, b: BEAT_MS }, 'its beat stands still')
  const { coversMs, processes: heard } = await a.announce('a', 'two')
  t.equal(coversMs, 2 * BEAT_MS)
  t.same(
    heard.map(({ text }) => text),
    ['two', 'of b']
  )
})

t.test('a dead process is heard for five seconds more, and removed after a minute by another', async (t) => {
  const { documents, pass, join } = await processes(t)
  const [a, b] = [join(0), join(0)]
  await b.announce('b', '')
  await a.announce('a', '')
  pass(PRESENCE_MS)
  t.same(await heardBy(a, 'a'), { a: 0, b: PRESENCE_MS })
  pass(1)
  t.same(await heardBy(a, 'a'), { a: 0 })
  const stored = new Documents(documents, FLEET_PROCESS)
  t.equal((await stored.list('fleet', { limit: 10 })).documents.length, 2)
  pass(60_000)
  await a.announce('a', '')
  t.equal((await stored.list('fleet', { limit: 10 })).documents.length, 1)
  t.same(await heardBy(b, 'b'), { a: 0 }, 'b was paused, and finds its document removed')
  t.same(await heardBy(b, 'b'), { a: 0, b: 0 }, 'it stores it again')
})

t.test('a farewell removes the document, and a pause of the reads begins them anew', async (t) => {
  const { pass, join } = await processes(t)
  const [a, b] = [join(0), join(0)]
  await a.announce('a', '')
  await b.announce('b', '')
  await b.leave('b')
  t.same(await heardBy(a, 'a'), { a: 0 })
  pass(BEAT_MS)
  t.equal((await a.announce('a', '')).coversMs, BEAT_MS)
  a.forget()
  pass(BEAT_MS)
  t.equal((await a.announce('a', '')).coversMs, 0)
})
