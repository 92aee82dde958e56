import { copyFileSync, cpSync, readdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import type { Test } from 'tap'
import { foldCandlesAgain } from '../../../src/store/verify/candle-repair.ts'
import type { CrashPoint } from '../../../storage/crash-points.ts'
import { reportDamage } from '../../../storage/embedded/repair/report.ts'
import { repairStore, type RepairOutcome } from '../../../storage/embedded/repair/repair.ts'
import { openEmbeddedStorage } from '../../../storage/embedded/store.ts'
import { filesOf, settle, zero } from '../../storage/damaged-store.ts'
import { isKeptBlock, recordsOf as storedRecords } from '../../storage/embedded-directory.ts'
import * as late from './late-blocks.ts'
import { gaps, type Course } from './late-blocks.ts'
import { marketBlocks } from './market-blocks.ts'

/** Places lie closer than the engine's blocks, of each of which any damage loses all records. */
const STEP = 8_000
const BYTES = 100
const KILLS_MAX = 6

const blocks = await marketBlocks('records that are lost', 150)
const directory = t.testdir()
const sound = join(directory, 'sound')
const first = await late.run(() => openEmbeddedStorage({ directory: sound }), { steps: blocks, node: blocks })
await late.closed(first, blocks.at(-1)!)
await first.end()
await settle(sound)
const undamaged = await recordsOf(sound)
const tables = filesOf(sound, /\.ldb$/).map((file) => ({ file, size: statSync(join(sound, file)).size }))
const size = tables.reduce((sum, table) => sum + table.size, 0)

interface Place {
  readonly file: string
  readonly offset: number
}

/** The place of a byte of all tables behind each other. */
function placeAt(offset: number): Place {
  let left = offset
  for (const { file, size } of tables) {
    if (left < size) return { file, offset: left }
    left -= size
  }
  throw new RangeError('there is no such byte')
}

/** A place of the tables for each set of kinds whose records the damage of a place can lose. */
async function placesByKinds(): Promise<Map<string, Place>> {
  const search = join(directory, 'search')
  cpSync(sound, search, { recursive: true })
  const places = new Map<string, Place>()
  for (let offset = STEP / 2; offset < size; offset += STEP) {
    const place = placeAt(offset)
    zero(join(search, place.file), place.offset, BYTES)
    const { damage = [] } = (await reportDamage(search)) ?? {}
    const kinds = damage.flatMap(({ mayHaveHeld }) => mayHaveHeld.map(({ kind }) => kind)).join(', ')
    if (kinds !== '' && !places.has(kinds)) places.set(kinds, place)
    copyFileSync(join(sound, place.file), join(search, place.file))
  }
  rmSync(search, { recursive: true })
  return places
}

const places = await placesByKinds()
/** Damage that loses only pool events, and damage whose losses follow from the rows of all blocks. */
const poolEvents = placeWith(/^pool events$/)
const pairs = placeWith(/^(newest candles, )?pairs, pools(, the list of pools)?$/)

function placeWith(pattern: RegExp): Place {
  const found = [...places].find(([kinds]) => pattern.test(kinds))
  if (found === undefined) throw new Error(`no damage loses ${pattern} of ${[...places.keys()].join('; ')}`)
  return found[1]
}

/** Every record of a closed store by its key, except kept blocks. */
function recordsOf(directory: string): Promise<Map<string, string>> {
  return storedRecords(directory, isKeptBlock)
}

/** Letters and keys, in hexadecimal, whose records differ from those of the undamaged store. */
async function differences(directory: string): Promise<string[]> {
  const records = await recordsOf(directory)
  return [...new Set([...undamaged.keys(), ...records.keys()])]
    .filter((key) => records.get(key) !== undamaged.get(key))
    .map((key) => `${key[0]} ${Buffer.from(key, 'latin1').toString('hex').slice(2, 40)}`)
}

/** Makes a repaired copy of the store that was damaged in some places. */
async function repaired(
  copy: string,
  places: readonly Place[]
): Promise<Exclude<RepairOutcome, { kind: 'sound' }>> {
  cpSync(sound, copy, { recursive: true })
  for (const { file, offset } of places) zero(join(copy, file), offset, BYTES)
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

const serve = (directory: string, course: Partial<Course> = {}): ReturnType<typeof late.run> =>
  late.run(() => openEmbeddedStorage({ directory }), { steps: [], node: blocks, ...course })

async function assertAsUndamaged(t: Test, copy: string, name: string): Promise<void> {
  // A few suffice; comparing a long list takes minutes.
  t.strictSame(
    (await differences(copy)).slice(0, 9),
    [],
    `${name}: all ${undamaged.size} records are as they were`
  )
}

t.test('a store that was damaged anywhere is as it was once lost blocks are read again', async (t) => {
  const counts = { asked: 0, startedOver: 0 }
  for (const [kinds, place] of places) {
    const copy = join(directory, 'copy')
    const outcome = await repaired(copy, [place])
    if (outcome.startedOver) counts.startedOver++
    else {
      const service = await serve(copy)
      t.strictSame(await gaps(service.storage), [], `${kinds}: no gap is left`)
      await service.end()
      await assertAsUndamaged(t, copy, kinds)
      counts.asked += service.asked.length
    }
    rmSync(copy, { recursive: true })
  }
  t.ok(places.size > 8 && counts.startedOver < 4 && counts.asked > 0, JSON.stringify(counts))
})

t.test('records that follow from rows are made again without a node', async (t) => {
  const copy = join(directory, 'no-node')
  await repaired(copy, [pairs])
  const service = await serve(copy, { node: [] })
  t.strictSame(service.asked, [], 'no block is asked for')
  await service.end()
  await assertAsUndamaged(t, copy, 'without a node')
})

t.test('damage in several places is made good at once', async (t) => {
  const copy = join(directory, 'several')
  const outcome = await repaired(copy, [pairs, poolEvents, placeWith(/^trades by mint$/)])
  t.match(outcome, { startedOver: false, gaps: [{ reason: 'damaged' }] })
  const service = await serve(copy)
  t.strictSame(await gaps(service.storage), [])
  await service.end()
  await assertAsUndamaged(t, copy, 'several places')
})

t.test('a block that no node has stays a gap with its reason, and all else is as it was', async (t) => {
  const copy = join(directory, 'gone')
  await repaired(copy, [poolEvents])
  let gone: number | null = null
  const service = await serve(copy, { has: (slot) => slot !== (gone ??= slot) })
  const left = await gaps(service.storage)
  t.match(left, [{ from: gone!, to: gone!, reason: 'damaged', detail: /no node still has it/ }])
  t.ok(service.logged.some((line) => line.startsWith(`slots ${gone} to ${gone} stay damaged`)))
  t.ok(new Set(service.asked).size > 1, 'the others are asked for')
  await service.end()
  const letters = (await differences(copy)).map((key) => key[0])
  t.strictSame([...new Set(letters)].sort(), ['e', 'u'], 'only pool events are missing, and the gap says so')
  const again = await serve(copy)
  t.strictSame(await gaps(again.storage), left, 'the next start changes nothing')
  t.strictSame(again.asked, [])
  await again.end()
})

t.test('a gap names all slots whose records depend on a block that is gone', async (t) => {
  const copy = join(directory, 'in-doubt')
  await repaired(copy, [pairs, poolEvents])
  let gone: number | null = null
  const service = await serve(copy, { has: (slot) => slot !== (gone ??= slot) })
  const detail = /pairs, pools.* were lost; they are rebuilt without 1 blocks/
  t.match(await gaps(service.storage), [{ from: gone!, to: blocks.at(-1)!.slot, reason: 'damaged', detail }])
  await service.end()
})

t.test('a block of another chain is not taken for the lost one', async (t) => {
  const copy = join(directory, 'other')
  await repaired(copy, [poolEvents])
  const service = await serve(copy, { node: blocks.map((block) => ({ ...block, blockhash: 'another' })) })
  const left = await gaps(service.storage)
  t.ok(
    left.length > 0 && left.every(({ detail }) => /the nodes have another block in that slot/.test(detail))
  )
  await service.end()
})

t.test('a process that is killed while it makes records again begins again', async (t) => {
  const copy = join(directory, 'killed')
  await repaired(copy, [pairs, poolEvents])
  /** Copies of the files, as a process leaves them that is killed at a point. */
  const kills = new Map<string, string>()
  const reached = (point: CrashPoint): void => {
    if (kills.has(point) || kills.size === KILLS_MAX || !/^(amend|coverage)/.test(point)) return
    kills.set(point, join(directory, point))
    cpSync(copy, join(directory, point), { recursive: true })
  }
  const service = await late.run(() => openEmbeddedStorage({ directory: copy, reached }), {
    steps: [],
    node: blocks
  })
  await service.end()
  t.strictSame([...kills.keys()], ['amend.staged', 'amend.writing', 'amend.durable', 'coverage.durable'])
  for (const [name, place] of kills) {
    const again = await serve(place)
    t.strictSame(await gaps(again.storage), [], `${name}: no gap is left`)
    await again.end()
    await assertAsUndamaged(t, place, name)
  }
  const beside = readdirSync(directory).filter((name) => /folding|sorting|repairing/.test(name))
  t.strictSame(beside, [], 'nothing is left beside the stores')
})
