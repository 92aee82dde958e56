import type { Test } from 'tap'
import { Documents, PAGE_MAX } from '../../documents.ts'
import type { Outcome, Stored } from '../../documents.ts'
import { DOCUMENT_BYTES_MAX } from '../../document-values.ts'
import { PARCEL, parcel, valuesOf, type Parcel } from '../sample-documents.ts'
import type { OpenForTest } from '../under-test.ts'
import { ERRORS } from '../../../src/kernel/errors.ts'

/** Returns the stored document; fails for a refusal. */
export function stored<T>(outcome: Outcome<T>): Stored<T> {
  if (!outcome.ok) throw new Error(`it was refused: ${outcome.reason}`)
  return outcome.stored
}

/** A document as callers see it. */
export const seen = <T>(document: Stored<T> | null | undefined) =>
  document == null ? null : { value: document.value, version: document.version }

const reasonOf = (outcome: Outcome<unknown>): string | null => (outcome.ok ? null : outcome.reason)

export async function testDocuments(t: Test, open: OpenForTest): Promise<void> {
  t.test('a document is inserted once, changed by who read its version, and deleted by them', async (t) => {
    const { storage } = await open(t)
    const parcels = new Documents(storage.documents, PARCEL)
    t.equal(await parcels.get('ann', ['a']), null)
    const first = stored(await parcels.insert(parcel('a', { note: 'first' })))
    t.strictSame(first.value, parcel('a', { note: 'first' }))
    t.strictSame(seen(await parcels.get('ann', ['a'])), seen(first))
    t.equal(reasonOf(await parcels.insert(parcel('a'))), 'exists')
    const second = stored(await parcels.update(first, parcel('a', { note: 'second' })))
    t.not(second.version, first.version)
    t.equal(reasonOf(await parcels.update(first, parcel('a', { note: 'late' }))), 'changed')
    t.equal(await parcels.delete(first), false, 'it has changed since')
    t.strictSame(seen(await parcels.get('ann', ['a'])), seen(second))
    t.equal(await parcels.delete(second), true)
    t.equal(await parcels.delete(second), false)
    t.equal(reasonOf(await parcels.update(second, parcel('a'))), 'changed', 'it is gone')
    const again = stored(await parcels.insert(parcel('a', { note: 'first' })))
    t.equal(await parcels.delete(first), false, 'the same value is another document')
    t.strictSame(seen(await parcels.get('ann', ['a'])), seen(again))
    t.equal(await storage.blocks.head(), null, 'a document is no block')
  })

  t.test('documents are listed by page in the order of their keys, forwards and backwards', async (t) => {
    const { storage } = await open(t)
    const parcels = new Documents(storage.documents, PARCEL)
    // Numbers as numbers, texts by their bytes; a zero in a text does not end it.
    const ids = [-1e9, -2.5, -1, 0, 1, 1.5, 2 ** 52, 'a', 'a\u0000b', 'aa', 'b', 'z', 'é', '😀']
    const sorted = ids.toSorted((a, b) => {
      if (typeof a !== typeof b) return typeof a === 'string' ? -1 : 1
      return typeof a === 'number' ? a - Number(b) : Buffer.compare(Buffer.from(a), Buffer.from(String(b)))
    })
    for (const id of ids.toReversed()) stored(await parcels.insert(parcel(id)))
    stored(await parcels.insert(parcel('a', { owner: 'bob' })))
    for (const order of ['asc', 'desc'] as const)
      for (const limit of [1, 3, ids.length, PAGE_MAX]) {
        const listed: unknown[] = []
        let after: string | null = null
        do {
          const page = await parcels.list('ann', { order, limit, after })
          t.ok(page.documents.length <= limit)
          listed.push(...valuesOf(page.documents).map(({ id }) => id))
          after = page.next
        } while (after !== null)
        t.strictSame(listed, order === 'asc' ? sorted : sorted.toReversed(), `${order} by ${limit}`)
      }
    const { documents } = await parcels.list('ann', { prefix: ['a'], limit: 9 })
    t.strictSame(
      valuesOf(documents).map(({ id }) => id),
      ['a'],
      'a prefix is of whole parts'
    )
    t.strictSame((await parcels.list('nobody', { limit: 9 })).documents, [])
    await t.rejects(parcels.list('ann', { prefix: [1], after: 'AAAA', limit: 9 }), {
      name: 'ServiceError',
      kind: ERRORS.CURSOR_INVALID
    })
    for (const limit of [0, PAGE_MAX + 1]) await t.rejects(parcels.list('ann', { limit }), RangeError)
  })

  t.test('an index lists the documents that have an entry in it now, in its order', async (t) => {
    const { storage } = await open(t)
    const parcels = new Documents(storage.documents, PARCEL)
    const kept: Stored<Parcel>[] = []
    for (const [i, dueAtMs] of [30, 10, null, 20, 10].entries())
      kept.push(stored(await parcels.insert(parcel(i, { dueAtMs, status: i === 3 ? 'sent' : 'open' }))))
    const due = async (nowMs: number, limit = 10): Promise<unknown[]> =>
      valuesOf(await parcels.due('due', 'ann', nowMs, limit)).map(({ id }) => id)
    t.strictSame(await due(9), [])
    t.strictSame(await due(10), [1, 4], 'of one time in the order of keys')
    t.strictSame(await due(100), [1, 4, 3, 0])
    t.strictSame(await due(100, 3), [1, 4, 3])
    const withStatus = async (status: string, order: 'asc' | 'desc' = 'asc'): Promise<unknown[]> => {
      const { documents } = await parcels.listBy('status', 'ann', { prefix: [status], order, limit: 10 })
      return valuesOf(documents).map(({ id }) => id)
    }
    t.strictSame(await withStatus('open'), [0, 1, 2, 4])
    t.strictSame(await withStatus('open', 'desc'), [4, 2, 1, 0])
    stored(await parcels.update(kept[1]!, parcel(1, { dueAtMs: 40, status: 'sent' })))
    stored(await parcels.update(kept[0]!, parcel(0, { dueAtMs: null })))
    await parcels.delete(kept[4]!)
    t.strictSame(await due(100), [3, 1])
    t.strictSame(await withStatus('open'), [0, 2])
    t.strictSame(await withStatus('sent'), [1, 3])
    const above = async (dueAtMs: number, limit = 10): Promise<unknown[]> =>
      valuesOf((await parcels.listBy('due', 'ann', { above: [dueAtMs], limit })).documents).map(
        ({ id }) => id
      )
    t.strictSame(await above(0), [3, 1])
    t.strictSame(await above(20), [1], 'a lower bound is left out')
    t.strictSame(await above(39), [1])
    t.strictSame(await above(40), [])
    const first = await parcels.listBy('status', 'ann', { limit: 3 })
    const rest = await parcels.listBy('status', 'ann', { limit: 3, after: first.next })
    t.strictSame(
      [...valuesOf(first.documents), ...valuesOf(rest.documents)].map(({ id }) => id),
      [0, 2, 1, 3]
    )
    t.equal(rest.next, null)
  })

  t.test('a unique value has one document of its partition at a time', async (t) => {
    const { storage } = await open(t)
    const parcels = new Documents(storage.documents, PARCEL)
    const first = stored(await parcels.insert(parcel('a', { label: 'blue' })))
    t.equal(reasonOf(await parcels.insert(parcel('b', { label: 'blue' }))), 'taken')
    t.equal(await parcels.get('ann', ['b']), null, 'nothing of it was stored')
    t.ok((await parcels.insert(parcel('b', { label: 'blue', owner: 'bob' }))).ok)
    const second = stored(await parcels.insert(parcel('b', { label: 'red' })))
    t.equal(reasonOf(await parcels.update(second, parcel('b', { label: 'blue' }))), 'taken')
    t.strictSame(seen(await parcels.findBy('label', 'ann', ['blue'])), seen(first))
    const renamed = stored(await parcels.update(first, parcel('a', { label: 'green' })))
    t.equal(await parcels.findBy('label', 'ann', ['blue']), null)
    t.ok((await parcels.update(second, parcel('b', { label: 'blue' }))).ok, 'it is free')
    t.equal(await parcels.delete(renamed), true)
    t.ok((await parcels.insert(parcel('c', { label: 'green' }))).ok)
    const both = await Promise.all(['x', 'y'].map((id) => parcels.insert(parcel(id, { label: 'white' }))))
    t.strictSame(both.map(reasonOf).toSorted(), ['taken', null].toSorted(), 'of two at once one is first')
  })

  t.test('changes that are made at once come one after another, and none is lost', async (t) => {
    const { storage } = await open(t)
    const parcels = new Documents(storage.documents, PARCEL)
    stored(await parcels.insert(parcel('a', { weight: 0n })))
    const before = await parcels.get('ann', ['a'])
    const add = () => parcels.change(before!, ({ weight }) => parcel('a', { weight: weight + 1n }))
    for (const outcome of await Promise.all(Array.from({ length: 12 }, add))) stored(outcome)
    t.equal((await parcels.get('ann', ['a']))!.value.weight, 12n)
    const same = await parcels.change((await parcels.get('ann', ['a']))!, (value) => value)
    t.strictSame(seen(stored(same)), seen(await parcels.get('ann', ['a'])), 'no change is no write')
    t.equal(await parcels.delete(stored(same)), true)
    t.equal(reasonOf(await parcels.change(before!, () => parcel('a'))), 'changed', 'it is gone')
    const inserted = await Promise.all(Array.from({ length: 5 }, () => parcels.insert(parcel('b'))))
    t.equal(inserted.filter(({ ok }) => ok).length, 1)
  })

  t.test('a hot value counts by its token, whoever writes last', async (t) => {
    const under = await open(t)
    const parcels = new Documents(under.storage.documents, PARCEL)
    const [one, two] = [stored(await parcels.insert(parcel('a'))), stored(await parcels.insert(parcel('b')))]
    t.strictSame(await parcels.hot([one, two]), [null, null])
    await parcels.putHot(one, 7, { position: 1 })
    await Promise.all([2, 3, 4].map((position) => parcels.putHot(one, 7, { position })))
    t.strictSame(await parcels.hot([two, one]), [null, { position: 4 }], 'the last call of a token')
    await parcels.putHot(one, 8, { position: 3 })
    await parcels.putHot(one, 7, { position: 99 })
    t.strictSame(await parcels.hot([one]), [{ position: 3 }], 'a lower token is that of a lost lease')
    const updated = stored(await parcels.update(one, parcel('a', { note: 'new' })))
    t.strictSame(await parcels.hot([updated]), [{ position: 3 }], 'an update leaves it as it is')
    await parcels.putHot(one, 8, { position: 5 })
    const again = new Documents((await under.reopen()).documents, PARCEL)
    t.strictSame(await again.hot([updated]), [{ position: 5 }])
    t.equal(await again.delete(updated), true)
    await again.putHot(updated, 9, { position: 6 })
    const next = stored(await again.insert(parcel('a')))
    t.strictSame(await again.hot([next]), [null], 'another document of the same key has none')
    await again.putHot(updated, 10, { position: 7 })
    t.strictSame(await again.hot([next]), [null])
  })

  t.test('a fence shows its token, and has the value of a lesser one until it gets its own', async (t) => {
    const under = await open(t)
    const parcels = new Documents(under.storage.documents, PARCEL)
    const one = stored(await parcels.insert(parcel('a')))
    const seen = async (): Promise<unknown> => (await parcels.fencedHot([one]))[0]
    t.strictSame(await seen(), { token: 0, hot: null })
    t.strictSame(await parcels.fenceHot(one, 6), { token: 6, hot: null })
    await parcels.putHot(one, 5, { position: 97 })
    t.strictSame(await seen(), { token: 6, hot: null }, 'also where it found no value')
    await parcels.putHot(one, 7, { position: 1 })
    for (const token of [8, 9])
      t.strictSame(await parcels.fenceHot(one, token), { token, hot: { position: 1 } })
    await parcels.putHot(one, 7, { position: 98 })
    t.strictSame(
      await seen(),
      { token: 9, hot: { position: 1 } },
      'a lesser token writes nothing that is read'
    )
    await parcels.putHot(one, 9, { position: 2 })
    for (const token of [9, 8])
      t.strictSame(await parcels.fenceHot(one, token), { token: 9, hot: { position: 2 } })
    t.strictSame(await seen(), { token: 9, hot: { position: 2 } }, 'a fence takes no value away')
    await Promise.all([parcels.fenceHot(one, 11), parcels.putHot(one, 11, { position: 3 })])
    t.strictSame(await seen(), { token: 11, hot: { position: 3 } })
    await parcels.putHot(one, 10, { position: 99 })
    const again = new Documents((await under.reopen()).documents, PARCEL)
    t.strictSame(await again.fencedHot([one]), [{ token: 11, hot: { position: 3 } }])
  })

  t.test('a value that cannot be stored is refused by its field, and a larger one by its size', async (t) => {
    const { storage } = await open(t)
    const parcels = new Documents(storage.documents, PARCEL)
    const wrong = { ...parcel('a'), label: 'x'.repeat(101) }
    await t.rejects(parcels.insert(wrong), /parcel cannot be stored.*label/s)
    const fits = parcel('a', { note: 'x'.repeat(DOCUMENT_BYTES_MAX - 300), dueAtMs: 1, label: 'big' })
    const first = stored(await parcels.insert(fits))
    stored(await parcels.update(first, { ...fits, label: 'bigger', dueAtMs: 2, status: 'sent' }))
    t.equal((await parcels.get('ann', ['a']))!.value.note, fits.note)
    const large = parcel('b', { note: 'x'.repeat(DOCUMENT_BYTES_MAX) })
    await t.rejects(parcels.insert(large), /parcel of \d+ bytes is larger/)
    await t.rejects(parcels.insert(parcel('\ud800')), RangeError)
    await t.rejects(parcels.insert(parcel('x'.repeat(2_000))), /key has \d+ bytes/)
    const moved = parcels.update(first, { ...fits, owner: 'bob' })
    await t.rejects(moved, /must not change its partition or key/)
  })

  t.test('documents are there after the store is opened again', async (t) => {
    const under = await open(t)
    const parcels = new Documents(under.storage.documents, PARCEL)
    for (let id = 0; id < 30; id++) stored(await parcels.insert(parcel(id, { dueAtMs: 100 - id })))
    const before = await parcels.list('ann', { limit: 100 })
    const again = new Documents((await under.reopen()).documents, PARCEL)
    t.strictSame((await again.list('ann', { limit: 100 })).documents.map(seen), before.documents.map(seen))
    t.equal((await again.due('due', 'ann', 100, 100)).length, 30)
  })
}
