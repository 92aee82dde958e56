/**
 * Receivers of webhooks on many ports, in their own process. Each webhook's events are compared with the expected ones.
 * Argument: the number of ports.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { monotonicMs } from '../stream/trades.ts'
import { bySlot, readBatch } from './batch-reader.ts'
import { expectedCursor, planOf, type Plan } from './plan.ts'

/** A message to the receivers. */
export type ReceiversOrder =
  | { readonly kind: 'ports' }
  /** Requests of webhooks with these numbers are no longer answered. */
  | { readonly kind: 'hang'; readonly numbers: readonly number[] }
  /** Asks for the receipts since the last such message. */
  | { readonly kind: 'receipts' }
  /** Requests the totals, and resets for another engine. */
  | { readonly kind: 'totals'; readonly eventsPerChannel: number }

/** Events of one slot in one POST. */
export type Receipt = readonly [n: number, slot: number, receivedMs: number, events: number]

export interface Totals {
  readonly webhooks: number
  readonly posts: number
  readonly events: number
  readonly dropped: number
  /** POSTs without an answer. */
  readonly unanswered: number
  /** Webhooks whose accepted and dropped events are not all events; the first faults in words. */
  readonly incomplete: number
  readonly faults: readonly string[]
}

const FAULTS_MAX = 10

class Ledger {
  readonly #plan: Plan
  /** Place of the next expected event. */
  next = 0
  events = 0
  dropped = 0
  readonly #fault: (text: string) => void

  constructor(plan: Plan, fault: (text: string) => void) {
    this.#plan = plan
    this.#fault = fault
  }

  take(cursors: readonly number[], dropped: number): void {
    this.events += cursors.length
    this.dropped += dropped
    for (const cursor of cursors) {
      const from = this.next
      // Only dropped events may be left out; their number is compared at the end.
      const most = from + this.dropped + 1
      while (this.next < most && expectedCursor(this.#plan, this.next) !== cursor) this.next++
      if (this.next === most) {
        this.#fault(`webhook ${this.#plan.n}: cursor ${cursor} came at event ${from}`)
        this.next = from
      }
      this.next++
    }
  }

  isComplete(eventsPerChannel: number): boolean {
    return this.events + this.dropped === eventsPerChannel * this.#plan.count
  }
}

let ledgers = new Map<string, Ledger>()
let receipts: Receipt[] = []
let faults: string[] = []
let [posts, unanswered] = [0, 0]
let hanging = new Set<number>()
const fault = (text: string): void => void (faults.length < FAULTS_MAX && faults.push(text))

function take(request: IncomingMessage, response: ServerResponse, chunks: readonly Buffer[]): void {
  const receivedMs = monotonicMs()
  const path = request.url!
  const plan = planOf(path)
  if (plan !== null && hanging.has(plan.n)) {
    unanswered++
    return
  }
  response.end()
  posts++
  const { cursors, dropped } = readBatch(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks))
  if (plan === null) return
  let ledger = ledgers.get(path)
  if (ledger === undefined) ledgers.set(path, (ledger = new Ledger(plan, fault)))
  ledger.take(cursors, dropped)
  for (const [slot, events] of bySlot(cursors)) receipts.push([plan.n, slot, receivedMs, events])
}

const listen = (): Promise<number> =>
  new Promise((resolve) => {
    const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
      const chunks: Buffer[] = []
      request.on('data', (chunk: Buffer) => chunks.push(chunk))
      request.on('end', () => take(request, response, chunks))
    })
    server.listen(0, '127.0.0.1', 2_048, () => resolve((server.address() as AddressInfo).port))
  })

function totals(eventsPerChannel: number): Totals {
  const all = [...ledgers.values()]
  const sum = (of: (ledger: Ledger) => number): number => all.reduce((total, each) => total + of(each), 0)
  const told = {
    webhooks: all.length,
    posts,
    events: sum(({ events }) => events),
    dropped: sum(({ dropped }) => dropped),
    unanswered,
    incomplete: all.filter((each) => !each.isComplete(eventsPerChannel)).length,
    faults
  }
  ledgers = new Map()
  receipts = []
  faults = []
  hanging = new Set()
  ;[posts, unanswered] = [0, 0]
  return told
}

function answer(order: ReceiversOrder): unknown {
  switch (order.kind) {
    case 'ports':
      return ports
    case 'hang':
      hanging = new Set(order.numbers)
      return null
    case 'receipts': {
      const told = receipts
      receipts = []
      return told
    }
    case 'totals':
      return totals(order.eventsPerChannel)
  }
}

const ports: number[] = []
for (let n = 0; n < Number(process.argv[2]); n++) ports.push(await listen())
process.on('message', (text: string) => process.send!(answer(JSON.parse(text) as ReceiversOrder) ?? {}))
process.stdout.write(`listening on http://127.0.0.1:${ports[0]}\n`)
