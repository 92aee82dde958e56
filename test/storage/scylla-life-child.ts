/**
 * A process that commits the blocks of a series to a cluster, from the start each time it is run:
 *
 *     node scylla-life-child.ts PLAN
 *
 * By the plan (JSON) it kills itself when it reaches a crash point for the n-th time, or stops itself until it is woken. The
 * plan also says how many blocks are submitted together. It prints, one line each: `head SLOT` after its claim, `block
 * INDEX` for each written block, `killed at POINT` or `stopped at POINT`, and `done` at the end. When a commit rejects it
 * prints `refused block INDEX: WHY`, retries its claim and the next block, and prints `sees the same` if all answers are
 * those of the plan.
 */
import { writeSync } from 'node:fs'
import { argv } from 'node:process'
import { setTimeout as delay } from 'node:timers/promises'
import type { ScyllaCrashPoint } from '../../storage/crash-points.ts'
import type { BlockCommit, Storage } from '../../storage/port.ts'
import { openScyllaStorage } from '../../storage/scylla/store.ts'
import type { ScyllaStorageOptions } from '../../storage/scylla/store.ts'
import { assertSame } from '../../storage/test/conformance/agreement.ts'
import { modelOf, seriesOf } from './scylla-series.ts'
import type { Series } from './scylla-series.ts'
import { START_WAIT } from './start-wait.ts'

export interface LifePlan {
  readonly store: ScyllaStorageOptions
  readonly series: Series
  readonly token: number | null
  readonly at: ScyllaCrashPoint | null
  readonly nth: number
  readonly signal: 'SIGKILL' | 'SIGSTOP'
  /** Milliseconds after the point: for one at which something has just been sent. */
  readonly afterMs: number
  /** Number of blocks that are submitted before the first of them is committed. */
  readonly together: number
  /** Blocks that it must see after it was refused. */
  readonly sees: Series
}

const { store, series, token, at, nth, signal, afterMs, together, sees } = JSON.parse(argv[2]!) as LifePlan
/** Synchronous, so that a line is written before the process dies. */
const say = (line: string): number => writeSync(1, `${line}\n`)
let times = 0

function reached(point: ScyllaCrashPoint): void {
  if (point !== at || ++times !== nth) return
  if (afterMs === 0) end(point)
  else void delay(afterMs).then(() => end(point))
}

function end(point: ScyllaCrashPoint): void {
  say(`${signal === 'SIGKILL' ? 'killed' : 'stopped'} at ${point}`)
  process.kill(process.pid, signal)
}

async function tryTo(what: string, run: () => Promise<unknown>): Promise<boolean> {
  try {
    await run()
    return true
  } catch (error) {
    say(`refused ${what}: ${error instanceof Error ? error.message : String(error)}`)
    return false
  }
}

async function commitTogether(storage: Storage, blocks: readonly BlockCommit[]): Promise<void> {
  for (let from = 0; from < blocks.length; from += together)
    await Promise.all(
      blocks.slice(from, from + together).map(async (block, i) => {
        const after = i === 0 ? undefined : blocks[from + i - 1]!.slot.slot
        if (await storage.blocks.commit(block, undefined, after)) say(`block ${from + i}`)
      })
    )
}

async function commitAll(storage: Storage, blocks: readonly BlockCommit[]): Promise<void> {
  for (const [index, block] of blocks.entries()) {
    const commit = async (): Promise<void> => {
      if (await storage.blocks.commit(block)) say(`block ${index}`)
    }
    if (await tryTo(`block ${index}`, commit)) continue
    await tryTo('the next block', () => storage.blocks.commit(blocks[index + 1]!))
    await tryTo('claim', () => storage.blocks.claim(token))
    await storage.blocks.head()
    await assertSame(storage, modelOf(sees))
    say('sees the same')
    return
  }
}

const storage = await openScyllaStorage({ ...store, startWait: START_WAIT, reached })
const head = await storage.blocks.claim(token)
say(`head ${head === null ? 'none' : head.slot}`)
await (together > 1 ? commitTogether : commitAll)(storage, seriesOf(series))
await storage.close()
say('done')
