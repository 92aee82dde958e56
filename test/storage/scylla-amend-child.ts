/**
 * A process that commits the blocks of a series to a cluster, amends them, and forgets the first kept blocks:
 *
 *     node scylla-amend-child.ts PLAN
 *
 * By the plan (JSON) it kills itself when it reaches a crash point. It prints `killed at POINT`, `amended` and `done`, one
 * line each. Each run repeats this.
 */
import { writeSync } from 'node:fs'
import { argv } from 'node:process'
import { setTimeout as delay } from 'node:timers/promises'
import type { ScyllaCrashPoint } from '../../storage/crash-points.ts'
import { openScyllaStorage } from '../../storage/scylla/store.ts'
import type { ScyllaStorageOptions } from '../../storage/scylla/store.ts'
import { amendmentOf, fill } from './amended-series.ts'
import type { AmendedSeries } from './amended-series.ts'
import { START_WAIT } from './start-wait.ts'

export interface AmendPlan {
  readonly store: ScyllaStorageOptions
  readonly series: AmendedSeries
  /** Whether it commits the blocks first. */
  readonly fills: boolean
  /** Slot up to which it forgets kept blocks; null if it forgets no blocks. */
  readonly forgets: number | null
  readonly at: ScyllaCrashPoint | null
  /** Milliseconds after the point: for one at which something has just been sent. */
  readonly afterMs: number
}

const { store, series, fills, forgets, at, afterMs } = JSON.parse(argv[2]!) as AmendPlan
/** Synchronous, so that a line is written before the process dies. */
const say = (line: string): number => writeSync(1, `${line}\n`)

function end(point: ScyllaCrashPoint): void {
  say(`killed at ${point}`)
  process.kill(process.pid, 'SIGKILL')
}

function reached(point: ScyllaCrashPoint): void {
  if (point !== at) return
  if (afterMs === 0) end(point)
  else void delay(afterMs).then(() => end(point))
}

const storage = await openScyllaStorage({ ...store, startWait: START_WAIT, reached })
await storage.blocks.claim(null)
if (fills) await fill(storage, series)
await storage.history.amend(...amendmentOf(series))
say('amended')
if (forgets !== null) await storage.history.forget(forgets)
await storage.close()
say('done')
