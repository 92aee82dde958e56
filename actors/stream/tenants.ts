import type { Socket } from 'node:net'
import type { WebSocket } from 'ws'
import type { Caller } from '../../src/access/caller.ts'
import { WorkBudget } from '../../src/access/work-budget.ts'
import type { WorkTally } from '../../src/access/work-tally.ts'
import type { KeyDirectory } from '../../src/access/key-directory.ts'
import { presentCaller } from '../../src/access/key-end.ts'
import { KeySockets } from '../../src/access/key-sockets.ts'
import type { ClusterCoordination, RateCounter, TenantEvent } from '../../storage/cluster/coordination.ts'
import { sleep, type Clock, type Random } from '../../src/ports.ts'
import type { TenantEvents } from '../../src/stream/tenant-events.ts'
import { changeBatchIn } from '../../src/transactions/change-batch.ts'
import { MESSAGE_BYTES_MAX } from '../../src/stream/message-bound.ts'
import { BUFFER } from '../../src/stream/outbox.ts'
import type { StreamGateway, StreamHealth } from '../../src/stream/gateway.ts'
import { aborted } from '../supervision/aborted.ts'
import { AutoResetEvent } from '../supervision/auto-reset-event.ts'
import type { Run } from '../supervision/process.ts'
import type { Channels } from './channels.ts'
import { StreamConnection } from './connection.ts'
import { SocketPipe } from './pipe.ts'

/** Interval of sweeps over all connections, in milliseconds: a revoked key closes its connections within a second. */
const SWEEP_MS = 500
/** The same while there is no connection, in milliseconds. Arbitrary: the first connection ends the pause. */
const IDLE_MS = 60_000
/** Sweeps for each ping of a connection: 25 s (src/docs/stream.md). */
const SWEEPS_A_PING = 50
/**
 * Sweeps for each search for stored changes of submissions that were not announced: 10 s. Such changes are left only by a
 * process that dies between the two steps, or by a lost hint.
 */
const SWEEPS_A_SEARCH = 20
/**
 * A drain closes `DRAIN_BATCH` connections, then pauses. Each client is told to come back after a random time in `RETRY_MS`.
 * 50,000 connections close in 5 s and return spread over four.
 */
const DRAIN_BATCH = 500
const DRAIN_PAUSE_MS = 50
const RETRY_MS = { least: 1_000, most: 5_000 }
const RATE_SECONDS = 10
const SAMPLES_MAX = (RATE_SECONDS * 1_000) / SWEEP_MS

export interface TenantsDeps {
  readonly clock: Clock
  readonly random: Random
  /** Counts the sockets of a key, including those of the RPC URL; by default those of the stream alone. */
  readonly sockets?: KeySockets
  /** Counter of units of work and refusals, for a metric. */
  readonly workTally?: WorkTally
}

/**
 * The stream's connections, grouped by tenant.
 *
 * T1. A fault of a connection ends that connection alone, with 1011: its client reconnects and resumes from its
 *     cursor.
 * T2. A key that is revoked or expires closes its connections within a second, with 4401; one that loses the scope
 *     `stream`, with 4403. A key that loses the scope of a channel loses that channel within a second.
 */
export class Tenants implements StreamGateway {
  readonly #channels: Channels
  readonly #limits: RateCounter
  readonly #budget: WorkBudget
  readonly #deps: TenantsDeps
  readonly #report: (fault: unknown) => void
  /**
   * The connections of each tenant. Each is pinged in one sweep out of `SWEEPS_A_PING`, so that pings are spread over time.
   */
  readonly #tenants = new Map<string, Map<StreamConnection, number>>()
  readonly #sockets: KeySockets
  #keys: Pick<KeyDirectory, 'caller'> | null = null
  #size = 0
  #sweeps = 0
  #opened = 0
  /** Sums of closed connections. */
  #past = { events: 0, dropped: 0 }
  #samples: { readonly atMs: number; readonly events: number }[] = []
  /** Set when the first connection opens. */
  readonly #opening = new AutoResetEvent()

  constructor(channels: Channels, limits: RateCounter, deps: TenantsDeps, report: (fault: unknown) => void) {
    this.#channels = channels
    this.#limits = limits
    this.#budget = new WorkBudget(limits.work, deps.workTally)
    this.#deps = deps
    this.#sockets = deps.sockets ?? new KeySockets()
    this.#report = report
  }

  get size(): number {
    return this.#size
  }

  /** Number of tenants with a connection. */
  get tenants(): number {
    return this.#tenants.size
  }

  get health(): StreamHealth {
    const { hub, horizon } = this.#channels
    const sums = this.#sums()
    const [oldest] = this.#samples
    const nowMs = this.#deps.clock.now()
    const spanMs = oldest === undefined ? 0 : nowMs - oldest.atMs
    return {
      head: hub.head,
      horizon: horizon.place,
      horizonSeconds: horizon.seconds,
      connections: this.#size,
      subscriptions: sums.subscriptions,
      eventsPerSecond: spanMs <= 0 ? 0 : Math.max(0, ((sums.events - oldest!.events) / spanMs) * 1000),
      dropped: sums.dropped
    }
  }

  /** Sets the directory from which `sweep` reads keys. */
  guard(keys: Pick<KeyDirectory, 'caller'>): void {
    this.#keys = keys
  }

  admits(caller: Caller): boolean {
    return this.#sockets.admits(caller)
  }

  open(ws: WebSocket, socket: Socket, caller: Caller): void {
    if (!this.admits(caller)) return ws.close(4429, 'too many connections')
    const { clock } = this.#deps
    const shared = {
      ...this.#channels,
      limits: this.#limits,
      budget: this.#budget,
      room: BUFFER,
      clock,
      report: this.#report
    }
    const connection = new StreamConnection(new SocketPipe(ws, socket), caller, shared)
    this.#add(connection)
    ws.on('message', (data: Buffer, isBinary) => {
      const isText = !isBinary && data.length <= MESSAGE_BYTES_MAX
      connection.receive(isText ? data.toString() : null, data.length)
    })
    ws.on('pong', () => connection.ponged())
    socket.on('drain', () => connection.drained())
    ws.once('close', () => {
      connection.closed()
      this.#remove(connection)
    })
    connection.open()
  }

  /**
   * Sends an event of a private channel to the connections of its tenant that have the channel. With null some events may
   * have been lost; those that are stored are then read from the store.
   */
  publish(event: TenantEvent | null): void {
    if (event === null) return this.#lookForChanges()
    const connections = this.#tenants.get(event.tenant)
    if (connections === undefined) return
    if (event.channel === 'tx') {
      const batch = changeBatchIn(event.data)
      for (const connection of connections.keys())
        if (batch === null) connection.lookForChanges()
        else connection.hear(batch)
      return
    }
    if (!this.hasClient(event.tenant, event.channel)) return
    const body = bodyOf(event.data)
    for (const connection of connections.keys()) connection.publish(event.channel, body)
  }

  /** Tells whether a client of a tenant has subscribed to a private channel without a past. */
  hasClient(tenant: string, channel: string): boolean {
    return (
      this.#tenants
        .get(tenant)
        ?.keys()
        .some((connection) => connection.has(channel)) === true
    )
  }

  /**
   * Applies changes of keys to their connections, and pings a part of the clients each time. To be called every `SWEEP_MS`.
   */
  sweep(): void {
    this.#sweeps++
    const nowMs = this.#deps.clock.now()
    this.#sample(nowMs)
    const turn = this.#sweeps % SWEEPS_A_PING
    if (this.#sweeps % SWEEPS_A_SEARCH === 0) this.#lookForChanges()
    for (const connections of this.#tenants.values()) {
      for (const [connection, ownTurn] of connections) {
        const { caller } = connection
        const present = this.#keys === null ? caller : presentCaller(this.#keys, caller, 'stream', nowMs)
        if ('code' in present) {
          connection.close(present.code, present.reason)
          continue
        }
        if (present !== caller) connection.follow(present)
        if (ownTurn === turn) connection.ping()
      }
    }
  }

  /** Resolves when the next sweep is due, or `end` aborts. Without connections, the first one ends the wait. */
  async rest(end: AbortSignal): Promise<void> {
    await this.#opening.wait(this.#deps.clock, this.#isIdle ? IDLE_MS : SWEEP_MS, end)
  }

  /** Closes every connection, in batches, and tells each client when to come back. Resolves when all were told. */
  async drain(signal: AbortSignal): Promise<void> {
    const { clock, random } = this.#deps
    const all = [...this.#tenants.values()].flatMap((connections) => [...connections.keys()])
    for (const [index, connection] of all.entries()) {
      connection.drain(Math.round(RETRY_MS.least + random() * (RETRY_MS.most - RETRY_MS.least)))
      if (index % DRAIN_BATCH === DRAIN_BATCH - 1) await sleep(clock, DRAIN_PAUSE_MS, signal)
    }
  }

  #add(connection: StreamConnection): void {
    const { tenant } = connection.caller
    if (this.#size === 0) {
      // The samples of a pause say nothing about the time since.
      if (this.#isIdle) this.#samples = []
      this.#opening.set()
    }
    const connections = this.#tenants.get(tenant) ?? new Map<StreamConnection, number>()
    this.#tenants.set(tenant, connections.set(connection, this.#opened++ % SWEEPS_A_PING))
    this.#sockets.add(connection.caller)
    this.#size++
  }

  #remove(connection: StreamConnection): void {
    const { tenant } = connection.caller
    const connections = this.#tenants.get(tenant)
    if (connections?.delete(connection) !== true) return
    if (connections.size === 0) this.#tenants.delete(tenant)
    this.#sockets.remove(connection.caller)
    this.#size--
    this.#past.events += connection.events
    this.#past.dropped += connection.dropped
  }

  #lookForChanges(): void {
    for (const connections of this.#tenants.values())
      for (const connection of connections.keys()) connection.lookForChanges()
  }

  #sums() {
    let { events, dropped } = this.#past
    let subscriptions = 0
    for (const connections of this.#tenants.values()) {
      for (const connection of connections.keys()) {
        events += connection.events
        dropped += connection.dropped
        subscriptions += connection.subscriptions
      }
    }
    return { events, dropped, subscriptions }
  }

  #sample(nowMs: number): void {
    this.#samples.push({ atMs: nowMs, events: this.#sums().events })
    if (this.#samples.length > SAMPLES_MAX) this.#samples.shift()
  }

  /** Whether there is no connection, and none has had an event for as long as the rate counts. */
  get #isIdle(): boolean {
    const [oldest] = this.#samples
    return (
      this.#size === 0 &&
      this.#samples.length === SAMPLES_MAX &&
      oldest!.events === this.#samples.at(-1)!.events
    )
  }
}

/** Returns the JSON of an event's data up to the value of `cursor`, as `eventFrames` continues it. */
const bodyOf = (data: TenantEvent['data']): Buffer =>
  Buffer.from(`${JSON.stringify(data).slice(0, -1)},"cursor":`)

/** Owns the stream's connections; its drain closes them. */
export function tenants<Needs extends { readonly channels: Channels }>(
  deps: TenantsDeps & { readonly tenantEvents: TenantEvents },
  coordinationOf: (needs: Needs) => Pick<ClusterCoordination, 'limits' | 'tenantEvents'>
): Run<Needs, Tenants> {
  return async ({ input, draining, ready, gauge, report }) => {
    const { limits, tenantEvents: hints } = coordinationOf(input)
    const all = new Tenants(input.channels, limits, deps, report)
    gauge('tenants', () => all.tenants)
    gauge('connections', () => all.size)
    gauge('subscriptions', () => all.health.subscriptions)
    gauge('dropped_events', () => all.health.dropped)
    const unsubscribe = deps.tenantEvents.subscribe(
      (event) => all.publish(event),
      hints,
      (tenant, channel) => all.hasClient(tenant, channel)
    )
    try {
      ready(all)
      while (!draining.aborted) {
        all.sweep()
        await all.rest(draining)
      }
      await all.drain(AbortSignal.abort())
      await aborted(draining)
    } finally {
      unsubscribe()
    }
  }
}
