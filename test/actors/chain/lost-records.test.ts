import { cpSync, readdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import type { Test } from 'tap'
import { foldCandlesAgain } from '../../../src/verify/candle-repair.ts'
import { repairStore, type RepairOutcome } from '../../../storage/embedded/repair/repair.ts'
import type { CrashPoint } from '../../../storage/crash-points.ts'
import { openEmbeddedStorage } from '../../../storage/embedded/store.ts'
import { filesOf, settle, zero } from '../../storage/damaged-store.ts'
import { withRawStore } from '../../storage/embedded-directory.ts'
import * as late from './late-blocks.ts'
import { gaps, type Course } from './late-blocks.ts'
import { marketBlocks } from './market-blocks.ts'

t.setTimeout(300_000)

/** Evenly over the tables; each takes a second or two. */
const PLACES = 12
const KILLS_MAX = 16

const blocks = await marketBlocks('records that are lost', 120)
const directory = t.testdir()
const sound = join(directory, 'sound')
const first = await late.run(() => openEmbeddedStorage({ directory: sound }), { steps: blocks, node: blocks })
await late.closed(first, blocks.at(-1)!)
await first.end()
await settle(sound)
const undamaged = await recordsOf(sound)

/** Every record of a closed store but those of kept blocks, by its key. */
function recordsOf(directory: string): Promise<Map<string, string>> {
  return withRawStore(directory, async (raw) => {
    const records = new Map<string, string>()
    for await (const [key, value] of raw.iterator())
      if (key[0] !== 'd'.charCodeAt(0)) records.set(key.toString('latin1'), value.toString('latin1'))
    return records
  })
}

/** Keys, in hexadecimal, whose records are others than in the undamaged store. */
async function differences(directory: string): Promise<string[]> {
  const records = await recordsOf(directory)
  return [...new Set([...undamaged.keys(), ...records.keys()])]
    .filter((key) => records.get(key) !== undamaged.get(key))
    .map((key) => `${key[0]} ${Buffer.from(key, 'latin1').toString('hex').slice(2, 40)}`)
}

interface Place {
  readonly file: string
  readonly offset: number
  readonly length?: number
}

/** A repaired copy of the store that was damaged in some places. */
async function repaired(
  copy: string,
  places: readonly Place[]
): Promise<Exclude<RepairOutcome, { kind: 'sound' }>> {
  cpSync(sound, copy, { recursive: true })
  for (const { file, offset, length } of places) zero(join(copy, file), offset, length)
  const outcome = await repairStore({
    directory: copy,
    startOver: 'never',
    nowMs: 0,
    retentionSeconds: null,
    foldCandles: foldCandlesAgain
  })
  if (outcome.kind === 'sound') throw new Error('the damage is not found')
  rmSync(outcome.aside, { recursive: true })
  return outcome
}

const serve = (directory: string, course: Partial<Course> = {}) =>
  late.run(() => openEmbeddedStorage({ directory }), { steps: [], node: blocks, ...course })

const tables = filesOf(sound, /\.ldb$/).map((file) => ({ file, size: statSync(join(sound, file)).size }))
const size = tables.reduce((sum, table) => sum + table.size, 0)

/** The place of a byte of all tables behind each other. */
function placeAt(offset: number): Place {
  let left = offset
  for (const { file, size } of tables) {
    if (left < size) return { file, offset: left }
    left -= size
  }
  throw new RangeError('there is no such byte')
}

async function assertAsUndamaged(t: Test, copy: string, name: string): Promise<void> {
  t.strictSame(
    await differences(copy),
    [],
    `${name}: all ${undamaged.size} records are as if nothing had been damaged`
  )
}

t.test(
  'a store that was damaged at any place is as it was once its lost blocks are read again',
  async (t) => {
    const counts = { whole: 0, lost: 0, asked: 0 }
    for (let place = 0; place < PLACES; place++) {
      const at = placeAt(Math.floor((size * (place + 0.5)) / PLACES))
      const name = `zeros from byte ${at.offset} of ${at.file} on`
      const copy = join(directory, 'copy')
      const outcome = await repaired(copy, [at])
      if (!outcome.startedOver) {
        const service = await serve(copy)
        t.strictSame(await gaps(service.storage), [], `${name}: no gap is left`)
        await service.end()
        await assertAsUndamaged(t, copy, `${name} (${outcome.losses.map(({ kind }) => kind).join(', ')})`)
        counts[outcome.losses.length === 0 ? 'whole' : 'lost']++
        counts.asked += service.asked.length
      }
      rmSync(copy, { recursive: true })
    }
    t.ok(counts.lost > PLACES / 4 && counts.asked > 0, JSON.stringify(counts))
  }
)

/** A place of some kind of records: where damage loses these and nothing else. */
async function placeOf(kinds: string): Promise<Place> {
  for (let offset = 4_000; offset < size; offset += 8_000) {
    const copy = join(directory, 'search')
    const outcome = await repaired(copy, [placeAt(offset)])
    rmSync(copy, { recursive: true })
    if (!outcome.startedOver && [...new Set(outcome.losses.map(({ kind }) => kind))].join() === kinds)
      return placeAt(offset)
  }
  throw new Error(`no damage loses ${kinds} alone`)
}

t.test('records that follow from rows alone are made again without a node', async (t) => {
  const copy = join(directory, 'no-node')
  await repaired(copy, [await placeOf('hourly activity')])
  const service = await serve(copy, { node: [] })
  t.strictSame(service.asked, [], 'no block is asked for')
  await service.end()
  await assertAsUndamaged(t, copy, 'without a node')
})

t.test('damage in several places is made good at once', async (t) => {
  const copy = join(directory, 'several')
  const places = [await placeOf('hourly activity'), await placeOf('pool events'), await placeOf('tokens')]
  const outcome = await repaired(copy, places)
  t.match(outcome, { startedOver: false, gaps: [{ reason: 'damaged' }] })
  const service = await serve(copy)
  t.strictSame(await gaps(service.storage), [])
  t.equal(service.jumps(), 1, 'who follows hears that what was told has changed')
  await service.end()
  await assertAsUndamaged(t, copy, 'several places')
})

t.test('a block that no node has any more stays a gap with its reason, and all else is as it was', async (t) => {
  const copy = join(directory, 'gone')
  await repaired(copy, [await placeOf('pool events')])
  let gone: number | null = null
  const service = await serve(copy, { has: (slot) => slot !== (gone ??= slot) })
  const left = await gaps(service.storage)
  t.match(left, [{ from: gone!, to: gone!, reason: 'damaged', detail: /no node that was asked has it any more/ }])
  t.ok(service.logged.some((line) => line.startsWith(`slots ${gone} to ${gone} stay damaged`)))
  t.ok(new Set(service.asked).size > 1, 'the others are asked for')
  await service.end()
  const different = await differences(copy)
  t.ok(different.length > 1)
  t.strictSame([...new Set(different.map((key) => key[0]))].sort(), ['e', 'u'], 'pool events, and the gap')
  const again = await serve(copy)
  t.strictSame(await gaps(again.storage), left, 'the next start changes nothing')
  t.strictSame(again.asked, [])
  await again.end()
})

t.test('where a block is gone on which other lost records depend, a gap names all slots from it on', async (t) => {
  const copy = join(directory, 'in-doubt')
  await repaired(copy, [await placeOf('hourly activity'), await placeOf('pool events')])
  let gone: number | null = null
  const service = await serve(copy, { has: (slot) => slot !== (gone ??= slot) })
  t.match(await gaps(service.storage), [
    { from: gone!, to: blocks.at(-1)!.slot, reason: 'damaged', detail: /hourly activity .* made again without 1 blocks/ }
  ])
  await service.end()
})

t.test('a block of another chain is not taken for the lost one', async (t) => {
  const copy = join(directory, 'other')
  await repaired(copy, [await placeOf('pool events')])
  const node = blocks.map((block) => ({ ...block, blockhash: 'another' }))
  const service = await serve(copy, { node })
  const left = await gaps(service.storage)
  t.ok(left.length > 0 && left.every(({ detail }) => /nodes have another block there/.test(detail)))
  await service.end()
})

t.test('a process that is killed while it makes records again begins again', async (t) => {
  const copy = join(directory, 'killed')
  await repaired(copy, [await placeOf('hourly activity'), await placeOf('pool events')])
  // The files as a process leaves them that is killed there.
  const kills = new Map<string, string>()
  const reached = (point: CrashPoint): void => {
    const name = `${point}-${kills.size}`
    if (kills.size >= KILLS_MAX || !/^(amend|coverage)/.test(point)) return
    kills.set(name, join(directory, name))
    cpSync(copy, join(directory, name), { recursive: true })
  }
  const service = await late.run(() => openEmbeddedStorage({ directory: copy, reached }), {
    steps: [],
    node: blocks
  })
  await service.end()
  t.ok([...kills.keys()].some((name) => name.startsWith('coverage.durable')), [...kills.keys()].join(' '))
  for (const [name, place] of kills) {
    const again = await serve(place)
    t.strictSame(await gaps(again.storage), [], `${name}: no gap is left`)
    await again.end()
    await assertAsUndamaged(t, place, name)
  }
  t.strictSame(
    readdirSync(directory).filter((name) => /folding|sorting|repairing/.test(name)),
    [],
    'nothing is left beside the stores'
  )
})
