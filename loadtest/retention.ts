/**
 * Measures three things. First, ingest of the recorded mainnet block at a multiple of the live rate while a sweep deletes
 * expired rows and compacts. The comparison is ingest without a sweep, alternately three times. Second, the speed of a sweep
 * compared with the rate at which rows expire. Third, the disk space of a store while its retention passes several times:
 *
 *     node loadtest/retention.ts [blocks]
 */
import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Ingester } from '../actors/chain/ingester.ts'
import { pauseAfter } from '../actors/storage/retention.ts'
import type { Block } from '../src/chain/transaction.ts'
import { openEmbeddedStorage } from '../storage/embedded/store.ts'
import type { Storage } from '../storage/port.ts'
import { loneIngester } from '../test/actors/chain/lone-ingester.ts'
import { diskBytes } from './disk-bytes.ts'
import { readBlock, recordedBlockText, repeated } from './recorded-block.ts'
import { writeResult } from './result.ts'

const RATIO_MAX = 1.25
/** Blocks of expired rows at the start: more than the sweep deletes during the run. */
const EXPIRED_BLOCKS = 5_000
const BLOCKS_PER_PHASE = 50
/** Comparisons, each on fresh copies of one store. The median of their ratios counts. */
const PAIRS = 3
const LIVE_SLOT_MS = 400
/** Milliseconds a block: ten times the live rate. */
const PACE_MS = LIVE_SLOT_MS / 10
/** Blocks within the retention, and how many retention periods the run lasts. */
const KEPT_BLOCKS = 240
const PASSES = 6

const blocks = Number(process.argv[2] ?? 500)
const recorded = readBlock(JSON.parse(recordedBlockText()))
const blockAt = repeated(recorded)

/** A store that ingests blocks and is swept on demand, as the service does it. */
class Side {
  readonly waits: number[] = []
  steps = 0
  /** Milliseconds that the sweep took so far, pauses included. */
  sweepMs = 0
  /** Whether the last step of the sweep left work to do. */
  isBusy = true
  readonly storage: Storage
  readonly #ingester: Ingester

  private constructor(storage: Storage, ingester: Ingester) {
    this.storage = storage
    this.#ingester = ingester
  }

  static async open(directory: string, retentionSeconds: number | null): Promise<Side> {
    const storage = await openEmbeddedStorage({ directory, retentionSeconds, logSeconds: retentionSeconds })
    return new Side(storage, await loneIngester(storage))
  }

  async take(block: Block): Promise<void> {
    const started = performance.now()
    await this.#ingester.ingest({ block, commitment: 'confirmed', receivedAtMs: block.blockTime * 1_000 })
    this.waits.push(performance.now() - started)
  }

  async step(): Promise<void> {
    this.isBusy = await this.storage.sweeper!.step()
    this.steps++
  }

  /** Runs a step and the pause after it. */
  async stepAtPace(): Promise<void> {
    const began = performance.now()
    await this.step()
    await sleep(pauseAfter(performance.now() - began))
    this.sweepMs += performance.now() - began
  }

  /** Ingests blocks at the configured rate; if the store has a sweeper, sweeps concurrently. */
  async phase(places: readonly number[]): Promise<void> {
    let isOver = false
    const sweeping = (async () => {
      while (!isOver && this.storage.sweeper !== null) await this.stepAtPace()
    })()
    for (const place of places) {
      const due = sleep(PACE_MS)
      await this.take(blockAt(place, EXPIRED_BLOCKS + place))
      await due
    }
    isOver = true
    await sweeping
  }

  get msABlock() {
    const sorted = this.waits.toSorted((a, b) => a - b)
    const at = (part: number): number => sorted[Math.floor(sorted.length * part)]!
    return { mean: sorted.reduce((sum, ms) => sum + ms, 0) / sorted.length, p50: at(0.5), p99: at(0.99) }
  }
}

async function fill(directory: string): Promise<void> {
  const filling = await Side.open(directory, null)
  for (let place = 0; place < EXPIRED_BLOCKS; place++) await filling.take(blockAt(place, place))
  await filling.storage.close()
}

async function besideASweep(filled: string, scratch: string) {
  const [kept, swept] = [join(scratch, 'kept'), join(scratch, 'swept')]
  for (const copy of [kept, swept]) cpSync(filled, copy, { recursive: true })
  const without = await Side.open(kept, null)
  const withSweep = await Side.open(swept, EXPIRED_BLOCKS)
  for (let from = 0; from < blocks; from += BLOCKS_PER_PHASE) {
    const places = Array.from({ length: BLOCKS_PER_PHASE }, (_, n) => EXPIRED_BLOCKS + from + n)
    const sides = (from / BLOCKS_PER_PHASE) % 2 === 0 ? [without, withSweep] : [withSweep, without]
    for (const side of sides) await side.phase(places)
    // The first phase of each side is its warm-up.
    if (from === 0) for (const side of sides) side.waits.length = 0
  }
  const isBusyThroughout = withSweep.isBusy
  while (withSweep.isBusy) await withSweep.stepAtPace()
  await without.storage.close()
  await withSweep.storage.close()
  const figures = {
    without_a_sweep_ms: without.msABlock,
    with_a_sweep_ms: withSweep.msABlock,
    p99_ratio: withSweep.msABlock.p99 / without.msABlock.p99,
    swept_throughout: isBusyThroughout,
    sweep_steps: withSweep.steps,
    blocks_swept_a_second: (EXPIRED_BLOCKS * 1_000) / withSweep.sweepMs,
    disk_mib: { kept: diskBytes(kept) / 2 ** 20, swept: diskBytes(swept) / 2 ** 20 }
  }
  for (const copy of [kept, swept]) rmSync(copy, { recursive: true })
  return figures
}

async function pairs(scratch: string) {
  const filled = join(scratch, 'filled')
  await fill(filled)
  const each = []
  for (let pair = 0; pair < PAIRS; pair++) each.push(await besideASweep(filled, scratch))
  const median = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1]!
  const sweptASecond = median(each.map(({ blocks_swept_a_second }) => blocks_swept_a_second))
  return {
    blocks_each: blocks - BLOCKS_PER_PHASE,
    ms_between_blocks: PACE_MS,
    p99_ratio: median(each.map(({ p99_ratio }) => p99_ratio)),
    p99_ratio_max: RATIO_MAX,
    sweep_beside_live_rate: (sweptASecond * LIVE_SLOT_MS) / 1_000,
    pairs: each
  }
}

async function diskOverTime(directory: string) {
  const side = await Side.open(directory, KEPT_BLOCKS)
  const mib: number[] = []
  for (let place = 0; place < KEPT_BLOCKS * PASSES; place++) {
    await side.take(blockAt(place, place))
    await side.step()
    if ((place + 1) % (KEPT_BLOCKS / 4) === 0) mib.push(diskBytes(directory) / 2 ** 20)
  }
  await side.storage.close()
  // The first two retention periods fill the store and the engine's levels.
  const settled = mib.slice(mib.length / 3)
  const half = settled.length / 2
  const mean = (values: readonly number[]): number =>
    values.reduce((sum, one) => sum + one, 0) / values.length
  const growth = mean(settled.slice(half)) / mean(settled.slice(0, half))
  return {
    blocks_kept: KEPT_BLOCKS,
    retentions_passed: PASSES,
    mib_by_quarter: mib,
    growth_of_second_half: growth
  }
}

const scratch = mkdtempSync(join(tmpdir(), 'millrace-retention-'))
try {
  const ingest = await pairs(scratch)
  const disk = await diskOverTime(join(scratch, 'disk'))
  const reached = ingest.p99_ratio <= RATIO_MAX && disk.growth_of_second_half < 1.1
  await writeResult('retention', { reached, ingest, disk })
  if (!reached) process.exitCode = 1
} finally {
  rmSync(scratch, { recursive: true })
}
