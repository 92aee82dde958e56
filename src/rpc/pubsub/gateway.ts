import type { Socket } from 'node:net'
import type { WebSocket } from 'ws'
import type { Caller } from '../../access/caller.ts'

/** The HTTP side's access to the RPC sockets. */
export interface RpcSocketGateway {
  /** Returns whether a key may open another connection. */
  admits(caller: Caller): boolean
  /** Adopts a socket after its upgrade. */
  open(ws: WebSocket, socket: Socket, caller: Caller): void
}
