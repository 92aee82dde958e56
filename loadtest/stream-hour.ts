/**
 * Runs the whole service as a user starts it, on a localnet, with hundreds of stream clients for an hour. Clients subscribe
 * to lists, venues, tokens and pools, disconnect at random and resume after their last event. Each event must be the next
 * one, and equal for all clients and in a replay. Held memory is measured after a collection, every five minutes. The rate
 * leaves the machine time for other work.
 *
 *     node loadtest/stream-hour.ts [seconds] [directory] [clients] [milliseconds a slot]
 */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import {
  heldMemory,
  heldSeries,
  INSPECTED,
  inspectorOf,
  saidByItself,
  type HeldMemory
} from './held-memory.ts'
import { pagingUser } from './light-user.ts'
import { localnetFigures, type LocalnetFigures } from './localnet-figures.ts'
import { startMeasured } from './measured-process.ts'
import { writeResult } from './result.ts'
import { seriesOf } from './series.ts'
import type { ClientFigures } from './stream/hour-clients.ts'
import { makeBusyLocalnet } from '../test/service/localnet-process.ts'

const [secondsText = '3600', directory = tmpdir(), clientsText = '300', slotMsText = '250'] =
  process.argv.slice(2)
const seconds = Number(secondsText)
const SAMPLES = 120
/** Samples per collection. */
const SAMPLES_A_COLLECTION = 10
/** Generations of token flocks within the run. */
const FLOCK_LIVES = 6
const FIRST_SLOTS = 20
const UNANSWERED_MAX = 10
/** The user that fills the caches runs in the first of this many equal periods of the run. */
const FILLING_PART = 6
const PAGES_PER_SECOND = 2
/** Timeouts of the clients' answers. At the end they replay all that was received. */
const PATIENCE_MS = { figures: 30_000, end: 900_000 }
const KEY = 'an-admin-key-of-the-loadtest'
const MIB = 2 ** 20

interface Sample extends LocalnetFigures {
  readonly second: number
  readonly rssMib: number
  readonly cpuMs: number
  readonly clients: ClientFigures
  /** Null if no garbage was collected for this sample. */
  readonly held: HeldMemory | null
}

const scratch = mkdtempSync(join(directory, 'stream-hour-'))
await makeBusyLocalnet(scratch)
const service = await startMeasured(
  '../src/kernel/cli/millrace.js',
  ['serve', '--data-dir', scratch, '--port', '0', '--localnet-slot-ms', slotMsText],
  { env: { MILLRACE_ADMIN_KEY: KEY, MILLRACE_LOG_LEVEL: 'warn' }, nodeArgs: INSPECTED }
)
const { url } = service
try {
  const inspector = inspectorOf(service)
  // Clients choose tokens by their trades, so there must be some.
  while ((await headSlot(url)) < FIRST_SLOTS) await pause(200)
  const clients = fork(
    join(import.meta.dirname, 'stream/hour-clients.ts'),
    [url, KEY, clientsText, String(seconds / FLOCK_LIVES)],
    { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] }
  )
  const ended = new AbortController()
  clients.once('exit', (code) => ended.abort(new Error(`the clients ended with ${String(code)}`)))
  const told = async (order: 'figures' | 'end'): Promise<ClientFigures> => {
    const signal = AbortSignal.any([ended.signal, AbortSignal.timeout(PATIENCE_MS[order])])
    const answer = once(clients, 'message', { signal })
    clients.send(order)
    return ((await answer) as [ClientFigures])[0]
  }
  // Fills the response cache as far as the number of pages allows.
  const filling = pagingUser(url, KEY, PAGES_PER_SECOND)
  const sampleOf = async (second: number, collects: boolean): Promise<Sample> => ({
    second,
    ...(await localnetFigures(url, KEY)),
    rssMib: service.rssMib(),
    cpuMs: service.cpuMs(),
    clients: await told('figures'),
    held: collects ? await heldMemory(inspector) : null
  })

  const samples: Sample[] = []
  const unanswered: string[] = []
  const started = performance.now()
  const second = (): number => (performance.now() - started) / 1000
  for (let n = 1; n <= SAMPLES; n++) {
    if (n === SAMPLES / FILLING_PART) await filling.end()
    await pause(Math.max(1, ((n * seconds) / SAMPLES - second()) * 1000))
    try {
      const sample = await sampleOf(second(), n % SAMPLES_A_COLLECTION === 0)
      samples.push(sample)
      console.error(JSON.stringify(sample))
    } catch (error) {
      unanswered.push(`${Math.round(second())} s: ${String(error)}`)
      console.error(unanswered.at(-1), service.stderr.slice(-5))
      if (unanswered.length > UNANSWERED_MAX) throw error
    }
  }
  const { tally, judged, flocks } = await told('end')
  const health = (await (await fetch(`${url}/v1/stream/health`)).json()) as Record<string, unknown>
  clients.disconnect()
  const exitCode = await service.end()

  const [first, last] = [samples[0]!, samples.at(-1)!]
  const secondHalf = samples.filter((sample) => sample.second >= seconds / 2)
  const span = last.second - first.second
  const delivered = ({ clients: { tally } }: Sample): number => tally.live + tally.replayed
  const cpuShare = (of: (sample: Sample) => number): number => (of(last) - of(first)) / (span * 1000)
  const isGood =
    exitCode === 0 && unanswered.length === 0 && tally.faults === 0 && Object.keys(tally.closes).length === 0
  await writeResult('stream-hour', {
    seconds: last.second,
    slot_ms: Number(slotMsText),
    slots: last.chainSlot,
    clients: Number(clientsText),
    deliveries_a_second: (delivered(last) - delivered(first)) / span,
    deliveries: tally.live + tally.replayed,
    replayed: tally.replayed,
    cpu_share_of_one_core: {
      service: cpuShare(({ cpuMs }) => cpuMs),
      clients: cpuShare(({ clients }) => clients.cpuMs)
    },
    lag_slots: { largest: Math.max(...samples.map(({ chainSlot, headSlot }) => chainSlot - headSlot)) },
    memory_mib: {
      second_half: {
        resident: seriesOf(secondHalf.map(({ second, rssMib }) => ({ hour: second / 3_600, value: rssMib }))),
        held_after_a_collection: heldSeries(secondHalf)
      }
    },
    connections: {
      made: tally.connections,
      left_by_clients: tally.cuts,
      closed_by_the_service: tally.closes,
      refused: tally.refusals
    },
    verified: { flocks_of_tokens: flocks, ...judged, faults: tally.faults, first_faults: tally.firstFaults },
    dropped_total: health['dropped_total'],
    samples_without_answer: unanswered,
    warnings: saidByItself(service).slice(-20),
    ended_with: exitCode,
    verified_complete: isGood,
    samples: samples.map((sample) => [
      Math.round(sample.second),
      sample.chainSlot,
      sample.headSlot,
      Math.round(sample.rssMib),
      Math.round(sample.heapBytes / MIB),
      Math.round(sample.externalBytes / MIB),
      sample.held === null ? null : Math.round(sample.held.heapUsed / MIB),
      delivered(sample)
    ])
  })
  if (!isGood) process.exitCode = 1
} finally {
  await service.end()
  rmSync(scratch, { recursive: true })
}

async function headSlot(url: string): Promise<number> {
  const { slot } = (await (await fetch(`${url}/v1/health`)).json()) as { slot: number | null }
  return slot ?? -1
}
