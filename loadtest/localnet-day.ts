import { cpSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { diskBytes } from './disk-bytes.ts'
import { heldMemory, INSPECTED, inspectorOf, saidByItself, type HeldMemory } from './held-memory.ts'
import { localnetFigures, type LocalnetFigures } from './localnet-figures.ts'
import { startMeasured, type MeasuredProcess } from './measured-process.ts'
import { writeResult } from './result.ts'
import { seriesOf } from './series.ts'

/**
 * Produces a day's number of slots on a localnet without requests whose clock runs faster. Reports how its memory grows with
 * its age: resident while it produces slots, and held after a collection. Then the clock runs as usual, and the figures that
 * count are measured: resident memory and share of a core of the aged idle process. They are measured again after a restart
 * of this localnet. Takes 40 minutes of CPU time; use `nice -n 19 node loadtest/localnet-day.ts` to leave the CPU to other
 * processes.
 *
 *     node loadtest/localnet-day.ts [SLOTS] [TIMES AS FAST] [SECONDS AT REST] [FOLDER]
 *
 * With a folder, the localnet is copied to it at the end, and the next run continues with that one.
 */

const DAY_SLOTS = 216_000
const slots = Number(process.argv[2] ?? DAY_SLOTS)
const scale = Number(process.argv[3] ?? 33)
const restSeconds = Number(process.argv[4] ?? 300)
const folder = process.argv[5] ?? null
const SLOT_MS = 400
/** File of a kept localnet with the milliseconds that its clock is ahead of the machine's. */
const AHEAD_FILE = 'clock-ahead-ms'
const SAMPLES = 100
/** Samples per collection. */
const SAMPLES_A_COLLECTION = 5
/** Samples of an idle localnet. */
const REST_SAMPLES = 20
const KEY = 'an-admin-key-of-the-loadtest'
const MIB = 2 ** 20

interface Sample extends LocalnetFigures {
  readonly rssMib: number
  readonly cpuMs: number
  /** Null if no garbage was collected for this sample. */
  readonly held: HeldMemory | null
}

const scratch = await mkdtemp(join(tmpdir(), 'localnet-day-'))
try {
  const isOlder = folder !== null && existsSync(join(folder, AHEAD_FILE))
  if (isOlder) cpSync(folder, scratch, { recursive: true })
  const service = await start(scale, isOlder ? Number(readFileSync(join(folder, AHEAD_FILE), 'utf8')) : 0)
  const startedMs = Date.now()
  const inspector = inspectorOf(service)
  const first = await figures(service)
  const samples: Sample[] = []
  for (let at = 0; at <= SAMPLES; at++) {
    const due = first.headSlot + (slots * at) / SAMPLES
    while ((await figures(service)).headSlot < due) await delay(1_000)
    samples.push(await sampleOf(service, at % SAMPLES_A_COLLECTION === 0 ? inspector : null))
    console.error(JSON.stringify(samples.at(-1)))
  }
  const madeInMs = Date.now() - startedMs
  const aheadMs = ((await service.ask('usual')) as number) - Date.now()
  const aged = await atRest(service)
  const heldAtRest = await heldMemory(inspector)
  const warnings = saidByItself(service).slice(-20)
  const storeMib = diskBytes(join(scratch, 'store')) / MIB
  const endedWith = await service.end()
  if (folder !== null) {
    cpSync(scratch, folder, { recursive: true })
    writeFileSync(join(folder, AHEAD_FILE), String(aheadMs))
  }
  const days = ({ headSlot }: Sample): number => (headSlot - first.headSlot) / DAY_SLOTS
  const series = (of: (sample: Sample) => number | null) => {
    const points = samples.flatMap((each) => {
      const value = of(each)
      return value === null ? [] : [{ hour: days(each) * 24, value }]
    })
    return seriesOf(points)
  }
  const last = samples.at(-1)!
  await writeResult('localnet-day', {
    went_on_with_an_older_one: isOlder,
    slots,
    head_slot: last.headSlot,
    days: days(last),
    times_as_fast: scale,
    hours_of_block_time: (aheadMs + madeInMs) / 3_600_000,
    cpu_ms_a_slot: (last.cpuMs - samples[0]!.cpuMs) / (last.headSlot - samples[0]!.headSlot),
    memory_mib_by_hours_of_age: {
      resident: series(({ rssMib }) => rssMib),
      held_resident: series(({ held }) => held && held.rss / MIB),
      held_javascript_heap: series(({ held }) => held && held.heapUsed / MIB),
      held_external: series(({ held }) => held && held.external / MIB)
    },
    store_mib: storeMib,
    at_rest: { ...aged, held: inMib(heldAtRest) },
    restarted_at_rest: await restarted(aheadMs),
    warnings,
    ended_with: endedWith,
    samples: samples.map((each) => [
      each.headSlot,
      Math.round(each.rssMib),
      each.held === null ? null : Math.round(each.held.heapUsed / MIB)
    ])
  })
} finally {
  await rm(scratch, { recursive: true, force: true })
}

function start(clockScale: number, aheadMs: number): Promise<MeasuredProcess> {
  const args = ['--data-dir', scratch, '--port', '0', '--localnet-slot-ms', String(SLOT_MS)]
  const env = {
    MILLRACE_ADMIN_KEY: KEY,
    MILLRACE_LOG_LEVEL: 'warn',
    CLOCK_SCALE: String(clockScale),
    CLOCK_AHEAD_MS: String(aheadMs)
  }
  const nodeArgs = [...INSPECTED, '--import', join(import.meta.dirname, 'fast-clock.ts')]
  return startMeasured('../src/cli/millrace.js', ['serve', ...args], { env, nodeArgs })
}

/** Reads the state of the service; retries while it is too busy to answer. */
async function figures(service: MeasuredProcess): Promise<LocalnetFigures> {
  for (;;) {
    try {
      return await localnetFigures(service.url, KEY)
    } catch {
      await delay(1_000)
    }
  }
}

async function sampleOf(service: MeasuredProcess, inspector: string | null): Promise<Sample> {
  return {
    ...(await figures(service)),
    rssMib: service.rssMib(),
    cpuMs: service.cpuMs(),
    held: inspector === null ? null : await heldMemory(inspector)
  }
}

/** Leaves a localnet idle and returns its memory and its share of a core; the first fifth of the time is not counted. */
async function atRest(service: MeasuredProcess) {
  const stepMs = (restSeconds * 1000) / REST_SAMPLES
  await delay((restSeconds * 1000) / 5)
  const [started, cpuMs] = [performance.now(), service.cpuMs()]
  const rss: number[] = []
  while (rss.length < (REST_SAMPLES * 4) / 5) {
    await delay(stepMs)
    rss.push(Math.round(service.rssMib()))
  }
  const percent_of_a_core = ((service.cpuMs() - cpuMs) / (performance.now() - started)) * 100
  return { seconds: restSeconds, rss_mib: { largest: Math.max(...rss), samples: rss }, percent_of_a_core }
}

async function restarted(aheadMs: number) {
  const service = await start(1, aheadMs)
  const listening = { cpu_ms_until_listening: service.cpuMs() }
  const rest = await atRest(service)
  const held = inMib(await heldMemory(inspectorOf(service)))
  await service.end()
  return { ...listening, ...rest, held }
}

function inMib(held: HeldMemory) {
  return { rss: held.rss / MIB, heap_used: held.heapUsed / MIB, external: held.external / MIB }
}
