/**
 * Runs the whole service as a user starts it, on a localnet at ten times the usual speed, for an hour, while a light user
 * sends requests. Reports the course of memory, disk and block rate. Resident memory includes garbage that was not collected
 * yet; held memory is measured after a collection, every five minutes. Then restarts the service on its folder with slots of
 * ten seconds, to check that the index has all of the chain.
 *
 *     node loadtest/localnet-hour.ts [seconds] [milliseconds a slot] [directory]
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { diskBytes } from './disk-bytes.ts'
import {
  heldMemory,
  heldSeries,
  INSPECTED,
  inspectorOf,
  saidByItself,
  type HeldMemory
} from './held-memory.ts'
import { lightUser, pagingUser } from './light-user.ts'
import { coverageFigures, localnetFigures, type LocalnetFigures } from './localnet-figures.ts'
import { startMeasured, type MeasuredProcess } from './measured-process.ts'
import { writeResult } from './result.ts'
import { seriesOf } from './series.ts'

const seconds = Number(process.argv[2] ?? 3_600)
const slotMs = Number(process.argv[3] ?? 40)
const SAMPLE_SECONDS = 30
/** Samples per collection. */
const SAMPLES_A_COLLECTION = 10
const REQUESTS_PER_SECOND = 3
/** Seconds until the caches are full, and the rate of the user that fills them. */
const PAGES_PER_SECOND = 4
const WARM_SECONDS = Math.min(600, seconds / 4)
const UNANSWERED_MAX = 10
const KEY = 'an-admin-key-of-the-loadtest'
const MIB = 2 ** 20

interface Sample extends LocalnetFigures {
  readonly second: number
  readonly rssMib: number
  readonly cpuMs: number
  readonly chainBytes: number
  readonly storeBytes: number
  /** Null if no garbage was collected for this sample. */
  readonly held: HeldMemory | null
}

const scratch = mkdtempSync(join(process.argv[4] ?? tmpdir(), 'localnet-hour-'))
try {
  const service = await start(slotMs)
  const inspector = inspectorOf(service)
  const user = lightUser(service.url, KEY, REQUESTS_PER_SECOND)
  const filling = pagingUser(service.url, KEY, PAGES_PER_SECOND)
  setTimeout(() => void filling.end(), WARM_SECONDS * 1000)
  const samples: Sample[] = []
  const unanswered: string[] = []
  const started = performance.now()
  const second = (): number => (performance.now() - started) / 1000
  while (second() < seconds) {
    const next = (samples.length + unanswered.length + 1) * Math.min(SAMPLE_SECONDS, seconds / 4)
    await new Promise((resolve) =>
      setTimeout(resolve, Math.max(1, (Math.min(next, seconds) - second()) * 1000))
    )
    try {
      const collects = samples.length % SAMPLES_A_COLLECTION === SAMPLES_A_COLLECTION - 1
      const sample = await sampleOf(service, second(), collects ? inspector : null)
      samples.push(sample)
      console.error(JSON.stringify(sample))
    } catch (error) {
      unanswered.push(`${Math.round(second())} s: ${String(error)}`)
      console.error(unanswered.at(-1), service.stderr.slice(-5))
      if (unanswered.length > UNANSWERED_MAX) throw error
    }
  }
  const requests = await user.end()
  const exitCode = await service.end()
  const stored = await endState()

  const [first, last] = [samples[0]!, samples.at(-1)!]
  const warm = samples.filter((sample) => sample.second >= WARM_SECONDS)
  const series = (of: (sample: Sample) => number) =>
    seriesOf(warm.map((sample) => ({ hour: sample.second / 3_600, value: of(sample) })))
  const span = last.second - first.second
  const slots = last.chainSlot - first.chainSlot
  // Kept blocks fill the chain's folder first; later growth is accounts.
  const settled = warm[0]!
  const perSlot = (bytes: (sample: Sample) => number): number =>
    (bytes(last) - bytes(settled)) / (last.chainSlot - settled.chainSlot)
  await writeResult('localnet-hour', {
    seconds: last.second,
    slot_ms: slotMs,
    slots: last.chainSlot,
    slots_per_second: { reached: slots / span, asked: 1_000 / slotMs },
    cpu_ms_a_slot: (last.cpuMs - first.cpuMs) / slots,
    lag_slots: { largest: Math.max(...samples.map(({ chainSlot, headSlot }) => chainSlot - headSlot)) },
    memory_mib: {
      warm_after_seconds: WARM_SECONDS,
      resident: series(({ rssMib }) => rssMib),
      javascript_heap: series(({ heapBytes }) => heapBytes / MIB),
      external: series(({ externalBytes }) => externalBytes / MIB),
      held_after_a_collection: heldSeries(warm)
    },
    disk: {
      chain_mib: { when_warm: settled.chainBytes / MIB, at_the_end: last.chainBytes / MIB },
      store_mib: { when_warm: settled.storeBytes / MIB, at_the_end: last.storeBytes / MIB },
      bytes_a_slot: {
        chain: perSlot(({ chainBytes }) => chainBytes),
        store: perSlot(({ storeBytes }) => storeBytes)
      }
    },
    requests,
    samples_without_answer: unanswered,
    warnings: saidByItself(service).slice(-20),
    ended_with: exitCode,
    started_again: stored,
    samples: samples.map((sample) => [
      Math.round(sample.second),
      sample.chainSlot,
      sample.headSlot,
      Math.round(sample.rssMib),
      Math.round(sample.heapBytes / MIB),
      Math.round(sample.externalBytes / MIB),
      Math.round(sample.chainBytes / MIB),
      Math.round(sample.storeBytes / MIB)
    ])
  })
  const good =
    exitCode === 0 &&
    unanswered.length === 0 &&
    stored.head_slot === stored.chain_slot &&
    hasNoGap(stored.coverage)
  if (!good) process.exitCode = 1
} finally {
  rmSync(scratch, { recursive: true })
}

function hasNoGap(coverage: Awaited<ReturnType<typeof coverageFigures>> | string): boolean {
  return typeof coverage !== 'string' && coverage.gaps === 0 && coverage.ranges === 1
}

function start(pace: number): Promise<MeasuredProcess> {
  const args = ['--data-dir', scratch, '--port', '0', '--localnet-slot-ms', String(pace)]
  const env = { MILLRACE_ADMIN_KEY: KEY, MILLRACE_LOG_LEVEL: 'warn' }
  return startMeasured('../src/kernel/cli/millrace.js', ['serve', ...args], { env, nodeArgs: INSPECTED })
}

async function sampleOf(service: MeasuredProcess, second: number, inspector: string | null): Promise<Sample> {
  return {
    second,
    ...(await localnetFigures(service.url, KEY)),
    rssMib: service.rssMib(),
    cpuMs: service.cpuMs(),
    chainBytes: diskBytes(join(scratch, 'localnet')),
    storeBytes: diskBytes(join(scratch, 'store')),
    held: inspector === null ? null : await heldMemory(inspector)
  }
}

/** Restarts with ten seconds a slot, waits until the index reaches the chain, and returns the state of both. */
async function endState() {
  const service = await start(10_000)
  const deadline = performance.now() + 60_000
  let figures = await localnetFigures(service.url, KEY)
  while (figures.headSlot !== figures.chainSlot && performance.now() < deadline) {
    await new Promise((resolve) => setTimeout(resolve, 100))
    figures = await localnetFigures(service.url, KEY)
  }
  // Coverage is read slot by slot: the first answer may be refused because it took too long.
  const coverage = await coverageFigures(service.url, KEY).catch((error: unknown) => String(error))
  const listening_ms = Math.round(service.listeningMs)
  const rss_mib = Math.round(service.rssMib())
  await service.end()
  const { headSlot: head_slot, chainSlot: chain_slot } = figures
  return { head_slot, chain_slot, coverage, listening_ms, rss_mib }
}
