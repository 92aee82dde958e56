/**
 * A process that commits the first blocks of a series with some API keys, tenants, documents and gaps, amends some blocks
 * and forgets some kept ones. Each run starts from the beginning:
 *
 *     node crash-child.ts DIRECTORY BLOCKS [POINT NTH]
 *
 * The process kills itself when it reaches the crash point for the n-th time, after naming it on standard output. It prints
 * a line for each block, and `done` at the end.
 */
import { writeSync } from 'node:fs'
import { argv } from 'node:process'
import type { CrashPoint } from '../../storage/crash-points.ts'
import { Documents } from '../../storage/documents.ts'
import { openEmbeddedStorage } from '../../storage/embedded/store.ts'
import type { SlotRow } from '../../src/market/rows.ts'
import { differenceBetween } from '../../storage/test/difference.ts'
import { StorageModel } from '../../storage/test/model.ts'
import { putKey, putTenant, sampleKey, sampleTenant } from '../../storage/test/sample-access.ts'
import { sampleBlock } from '../../storage/test/sample-blocks.ts'
import { slotAt } from '../../storage/test/sample-addresses.ts'
import { PARCEL, parcel } from '../../storage/test/sample-documents.ts'
import { sampleGap } from '../../storage/test/sample-gap.ts'
import { sampleKept } from '../../storage/test/sample-kept.ts'

const SEED = 77

const [, , directory, blocks, crashAt, nth] = argv
/** Synchronous, so that a line is written before the process dies. */
const say = (line: string): number => writeSync(1, `${line}\n`)
let reached = 0

function reach(point: CrashPoint): void {
  if (point !== crashAt || ++reached !== Number(nth)) return
  say(`killed at ${point}`)
  process.kill(process.pid, 'SIGKILL')
}

/** Writes an amendment that may be repeated at any later head. */
async function touchSlot(slot: SlotRow): Promise<void> {
  const model = new StorageModel()
  const nothing = differenceBetween(model, model)
  const touched = { ...slot, receivedAtMs: slot.receivedAtMs + 1 }
  const head = await storage.blocks.head()
  await storage.history.amend(
    {
      ...nothing,
      head: head?.slot === slot.slot ? touched : head,
      slots: { put: [touched], remove: [] },
      totals: await storage.totals.get()
    },
    { put: [], remove: [] }
  )
}

const storage = await openEmbeddedStorage({ directory: directory!, reached: reach })
const parcels = new Documents(storage.documents, PARCEL)
for (let index = 0; index < Number(blocks); index++) {
  await storage.blocks.commit(sampleBlock(SEED, index), index % 8 === 0 ? sampleKept(index) : undefined)
  if (index % 8 === 0) await touchSlot(sampleBlock(SEED, index).slot)
  if (index % 8 === 1) await parcels.insert(parcel(index, { dueAtMs: index, label: String(index) }))
  if (index % 8 === 2) await storage.history.forget(slotAt(index))
  if (index % 8 === 0) await putKey(storage, sampleKey(index))
  if (index % 8 === 4) await putTenant(storage, sampleTenant(index))
  if (index % 8 === 6) await storage.coverage.addGap(sampleGap(index))
  say(`block ${index}`)
}
await storage.close()
say('done')
