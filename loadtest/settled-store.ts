import { setTimeout as sleep } from 'node:timers/promises'
import { ClassicLevel } from 'classic-level'
import { ENGINE } from '../storage/embedded/database.ts'
import type { Level } from '../storage/embedded/level.ts'

/** What the engine lets its levels hold, in MiB; the first one, in tables as blocks make them, four write buffers. */
const LEVELS_MAX = [(4 * ENGINE.writeBufferSize) / 2 ** 20, 10, 100, 1000, 10_000]
const ANY_KEY = Buffer.from('m')
const ALL_KEYS = [Buffer.of(0), Buffer.of(255)] as const

/**
 * Lets the engine finish what a build in large batches has left: a log and tables of 150 MB each, which it merges only
 * once the next blocks come. A store that has grown block by block has none of them, and a service that is measured
 * would merge them meanwhile. Every level stays as full as it may be. A store that is settled stays as it is.
 */
export function settleStore(directory: string): Promise<void> {
  return withEngine(directory, async (level) => {
    // Of its own accord the engine leaves three tables in the first level, of whatever size.
    if (overfull(level).includes(0)) await level.compactRange(ANY_KEY, ANY_KEY)
    while (overfull(level).length > 0) await sleep(100)
  })
}

/** Lets the engine write every record once, and nothing of what was written over: the bytes of what is stored. */
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

/** The levels that hold more than they may, as the engine's own table of them says. */
function overfull(level: Level): number[] {
  const rows = level.getProperty('leveldb.stats').matchAll(/^ *(\d+) +\d+ +(\d+)/gm)
  return [...rows]
    .map(([, number, mib]) => [Number(number), Number(mib)] as const)
    .filter(([number, mib]) => mib > (LEVELS_MAX[number] ?? Infinity))
    .map(([number]) => number)
}
