/**
 * Clients of a stream, all in this process, each on its own socket. To do as little work per message as possible, they only
 * read each event's cursor and check that it is the next one. Messages of the parent process control them.
 */
import { Receiver } from './receiver.ts'
import type { Order, Report } from './receiving.ts'
import { cursorOf, type Run } from './trades.ts'

const CONNECTING_AT_ONCE = 64

let receivers: Receiver[] = []
let run: Run | null = null
/** Events of all receivers in the current run, and the number after which the parent is notified. */
let received = 0
let every = Infinity
/** Arrival time of each event, and the number of its block in the run. */
let times: number[] = []
let blocks: number[] = []
let firstAt = 0
let lastAt = 0

const tell = (report: Report): void => void process.send!(report)
const fault = (text: string): void => tell({ kind: 'fault', text })

function took(receiver: Receiver, cursor: number, nowMs: number): void {
  if (run === null) return fault(`event ${cursor} came outside a run`)
  const n = receiver.events++
  const expected = cursorOf(n, run, receiver.channel)
  if (cursor !== expected) return fault(`event ${cursor} came instead of ${expected}`)
  times.push(nowMs)
  blocks.push(Math.floor(n / run.burst))
  if (received === 0) firstAt = nowMs
  lastAt = nowMs
  if (++received % every === 0) tell({ kind: 'got' })
}

async function obey(order: Order): Promise<void> {
  switch (order.kind) {
    case 'connect': {
      const { url, protocol, clients } = order
      receivers = clients.map(({ channel }) => new Receiver(protocol, channel, took, fault))
      for (let i = 0; i < receivers.length; i += CONNECTING_AT_ONCE) {
        await Promise.all(
          receivers
            .slice(i, i + CONNECTING_AT_ONCE)
            .map((receiver, n) => receiver.connect(url, clients[i + n]!.path))
        )
      }
      return tell({ kind: 'connected' })
    }
    case 'subscribe':
      await Promise.all(receivers.map((receiver, n) => receiver.subscribe(order.names[n]!, order.since)))
      return tell({ kind: 'subscribed' })
    case 'run':
      run = order.run
      every = order.every
      received = 0
      times = []
      blocks = []
      for (const receiver of receivers) receiver.events = 0
      return tell({ kind: 'ready' })
    case 'report': {
      const { committedAt } = order
      const sorted = Float64Array.from(times, (time, i) => time - (committedAt[blocks[i]!] ?? time)).sort()
      const at = (part: number): number => sorted[Math.floor(sorted.length * part)] ?? 0
      const bytes = receivers.reduce((sum, receiver) => sum + receiver.bytes, 0)
      const ms = lastAt - firstAt
      return tell({ kind: 'report', received, p50Ms: at(0.5), p99Ms: at(0.99), ms, bytes })
    }
  }
}

process.on('message', (order: Order) => void obey(order).catch((error: unknown) => fault(String(error))))
process.once('disconnect', () => process.exit())
