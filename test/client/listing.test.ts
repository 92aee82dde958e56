import t from 'tap'
import type { ApiError } from '../../src/client/client.ts'
import { json, problem, ScriptedService } from './scripted-service.ts'

const pages = () =>
  new ScriptedService(
    json({ tenant: 'acme', data: [{ n: 1 }, { n: 2 }], nextCursor: 'b' }),
    json({ tenant: 'acme', data: [], nextCursor: 'c' }),
    json({ tenant: 'acme', data: [{ n: 3 }], nextCursor: null })
  )

t.test('for await yields the rows of all pages, an empty page among them', async (t) => {
  const service = pages()
  const rows: unknown[] = []
  for await (const row of service.client().market.launches({ limit: 2, status: 'created' })) rows.push(row)
  t.same(rows, [{ n: 1 }, { n: 2 }, { n: 3 }])
  t.same(
    service.sent.map(({ path }) => path.split('?')[1]),
    ['limit=2&status=created', 'limit=2&status=created&after=b', 'limit=2&status=created&after=c']
  )
})

t.test(
  'await requests the first page alone, once, and a list that is not read requests nothing',
  async (t) => {
    const service = pages()
    const list = service.client().market.launches()
    t.equal(service.sent.length, 0)
    const [first, again] = await Promise.all([list, list])
    t.match(first, { nextCursor: 'b', data: [{ n: 1 }, { n: 2 }] })
    t.equal(again, first)
    t.equal(service.sent.length, 1)
  }
)

t.test('a loop that is left requests no further page', async (t) => {
  const service = pages()
  for await (const row of service.client().market.launches()) {
    t.same(row, { n: 1 })
    break
  }
  t.equal(service.sent.length, 1)
})

t.test('take stops at its number of rows, and at the end of the list', async (t) => {
  const service = pages()
  t.same(await service.client().market.launches().take(2), [{ n: 1 }, { n: 2 }])
  t.equal(service.sent.length, 1)
  t.equal((await pages().client().market.launches().take(100)).length, 3)
  t.same(await service.client().market.launches().take(0), [])
  t.equal(service.sent.length, 1)
})

t.test('a list starts after a given cursor, and yields pages', async (t) => {
  const service = pages()
  const sizes: number[] = []
  for await (const { data } of service.client().market.launches({ after: 'a' }).pages())
    sizes.push(data.length)
  t.same(sizes, [2, 0, 1])
  t.match(service.sent[0]!.path, /after=a$/)
})

t.test('a list waits for a quota between its pages, and rejects with a refusal', async (t) => {
  const service = new ScriptedService(
    json({ data: [{ n: 1 }], nextCursor: 'b' }),
    problem(429, 'rate_limited', { 'retry-after': '30' }),
    json({ data: [{ n: 2 }], nextCursor: 'c' }),
    problem(410, 'cursor_expired')
  )
  const rows: unknown[] = []
  const read = async (): Promise<void> => {
    for await (const row of service.client().programs.accounts('P')) rows.push(row)
  }
  await t.rejects(service.outcome(read()), { code: 'cursor_expired' })
  t.same(rows, [{ n: 1 }, { n: 2 }])
  const refused = new ScriptedService(problem(403, 'insufficient_scope')).client().market.launches()
  t.equal(await refused.catch((error: unknown) => (error as ApiError).code), 'insufficient_scope')
  let isDone = false
  await refused.finally(() => (isDone = true)).catch(() => undefined)
  t.ok(isDone)
})
