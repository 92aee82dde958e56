import { setTimeout as sleep } from 'node:timers/promises'
import { ClassicLevel } from 'classic-level'
import { ENGINE } from '../storage/embedded/engine-options.ts'
import type { Level } from '../storage/embedded/level.ts'

/** Capacity of the engine's levels in MiB, in order. Level 0 holds four write buffers when it is written by blocks. */
const LEVELS_MAX = [(4 * ENGINE.writeBufferSize) / 2 ** 20, 10, 100, 1000, 10_000]
const ANY_KEY = Buffer.from('m')
const ALL_KEYS = [Buffer.of(0), Buffer.of(255)] as const

/**
 * Merges the log and the tables of 150 MB each that a build in large batches leaves. The engine would merge them only when
 * the next blocks arrive, during a measurement. A store that grew block by block has none of them. Every level keeps as
 * much as its capacity allows; a settled store stays unchanged.
 */
export function settleStore(directory: string): Promise<void> {
  return withEngine(directory, async (level) => {
    // Without a request, the engine leaves up to three tables in level 0, whatever their size.
    if (overfull(level).includes(0)) await level.compactRange(ANY_KEY, ANY_KEY)
    while (overfull(level).length > 0) await sleep(100)
  })
}

/** Compacts a store, so that its size is the bytes of its records without overwritten ones. */
export function compactStore(directory: string): Promise<void> {
  return withEngine(directory, (level) => level.compactRange(...ALL_KEYS))
}

async function withEngine(directory: string, work: (level: Level) => Promise<void>): Promise<void> {
  const level: Level = new ClassicLevel(directory, ENGINE)
  await level.open()
  try {
    await work(level)
  } finally {
    await level.close()
  }
}

/** Returns the levels above their capacity, according to the engine's statistics. */
function overfull(level: Level): number[] {
  const rows = level.getProperty('leveldb.stats').matchAll(/^ *(\d+) +\d+ +(\d+)/gm)
  return [...rows]
    .map(([, number, mib]) => [Number(number), Number(mib)] as const)
    .filter(([number, mib]) => mib > (LEVELS_MAX[number] ?? Infinity))
    .map(([number]) => number)
}
