import type { Socket } from 'node:net'
import type { WebSocket } from 'ws'
import type { Caller } from '../../../src/access/caller.ts'
import type { KeyDirectory } from '../../../src/access/key-directory.ts'
import { presentCaller } from '../../../src/access/key-end.ts'
import type { KeySockets } from '../../../src/access/key-sockets.ts'
import { sleep } from '../../../src/ports.ts'
import type { RpcSocketGateway } from '../../../src/rpc/pubsub/gateway.ts'
import { PING_MS } from '../../../src/rpc/pubsub/socket-limits.ts'
import { SocketPipe } from '../../stream/pipe.ts'
import { AutoResetEvent } from '../../supervision/auto-reset-event.ts'
import { ClientQueues } from './client-queue.ts'
import { ClientSocket, type ClientSocketDeps } from './client-socket.ts'

/** Interval of sweeps over all connections, in milliseconds: a revoked key closes its connections within a second. */
export const SWEEP_MS = 500
/** The same while there is no connection, in milliseconds. Arbitrary: the first connection ends the pause. */
const IDLE_MS = 60_000
const SWEEPS_A_PING = PING_MS / SWEEP_MS
/** Connections that a drain closes before it pauses, as on the stream. */
const DRAIN_BATCH = 500
const DRAIN_PAUSE_MS = 50

/** All RPC sockets of the process. */
export class RpcSockets implements RpcSocketGateway {
  readonly #deps: ClientSocketDeps
  readonly #sockets: KeySockets
  readonly #queues: ClientQueues
  /** Each with the sweep, out of `SWEEPS_A_PING`, in which it is pinged: pings are spread over time. */
  readonly #all = new Map<ClientSocket, number>()
  /** Set when the first connection opens. */
  readonly #opening = new AutoResetEvent()
  #keys: KeyDirectory | null = null
  #sweeps = 0
  #opened = 0

  constructor(deps: Omit<ClientSocketDeps, 'queues'>, sockets: KeySockets, queues = new ClientQueues()) {
    this.#queues = queues
    this.#deps = { ...deps, queues }
    this.#sockets = sockets
  }

  get size(): number {
    return this.#all.size
  }

  /** Subscriptions of all clients. */
  get subscriptions(): number {
    let sum = 0
    for (const client of this.#all.keys()) sum += client.subscriptions
    return sum
  }

  /** Unsent bytes of all clients. */
  get queuedBytes(): number {
    return this.#queues.bytes
  }

  /** Sets the directory from which `sweep` reads keys. */
  guard(keys: KeyDirectory): void {
    this.#keys = keys
  }

  admits(caller: Caller): boolean {
    return this.#sockets.admits(caller)
  }

  open(ws: WebSocket, socket: Socket, caller: Caller): void {
    if (!this.admits(caller)) return ws.close(4429, 'too many connections')
    const pause = (isPaused: boolean): void => void (isPaused ? ws.pause() : ws.resume())
    const client = new ClientSocket(new SocketPipe(ws, socket), caller, pause, this.#deps)
    this.#sockets.add(caller)
    if (this.#all.size === 0) this.#opening.set()
    this.#all.set(client, this.#opened++ % SWEEPS_A_PING)
    ws.on('message', (data: Buffer) => client.receive(data))
    ws.on('pong', () => client.ponged())
    socket.on('drain', () => client.drained())
    ws.once('close', () => {
      client.closed()
      if (this.#all.delete(client)) this.#sockets.remove(caller)
    })
  }

  /**
   * Applies changes of keys to their connections, and pings a part of the clients each time. To be called every `SWEEP_MS`.
   */
  sweep(): void {
    this.#sweeps++
    const { clock } = this.#deps
    const nowMs = clock.now()
    const turn = this.#sweeps % SWEEPS_A_PING
    for (const [client, ownTurn] of this.#all) {
      const present =
        this.#keys === null ? client.caller : presentCaller(this.#keys, client.caller, 'rpc:read', nowMs)
      client.sweep()
      if ('code' in present) {
        client.close(present.code, present.reason)
        continue
      }
      client.caller = present
      if (ownTurn === turn) client.ping()
    }
  }

  /** Resolves when the next sweep is due, or `end` aborts. Without connections, the first one ends the wait. */
  async rest(end: AbortSignal): Promise<void> {
    await this.#opening.wait(this.#deps.clock, this.size === 0 ? IDLE_MS : SWEEP_MS, end)
  }

  /** Closes every connection, in batches. */
  async drain(signal: AbortSignal): Promise<void> {
    for (const [index, client] of [...this.#all.keys()].entries()) {
      client.close(1001, 'the service is stopping')
      if (index % DRAIN_BATCH === DRAIN_BATCH - 1) await sleep(this.#deps.clock, DRAIN_PAUSE_MS, signal)
    }
  }
}

/** Sweeps until the signal aborts. */
export async function sweepUntil(sockets: RpcSockets, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    sockets.sweep()
    await sockets.rest(signal)
  }
}
