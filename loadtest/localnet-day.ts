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
 * Makes as many slots as a day has, faster than the clock, on a localnet that nobody asks, and reports how its memory grows
 * with its age: resident while it makes slots, and held after a collection. The market does the same in each slot at any
 * pace. Then restarts the aged localnet at the usual pace, and reports its memory at rest. Takes an hour of the processor;
 * `nice -n 19 node loadtest/localnet-day.ts` leaves it to others.
 *
 *     node loadtest/localnet-day.ts [SLOTS] [MILLISECONDS A SLOT]
 */

const DAY_SLOTS = 216_000
const slots = Number(process.argv[2] ?? DAY_SLOTS)
const slotMs = Number(process.argv[3] ?? 12)
const SAMPLES = 100
/** Samples between two collections. */
const SAMPLES_A_COLLECTION = 5
const REST_SECONDS = 60
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
  const service = await start(slotMs)
  const inspector = inspectorOf(service)
  const first = await figures(service)
  const samples: Sample[] = []
  for (let at = 0; at <= SAMPLES; at++) {
    const due = first.headSlot + (slots * at) / SAMPLES
    while ((await figures(service)).headSlot < due) await delay(1_000)
    samples.push(await sampleOf(service, at % SAMPLES_A_COLLECTION === 0 ? inspector : null))
    console.error(JSON.stringify(samples.at(-1)))
  }
  const warnings = saidByItself(service).slice(-20)
  const storeMib = diskBytes(join(scratch, 'store')) / MIB
  const endedWith = await service.end()
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
    slots,
    days: days(last),
    slot_ms: slotMs,
    cpu_ms_a_slot: (last.cpuMs - samples[0]!.cpuMs) / (last.headSlot - samples[0]!.headSlot),
    memory_mib_by_hours_of_age: {
      resident: series(({ rssMib }) => rssMib),
      held_resident: series(({ held }) => held && held.rss / MIB),
      held_javascript_heap: series(({ held }) => held && held.heapUsed / MIB),
      held_external: series(({ held }) => held && held.external / MIB)
    },
    store_mib: storeMib,
    restarted_at_the_usual_pace: await atRest(),
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

function start(pace: number): Promise<MeasuredProcess> {
  const args = ['--data-dir', scratch, '--port', '0', '--localnet-slot-ms', String(pace)]
  const env = { MILLRACE_ADMIN_KEY: KEY, MILLRACE_LOG_LEVEL: 'warn' }
  return startMeasured('../src/cli/millrace.js', ['serve', ...args], { env, nodeArgs: INSPECTED })
}

/** Reads the state of the service; asks again while it is too busy to answer. */
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

async function atRest() {
  const service = await start(400)
  const listening = { cpu_ms_until_listening: service.cpuMs() }
  await delay(REST_SECONDS * 1000)
  const rss_mib = Math.round(service.rssMib())
  await service.end()
  return { ...listening, seconds: REST_SECONDS, rss_mib }
}
