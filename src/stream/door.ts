import type { Socket } from 'node:net'
import type { WebSocket } from 'ws'
import type { Caller } from '../access/caller.ts'
import type { Place } from './messages.ts'

/** What HTTP knows of the stream: it lets clients in and says how it does. */
export interface StreamDoor {
  /** Whether a key may have one more connection. */
  admits(caller: Caller): boolean
  /** Takes over a socket whose upgrade is done. */
  open(ws: WebSocket, socket: Socket, caller: Caller): void
  readonly health: StreamHealth
}

export interface StreamHealth {
  /** The last cursor of the newest slot told; -1 before the first. */
  readonly head: number
  /** Null while there is no block. */
  readonly horizon: Place | null
  /** Null: everything is kept. */
  readonly horizonSeconds: number | null
  readonly connections: number
  readonly subscriptions: number
  /** Events given to connections in a second, over the last ten. */
  readonly eventsPerSecond: number
  /** Events dropped from connections' buffers since the start. */
  readonly dropped: number
}
