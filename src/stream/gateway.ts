import type { Socket } from 'node:net'
import type { WebSocket } from 'ws'
import type { Caller } from '../access/caller.ts'
import type { Place } from './messages.ts'

/** The HTTP side's access to the stream: it admits clients and reports health. */
export interface StreamGateway {
  /** Returns whether a key may open another connection. */
  admits(caller: Caller): boolean
  /** Adopts a socket after its upgrade. */
  open(ws: WebSocket, socket: Socket, caller: Caller): void
  readonly health: StreamHealth
}

export interface StreamHealth {
  /** The last cursor of the newest published slot; -1 before the first. */
  readonly head: number
  /** Null before the first block. */
  readonly horizon: Place | null
  /** Null if retention is unlimited. */
  readonly horizonSeconds: number | null
  readonly connections: number
  readonly subscriptions: number
  /** Events sent to clients a second, average of the last ten seconds. */
  readonly eventsPerSecond: number
  /** Events dropped from clients' buffers since the start. */
  readonly dropped: number
}
