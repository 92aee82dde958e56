import fc from 'fast-check'
import type { Test } from 'tap'
import { Documents, type ListOptions, type Page, type Stored } from '../../documents.ts'
import { LETTER, LETTER_TTL_MS, valuesOf, type Letter } from '../sample-documents.ts'
import type { OpenForTest } from '../under-test.ts'
import { seen, stored } from './documents.ts'

const letter = (number: number, changes: Partial<Letter> = {}): Letter => ({
  owner: 'ann',
  number,
  box: 'a',
  sentAtMs: 0,
  isOpen: true,
  ...changes
})

const change = {
  number: fc.constantFrom(-11, -1, 0, 3, 9, 10, 25, 1_000),
  box: fc.constantFrom('a', 'b', 'a\u0000'),
  sentAtMs: fc.constantFrom(-250, 0, 1, 99, 100, 101, 350, 1e12),
  isOpen: fc.boolean()
}
const step = fc.oneof(
  { weight: 6, arbitrary: fc.record({ act: fc.constant('put' as const), ...change }) },
  { weight: 2, arbitrary: fc.record({ act: fc.constant('delete' as const), number: change.number }) },
  { weight: 1, arbitrary: fc.record({ act: fc.constant('wait' as const), parts: fc.nat(2) }) }
)

type Read = (options: ListOptions) => Promise<Page<Letter>>

/** All letters of a list, by pages. */
async function all(read: Read, options: Omit<ListOptions, 'after'>): Promise<readonly Letter[]> {
  const found: Letter[] = []
  let after: string | null = null
  do {
    const page: Page<Letter> = await read({ ...options, after })
    found.push(...valuesOf(page.documents))
    after = page.next
  } while (after !== null)
  return found
}

/** Documents of kinds whose number has no limit, which an adapter may divide by their keys and times. */
export async function testGrowingDocuments(t: Test, open: OpenForTest, runs: number): Promise<void> {
  t.test('random changes of a growing kind agree with a plain list', async (t) => {
    const { storage, clock } = await open(t)
    const letters = new Documents(storage.documents, LETTER)
    let run = 0
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { minLength: 3, maxLength: 25 }),
        fc.integer({ min: 1, max: 4 }),
        async (steps, limit) => {
          const owner = `run${run++}`
          const model = new Map<number, { readonly letter: Letter; readonly endMs: number }>()
          let nowMs = 0
          for (const each of steps) {
            if (each.act === 'wait') {
              const ms = each.parts * 0.55 * LETTER_TTL_MS
              clock.advance(ms)
              nowMs += ms
              for (const [number, { endMs }] of model) if (endMs <= nowMs) model.delete(number)
              continue
            }
            const before: Stored<Letter> | null = await letters.get(owner, [each.number])
            t.strictSame(before?.value, model.get(each.number)?.letter)
            if (each.act === 'delete') {
              if (before !== null) t.equal(await letters.delete(before), true)
              model.delete(each.number)
              continue
            }
            const { act: _, ...fields } = each
            const value = letter(each.number, { ...fields, owner })
            if (before === null) stored(await letters.insert(value))
            else stored(await letters.update(before, value))
            model.set(each.number, { letter: value, endMs: nowMs + LETTER_TTL_MS })
          }
          const expected = [...model.values()].map(({ letter }) => letter).sort((a, b) => a.number - b.number)
          const byTime = expected.toSorted((a, b) => a.sentAtMs - b.sentAtMs)
          for (const order of ['asc', 'desc'] as const) {
            const inOrder = (list: readonly Letter[]) => (order === 'asc' ? list : list.toReversed())
            const options = { order, limit }
            t.strictSame(await all((o) => letters.list(owner, o), options), inOrder(expected))
            for (const box of ['a', 'b', 'a\u0000']) {
              const of = byTime.filter((each) => each.box === box)
              const byBox: Read = (o) => letters.listBy('byBox', owner, o)
              t.strictSame(await all(byBox, { ...options, prefix: [box] }), inOrder(of))
              t.strictSame(
                await all(byBox, { ...options, prefix: [box], until: [100] }),
                inOrder(of.filter(({ sentAtMs }) => sentAtMs <= 100))
              )
              t.strictSame(
                await all(byBox, { ...options, prefix: [box], above: [0] }),
                inOrder(of.filter(({ sentAtMs }) => sentAtMs > 0))
              )
              t.strictSame(
                await all((o) => letters.listBy('open', owner, o), { ...options, prefix: [box] }),
                inOrder(of.filter(({ isOpen }) => isOpen))
              )
            }
            const opened = byTime.filter(({ isOpen }) => isOpen)
            const boxes = ['a', 'a\u0000', 'b'].flatMap((box) => opened.filter((each) => each.box === box))
            t.strictSame(await all((o) => letters.listBy('open', owner, o), options), inOrder(boxes))
          }
        }
      ),
      { numRuns: runs, seed: 1 }
    )
  })

  t.test(
    'a document of a growing kind has a hot value, and is refused to a writer that is late',
    async (t) => {
      const { storage } = await open(t)
      const letters = new Documents(storage.documents, LETTER)
      const first = stored(await letters.insert(letter(1)))
      t.strictSame(await letters.insert(letter(1)), { ok: false, reason: 'exists' })
      const second = stored(await letters.update(first, letter(1, { box: 'b' })))
      t.strictSame(await letters.update(first, letter(1, { box: 'c' })), { ok: false, reason: 'changed' })
      t.equal(await letters.delete(first), false)
      t.strictSame(seen(await letters.get('ann', [1])), seen(second))
      for (const box of ['a', 'c'])
        t.strictSame((await letters.listBy('byBox', 'ann', { prefix: [box], limit: 9 })).documents, [])
      await letters.putHot(second, 5, { position: 50 })
      await letters.putHot(second, 4, { position: 40 })
      t.strictSame(await letters.fencedHot([second]), [{ token: 5, hot: { position: 50 } }])
      t.strictSame(await letters.fenceHot(second, 6), { token: 6, hot: { position: 50 } })
      await letters.putHot(second, 5, { position: 51 })
      t.strictSame(await letters.hot([second]), [{ position: 50 }], 'a late write is not read')
      t.equal(await letters.delete(second), true)
      const third = stored(await letters.insert(letter(1)))
      t.strictSame(await letters.hot([third]), [null], 'another document of the key has no value')
    }
  )

  t.test('a change of a growing kind whose answer is lost is made once, and listed once', async (t) => {
    const under = await open(t)
    if (under.losing === undefined) return t.pass('this adapter is in the same process: no answer is lost')
    const letters = new Documents(under.storage.documents, LETTER)
    const numbers = async (): Promise<number[]> =>
      valuesOf((await letters.listBy('byBox', 'ann', { prefix: ['a'], limit: 9 })).documents).map(
        ({ number }) => number
      )
    const lost = async (answers: Parameters<NonNullable<typeof under.losing>>[0]) =>
      new Documents((await under.losing!(answers)).documents, LETTER)
    const first = stored(await (await lost({ done: [0] })).insert(letter(1)))
    const second = stored(await (await lost({ undone: [0] })).update(first, letter(1, { sentAtMs: 7 })))
    stored(await (await lost({ late: [0] })).update(second, letter(1, { sentAtMs: 8 })))
    t.strictSame(await numbers(), [1])
    const never = await lost({ undone: Array.from({ length: 99 }, (_, n) => n) })
    await t.rejects(never.insert(letter(2)), { name: 'ServiceError' })
    t.strictSame(await numbers(), [1], 'entries of a document that was not stored are not listed')
    stored(await letters.insert(letter(2, { box: 'b' })))
    t.strictSame(await numbers(), [1], 'nor are they of another document of its key')
  })
}
