/**
 * A tenant that behaves badly, in a process of its own: clients that subscribe and never read, and clients that subscribe
 * and unsubscribe in a loop, as fast as messages are read of them. They do what messages of who started them say.
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
  /** The number of the first of its connections: each time other keys, with a quota that is not used up. */
  readonly first: number
}

export interface DisturbanceReport {
  readonly kind: 'begun' | 'ended'
  /** Messages that were sent in the loops. */
  readonly messages: number
  /** Sockets that the server has ended. */
  readonly lost: number
}

/** Two messages, so that a client sends as many a second as the service reads of it. */
const LOOP_MS = 2_000 / MESSAGES_A_SECOND
const OPENING_AT_ONCE = 20

let sockets: Socket[] = []
let loops: NodeJS.Timeout[] = []
/** They begin when all are connected, for what a loop takes of the quota is no longer there to connect with. */
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
  // Spread over the interval.
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
