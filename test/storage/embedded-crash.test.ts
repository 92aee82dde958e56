import assert from 'node:assert/strict'
import { join } from 'node:path'
import t from 'tap'
import { CRASH_POINTS } from '../../storage/crash-points.ts'
import type { CrashPoint } from '../../storage/crash-points.ts'
import { Documents } from '../../storage/documents.ts'
import { openEmbeddedStorage } from '../../storage/embedded/store.ts'
import { Choices } from '../../storage/test/choices.ts'
import { assertSame } from '../../storage/test/conformance/agreement.ts'
import { StorageModel } from '../../storage/test/model.ts'
import { storedKeys, sampleKey, sampleTenant, storedTenants } from '../../storage/test/sample-access.ts'
import { sampleBlock } from '../../storage/test/sample-blocks.ts'
import { PARCEL, parcel, valuesOf } from '../../storage/test/sample-documents.ts'
import { sampleGap } from '../../storage/test/sample-gap.ts'
import { childLife, type KillAfter } from '../child-life.ts'
import { IS_LONG } from '../random-runs.ts'
import { rawContents } from './embedded-directory.ts'

const BLOCKS = 24
const SEED = 77
const RANDOM_KILLS = IS_LONG ? 15 : 3
/** Blocks of eight after which the child stores a key, a parcel and a tenant. */
const DOCUMENTS_AT = [0, 1, 4]
const directory = t.testdir()
/** Crash points that the child reaches. The horizon never moves in it: embedded-retention.test.ts has that point. */
type ChildPoint = Exclude<CrashPoint, 'horizon.durable'>
const points = (Object.keys(CRASH_POINTS) as CrashPoint[]).filter(
  (point): point is ChildPoint => point !== 'horizon.durable'
)

const CHILD = join(import.meta.dirname, 'crash-child.ts')

/** Runs the child until it ends. `crash` has it kill itself, `killAfter` kills it. */
const live = (
  place: string,
  options: { crash?: readonly [CrashPoint, number]; killAfter?: KillAfter } = {}
) => childLife(CHILD, [place, BLOCKS, ...(options.crash ?? [])], options.killAfter)

const undisturbed = join(directory, 'undisturbed')
const model = new StorageModel()
for (let index = 0; index < BLOCKS; index++) model.commit(sampleBlock(SEED, index))
// The child amends some of them.
for (let index = 0; index < BLOCKS; index += 8) {
  const slot = model.slots[index]!
  model.slots[index] = { ...slot, receivedAtMs: slot.receivedAtMs + 1 }
}
t.strictSame((await live(undisturbed)).lines.at(-1), 'done')
const expected = await rawContents(undisturbed)

/** Asserts that every row, key and tenant through the port, and every byte beneath, are those of the undisturbed run. */
async function assertUndisturbed(place: string): Promise<void> {
  assert.deepEqual(await rawContents(place), expected)
  const storage = await openEmbeddedStorage({ directory: place })
  try {
    await assertSame(storage, model)
    const keys = Array.from({ length: BLOCKS / 8 }, (_, i) => sampleKey(i * 8))
    assert.deepEqual(await storedKeys(storage), keys)
    const tenants = Array.from({ length: BLOCKS / 8 }, (_, i) => sampleTenant(i * 8 + 4))
    assert.deepEqual(await storedTenants(storage), tenants)
    const parcels = new Documents(storage.documents, PARCEL)
    const documents = await parcels.due('due', 'ann', BLOCKS, BLOCKS)
    const numbers = Array.from({ length: BLOCKS / 8 }, (_, i) => i * 8 + 1)
    assert.deepEqual(
      valuesOf(documents),
      numbers.map((number) => parcel(number, { dueAtMs: number, label: String(number) }))
    )
    const gaps = Array.from({ length: BLOCKS / 8 }, (_, i) => sampleGap(i * 8 + 6))
    assert.deepEqual(await storage.coverage.gaps({ after: null, limit: 1_000 }), gaps)
  } finally {
    await storage.close()
  }
}

/** Returns the index of the store's last block in the series; -1 if it is empty. */
async function lastBlock(place: string): Promise<number> {
  const storage = await openEmbeddedStorage({ directory: place })
  const head = await storage.blocks.head()
  await storage.close()
  return head === null ? -1 : model.slots.findIndex(({ slot }) => slot === head.slot)
}

/** Returns the possible heads after dying at the n-th passing of a point, as numbers of committed blocks. */
function headsAfter(point: ChildPoint, nth: number): readonly number[] {
  switch (point) {
    case 'open.created':
    case 'open.ready':
      return [-1]
    case 'commit.staged':
      return [nth - 2]
    case 'commit.writing':
      return [nth - 2, nth - 1]
    case 'commit.durable':
    case 'commit.published':
      return [nth - 1]
    case 'coverage.durable':
      return [(nth - 1) * 8 + 6]
    case 'documents.staged':
    case 'documents.writing':
    case 'documents.durable':
      return [DOCUMENTS_AT[(nth - 1) % 3]! + Math.floor((nth - 1) / 3) * 8]
    case 'amend.staged':
    case 'amend.writing':
    case 'amend.durable':
      return [(nth - 1) * 8]
    case 'kept.forgotten':
      return [(nth - 1) * 8 + 2]
    case 'close.drained':
      return [BLOCKS - 1]
  }
}

for (const point of points)
  t.test(`killed at ${point}: ${CRASH_POINTS[point]}`, async (t) => {
    // Points at open and close are passed once a run; the others are tested in the middle of the series.
    const nth = /^(open|close)/.test(point) ? 1 : 3
    const place = join(directory, point)
    const { lines, signal } = await live(place, { crash: [point, nth] })
    t.equal(signal, 'SIGKILL')
    t.equal(lines.at(-1), `killed at ${point}`, 'the point fired')
    const head = await lastBlock(place)
    t.ok(headsAfter(point, nth).includes(head), `block ${head} is the last`)
    t.equal((await live(place)).lines.at(-1), 'done')
    await assertUndisturbed(place)
  })

t.test(
  `killed at ${RANDOM_KILLS} random instants and restarted each time, the store ends as if undisturbed`,
  async (t) => {
    const place = join(directory, 'random')
    const choices = new Choices(4_711)
    let kills = 0
    while (kills < RANDOM_KILLS) {
      // Stored blocks pass in no time: the kill is set among the first ones that are not stored.
      const stored = Math.max(0, (await lastBlock(place)) + 1)
      const lines = Math.min(BLOCKS - 1, stored + choices.below(3)) || 1
      const { signal } = await live(place, { killAfter: { lines, ms: choices.fraction() * 4 } })
      if (signal !== 'SIGKILL') break
      kills++
    }
    t.ok(kills >= (RANDOM_KILLS * 2) / 3, `${kills} kills`)
    t.equal((await live(place)).lines.at(-1), 'done')
    await assertUndisturbed(place)
  }
)
