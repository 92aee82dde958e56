/**
 * A tenant that misbehaves, in its own process. Some clients subscribe and never read. Others subscribe and unsubscribe in a
 * loop, as fast as the server reads their messages. Messages of the parent process start and stop them.
 */
import type { Socket } from 'node:net'
import { MESSAGES_A_SECOND } from '../../actors/stream/message-rate.ts'
import { otherPath } from './other-tenant.ts'
import { openRaw, textFrame } from './raw-socket.ts'

export interface Disturbance {
  readonly url: string
  readonly channel: string
  readonly frozen: number
  readonly churning: number
  /** Number of the first connection; a new number each time gives keys whose quota is unused. */
  readonly first: number
}

export interface DisturbanceReport {
  readonly kind: 'begun' | 'ended'
  /** Messages that were sent in the loops. */
  readonly messages: number
  /** Sockets that the server closed. */
  readonly lost: number
}

/** Interval of a loop's two messages, at the rate of messages that the service accepts from a client. */
const LOOP_MS = 2_000 / MESSAGES_A_SECOND
const OPENING_AT_ONCE = 20

let sockets: Socket[] = []
let loops: NodeJS.Timeout[] = []
/** Starts of the loops, run once all clients are connected: the loops use up the quota that connecting needs. */
let starting: (() => void)[] = []
let messages = 0
let lost = 0

const tell = (kind: DisturbanceReport['kind']): void => void process.send!({ kind, messages, lost })

async function open(url: string, connection: number): Promise<Socket> {
  const socket = await openRaw(url, otherPath(connection))
  socket.on('error', () => undefined)
  socket.on('close', () => lost++)
  sockets.push(socket)
  return socket
}

async function freeze(connection: number, { url, channel }: Disturbance): Promise<void> {
  const socket = await open(url, connection)
  socket.pause()
  socket.write(textFrame({ subscribe: [channel] }))
}

async function churn(connection: number, { url, channel }: Disturbance): Promise<void> {
  const socket = await open(url, connection)
  socket.resume()
  const both = Buffer.concat([textFrame({ subscribe: [channel] }), textFrame({ unsubscribe: [channel] })])
  const loop = (): void => {
    socket.write(both)
    messages += 2
  }
  // Loops start spread over the interval.
  starting.push(() => setTimeout(() => loops.push(setInterval(loop, LOOP_MS)), Math.random() * LOOP_MS))
}

async function begin(disturbance: Disturbance): Promise<void> {
  ;[sockets, loops, starting, messages, lost] = [[], [], [], 0, 0]
  const { frozen, churning, first } = disturbance
  for (let n = 0; n < frozen + churning; n += OPENING_AT_ONCE) {
    const some = Array.from({ length: Math.min(OPENING_AT_ONCE, frozen + churning - n) }, (_, i) => n + i)
    const opened = some.map((n) => (n < frozen ? freeze : churn)(first + n, disturbance))
    await Promise.all(opened)
  }
  for (const start of starting) start()
  tell('begun')
}

function end(): void {
  for (const loop of loops) clearInterval(loop)
  tell('ended')
  for (const socket of sockets) socket.removeAllListeners('close').destroy()
}

process.on('message', (order: Disturbance | 'end') => (order === 'end' ? end() : void begin(order)))
process.once('disconnect', () => process.exit())
