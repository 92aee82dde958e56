/** Runs the hostile clients of `hostile.ts` in a worker thread. */
import { parentPort, workerData } from 'node:worker_threads'
import { complaintOf, exchange } from './hostile-exchange.ts'
import { drawHostileRequest } from './hostile-requests.ts'
import { SeededRandom } from './market/random.ts'

export interface Attack {
  readonly port: number
  readonly key: string
  readonly seed: number
  readonly clients: number
  readonly perClientPerSecond: number
  readonly seconds: number
}

export interface AttackReport {
  readonly requests: number
  /** Answers by status; null counts connections that were closed without an answer. */
  readonly statuses: readonly (readonly [status: number | null, count: number])[]
  /** The first hundred complaints, each with the number that reproduces its request. */
  readonly complaints: readonly string[]
}

const attack = workerData as Attack
const statuses = new Map<number | null, number>()
const complaints: string[] = []
const until = performance.now() + attack.seconds * 1000
let number = 0

async function client(place: number): Promise<void> {
  const every = 1000 / attack.perClientPerSecond
  let due = performance.now() + (every * place) / attack.clients
  while (due < until) {
    await new Promise((resolve) => setTimeout(resolve, Math.max(0, due - performance.now())))
    due += every
    const mine = number++
    const request = drawHostileRequest(new SeededRandom(attack.seed, mine), attack.key)
    const outcome = await exchange(attack.port, request)
    const complaint = complaintOf(request, outcome)
    if (complaint !== null && complaints.length < 100)
      complaints.push(`${mine}, ${request.kind}: ${complaint}`)
    if (outcome !== 'no end') statuses.set(outcome.status, (statuses.get(outcome.status) ?? 0) + 1)
  }
}

await Promise.all(Array.from({ length: attack.clients }, (_, place) => client(place)))
const report: AttackReport = { requests: number, statuses: [...statuses], complaints }
parentPort?.postMessage(report)
