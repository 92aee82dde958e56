import type { Test } from 'tap'
import { Documents } from '../../documents.ts'
import { PARCEL, parcel, valuesOf } from '../sample-documents.ts'
import type { LostAnswers, OpenForTest, StorageUnderTest } from '../under-test.ts'
import { seen, stored } from './documents.ts'
import { ERRORS } from '../../../src/kernel/errors.ts'

/** Opens documents whose store loses answers. */
async function losing(under: StorageUnderTest, lost: LostAnswers) {
  const { documents, tried } = await under.losing!(lost)
  return { parcels: new Documents(documents, PARCEL), tried }
}

/** Documents of a store that several processes have open, and that may lose answers. */
export async function testDocumentProcesses(t: Test, open: OpenForTest): Promise<void> {
  t.test('a change whose answer is lost is made once, and says truly what became of it', async (t) => {
    const under = await open(t)
    if (under.losing === undefined) return t.pass('this adapter is in the same process: no answer is lost')
    const parcels = new Documents(under.storage.documents, PARCEL)
    const done = await losing(under, { done: [0] })
    const first = stored(await done.parcels.insert(parcel('a', { label: 'one' })))
    t.equal(done.tried(), 1, 'it was done')
    t.strictSame(seen(await parcels.get('ann', ['a'])), seen(first))
    const undone = await losing(under, { undone: [0, 1] })
    const second = stored(await undone.parcels.update(first, parcel('a', { label: 'two', note: 'x' })))
    t.equal(undone.tried(), 3, 'it was not, and is sent again')
    const late = await losing(under, { late: [0] })
    const third = stored(await late.parcels.update(second, parcel('a', { label: 'three' })))
    t.equal(late.tried(), 2, 'it was done after all, before it was sent again')
    t.strictSame(seen(await parcels.findBy('label', 'ann', ['three'])), seen(third))
    for (const label of ['one', 'two']) t.equal(await parcels.findBy('label', 'ann', [label]), null)
    const exists = await losing(under, { done: [0] })
    t.strictSame(await exists.parcels.insert(parcel('a')), { ok: false, reason: 'exists' })
    t.strictSame(await exists.parcels.update(second, parcel('a')), { ok: false, reason: 'changed' })
    t.strictSame(await exists.parcels.insert(parcel('b', { label: 'three' })), { ok: false, reason: 'taken' })
    const deleting = await losing(under, { done: [0] })
    t.equal(await deleting.parcels.delete(third), true)
    t.equal(await parcels.get('ann', ['a']), null)
    const never = await losing(under, { undone: Array.from({ length: 99 }, (_, n) => n) })
    await t.rejects(never.parcels.insert(parcel('c')), {
      name: 'ServiceError',
      kind: ERRORS.STORAGE_UNAVAILABLE
    })
    t.equal(await parcels.get('ann', ['c']), null)
  })

  t.test('a change whose answer is lost counts, though others have changed the document since', async (t) => {
    const under = await open(t)
    if (under.losing === undefined) return t.pass('this adapter is in the same process: no answer is lost')
    const parcels = new Documents(under.storage.documents, PARCEL)
    const first = stored(await parcels.insert(parcel('a', { weight: 0n })))
    const { parcels: overtaken } = await losing(under, {
      done: [0],
      async afterDone() {
        const now = await parcels.get('ann', ['a'])
        stored(await parcels.update(now!, parcel('a', { weight: now!.value.weight + 10n })))
      }
    })
    stored(await overtaken.update(first, parcel('a', { weight: 1n })))
    t.equal((await parcels.get('ann', ['a']))!.value.weight, 11n, 'both are in it')
  })

  t.test('processes that change documents at once agree on who was first', async (t) => {
    const under = await open(t)
    if (under.join === undefined) return t.pass('one process alone can have this store open')
    const stores = [under.storage, await under.join()].map(
      ({ documents }) => new Documents(documents, PARCEL)
    )
    for (let n = 0; n < 8; n++) {
      const outcomes = await Promise.all(
        stores.map((parcels, i) => parcels.insert(parcel(n, { weight: BigInt(i), label: `of ${n}` })))
      )
      t.equal(outcomes.filter(({ ok }) => ok).length, 1, 'of two inserted under one key one is')
      const read = await stores[n % 2]!.get('ann', [n])
      t.equal(read!.value.weight, BigInt(outcomes.findIndex(({ ok }) => ok)), 'and it is stored')
      const labels = await Promise.all(
        stores.map((parcels, i) => parcels.insert(parcel(`${n} ${i}`, { label: `both ${n}` })))
      )
      t.equal(labels.filter(({ ok }) => ok).length, 1, 'of two with one unique value one is')
    }
    const first = (await stores[0]!.get('ann', [0]))!
    const { weight } = first.value
    const add = async (parcels: (typeof stores)[0]): Promise<void> => {
      stored(await parcels.change(first, (value) => parcel(0, { weight: value.weight + 1n, dueAtMs: 5 })))
    }
    await Promise.all(Array.from({ length: 10 }, (_, i) => add(stores[i % 2]!)))
    t.equal((await stores[0]!.get('ann', [0]))!.value.weight, weight + 10n, 'no update is lost')
    for (const parcels of stores)
      t.strictSame(valuesOf(await parcels.due('due', 'ann', 5, 9)), [
        parcel(0, { weight: weight + 10n, dueAtMs: 5 })
      ])
  })

  t.test('closing waits for the changes that were accepted, and refuses later ones', async (t) => {
    const under = await open(t)
    const parcels = new Documents(under.storage.documents, PARCEL)
    const first = stored(await parcels.insert(parcel(0)))
    const accepted = [1, 2, 3].map((id) => parcels.insert(parcel(id)))
    const hot = [1, 2].map((position) => parcels.putHot(first, 1, { position }))
    const closing = under.storage.close()
    await t.rejects(parcels.insert(parcel(4)), { name: 'ServiceError', kind: ERRORS.STORAGE_UNAVAILABLE })
    await t.rejects(parcels.putHot(first, 1, { position: 3 }), {
      name: 'ServiceError',
      kind: ERRORS.STORAGE_UNAVAILABLE
    })
    t.strictSame(
      (await Promise.all(accepted)).map(({ ok }) => ok),
      [true, true, true]
    )
    await Promise.all([closing, ...hot])
    const again = new Documents((await under.reopen()).documents, PARCEL)
    t.equal((await again.list('ann', { limit: 9 })).documents.length, 4)
    t.strictSame(await again.hot([first]), [{ position: 2 }])
  })
}
