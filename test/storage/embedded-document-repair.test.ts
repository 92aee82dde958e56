import { cpSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { ALL, API_KEY, TENANT } from '../../storage/access-documents.ts'
import { encodeKey } from '../../storage/codec/document-key.ts'
import { SECTIONS, type Section } from '../../storage/codec/document-record-keys.ts'
import { Documents } from '../../storage/documents.ts'
import { repairStore } from '../../storage/embedded/repair/repair.ts'
import { openEmbeddedStorage } from '../../storage/embedded/store.ts'
import {
  putKey,
  putTenant,
  sampleKey,
  sampleTenant,
  storedKeys,
  storedTenants
} from '../../storage/test/sample-access.ts'
import { sampleBlock } from '../../storage/test/sample-blocks.ts'
import { PARCEL, parcel, TICKET, valuesOf } from '../../storage/test/sample-documents.ts'
import { damageRecords } from './embedded-directory.ts'

const directory = t.testdir()
const sound = join(directory, 'sound')

const storage = await openEmbeddedStorage({ directory: sound })
const parcels = new Documents(storage.documents, PARCEL)
for (let id = 0; id < 20; id++) await parcels.insert(parcel(id, { dueAtMs: 100 - id, label: `label ${id}` }))
await parcels.putHot((await parcels.get('ann', [7]))!, 1, { position: 5 })
await new Documents(storage.documents, TICKET).insert({ owner: 'ann', id: 'a', seat: '1' })
for (const n of [1, 2]) {
  await putTenant(storage, sampleTenant(n))
  await putKey(storage, sampleKey(n))
}
for (let index = 0; index < 5; index++) await storage.blocks.commit(sampleBlock(3, index))
await storage.close()

/** Damages the records of a section of documents, and returns the outcome of the repair. */
async function repairedCopy(name: string, kind: string, partition: string, section: Section) {
  const copy = join(directory, name)
  cpSync(sound, copy, { recursive: true })
  const prefix = Buffer.concat([Buffer.from('D'), encodeKey([kind, partition]), Buffer.of(SECTIONS[section])])
  const damaged = await damageRecords(copy, prefix)
  const outcome = await repairStore({
    directory: copy,
    startOver: 'never',
    nowMs: Date.now(),
    retentionSeconds: null,
    foldCandles: async () => undefined
  })
  if (outcome.kind !== 'repaired') throw new Error('no damage was found')
  return { copy, damaged, losses: outcome.losses }
}

for (const section of ['entry', 'unique'] as const)
  t.test(`a repair makes every lost ${section} of documents again`, async (t) => {
    const { copy, damaged, losses } = await repairedCopy(section, PARCEL.kind, 'ann', section)
    t.ok(damaged >= 20)
    t.strictSame(losses, [], 'nothing is lost')
    const storage = await openEmbeddedStorage({ directory: copy })
    const parcels = new Documents(storage.documents, PARCEL)
    const due = valuesOf(await parcels.due('due', 'ann', 100, 100))
    t.strictSame(
      due.map(({ id }) => id),
      Array.from({ length: 20 }, (_, n) => 19 - n)
    )
    const found = await parcels.findBy('label', 'ann', ['label 7'])
    t.equal(found?.value.id, 7)
    t.strictSame(await parcels.hot([found!]), [{ position: 5 }])
    t.strictSame(await parcels.insert(parcel('x', { label: 'label 3' })), { ok: false, reason: 'taken' })
    t.equal((await storage.blocks.head())?.slot, sampleBlock(3, 4).slot.slot, 'blocks are as they were')
    await storage.close()
  })

t.test('a repair names lost documents, and forgets their entries', async (t) => {
  const { copy, losses } = await repairedCopy('document', PARCEL.kind, 'ann', 'document')
  t.match(losses, [{ kind: 'tenants, API keys and other documents' }])
  const storage = await openEmbeddedStorage({ directory: copy })
  const parcels = new Documents(storage.documents, PARCEL)
  t.strictSame(await parcels.due('due', 'ann', 100, 100), [])
  t.ok((await parcels.insert(parcel('x', { label: 'label 3' }))).ok, 'its unique value is free')
  t.strictSame(await storedKeys(storage), [1, 2].map(sampleKey))
  await storage.close()
})

t.test('a repair makes a lost tenant again, as old as its oldest key', async (t) => {
  const { copy } = await repairedCopy('tenant', TENANT.kind, ALL, 'document')
  const storage = await openEmbeddedStorage({ directory: copy })
  t.strictSame(await storedTenants(storage), [1, 2].map(sampleTenant))
  t.strictSame(await storedKeys(storage), [1, 2].map(sampleKey))
  const found = await new Documents(storage.documents, API_KEY).findBy('hash', ALL, [sampleKey(2).hash])
  t.strictSame(found?.value, sampleKey(2))
  await storage.close()
})
