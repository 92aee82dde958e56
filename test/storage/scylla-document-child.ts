/**
 * A process that changes documents without end, each with another unique value and due time, and prints a line for every
 * answered change:
 *
 *     node scylla-document-child.ts OPTIONS
 */
import { writeSync } from 'node:fs'
import { argv } from 'node:process'
import { Documents } from '../../storage/documents.ts'
import { openScyllaStorage, type ScyllaStorageOptions } from '../../storage/scylla/store.ts'
import { PARCEL, parcel } from '../../storage/test/sample-documents.ts'
import { START_WAIT } from './start-wait.ts'

/** Documents that are changed in turn. */
const DOCUMENTS = 5

const storage = await openScyllaStorage({
  ...(JSON.parse(argv[2]!) as ScyllaStorageOptions),
  startWait: START_WAIT
})
const parcels = new Documents(storage.documents, PARCEL)
for (let n = 0; ; n++) {
  const id = n % DOCUMENTS
  const before = await parcels.get('ann', [id])
  const weight = (before?.value.weight ?? 0n) + 1n
  const value = parcel(id, { weight, dueAtMs: Number(weight), label: `${id} ${weight}` })
  // Some are deleted, and inserted again by the next change.
  if (before !== null && weight % 7n === 0n) await parcels.delete(before)
  const outcome = await (before === null || weight % 7n === 0n
    ? parcels.insert(value)
    : parcels.update(before, value))
  if (!outcome.ok) throw new Error(`refused: ${outcome.reason}`)
  writeSync(1, `${id} ${weight}\n`)
}
