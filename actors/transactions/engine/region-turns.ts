import { RPC_CLIENT_DEFAULTS, type RpcClient } from '../../../src/node/rpc-client.ts'
import type { Clock } from '../../../src/ports.ts'
import { RateWindow } from '../../../src/transactions/engine/rate-window.ts'
import { RegionHealth } from '../../../src/transactions/engine/region-health.ts'
import { FairQueue, type SendTurn } from '../../../src/transactions/fair-queue.ts'

/** Requests in flight at one region: as many as its client has sockets. */
const IN_FLIGHT_MAX = RPC_CLIENT_DEFAULTS.concurrency

/** Kinds of requests. A region that fails at one kind may serve the other. */
export type EngineWork = 'submission' | 'read'

/** A region of the block engine. */
export class EngineRegion {
  readonly client: RpcClient
  /** Path before that of a method, without a slash at its end. */
  readonly base: string
  readonly window: RateWindow
  readonly health: Readonly<Record<EngineWork, RegionHealth>> = {
    submission: new RegionHealth(),
    read: new RegionHealth()
  }
  inFlight = 0
  /** Unix milliseconds until which it gets no requests, because it has refused one for its rate. */
  restUntilMs = -Infinity

  constructor(client: RpcClient, requestsPerSecond: number) {
    this.client = client
    this.base = client.address.path.replace(/\/+$/, '')
    this.window = new RateWindow(requestsPerSecond)
  }
}

interface Waiting {
  readonly work: EngineWork
  /** Regions that the request has been made to. */
  readonly tried: ReadonlySet<EngineRegion>
  readonly resolve: (region: EngineRegion | null) => void
}

/**
 * Gives requests their turns at the regions of the block engine, in the order of `FairQueue`. A request goes to the first
 * listed region that it has not been made to. Regions with recent failures come last, and resting ones get none. So a turn
 * waits only for the rate and the sockets of regions.
 */
export class RegionTurns {
  readonly #regions: readonly EngineRegion[]
  readonly #clock: Clock
  readonly #queue = new FairQueue<Waiting>()
  #timer: unknown = null

  constructor(regions: readonly EngineRegion[], clock: Clock) {
    this.#regions = regions
    this.#clock = clock
  }

  /** Number of requests that wait for a turn. */
  get waiting(): number {
    return this.#queue.size
  }

  /**
   * Resolves with a region once it is this request's turn; null if every region rests or is among those tried. The caller
   * then calls `release`. Rejects only with the signal's reason.
   */
  acquire(
    turn: SendTurn,
    work: EngineWork,
    tried: ReadonlySet<EngineRegion>,
    signal: AbortSignal
  ): Promise<EngineRegion | null> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason as Error)
      const abort = (): void => {
        this.#queue.delete(waiting)
        reject(signal.reason as Error)
      }
      const waiting: Waiting = {
        work,
        tried,
        resolve: (region) => {
          signal.removeEventListener('abort', abort)
          resolve(region)
        }
      }
      if (this.#usableFor(waiting, this.#clock.now()).length === 0) return resolve(null)
      signal.addEventListener('abort', abort, { once: true })
      if (tried.size === 0) this.#queue.push(waiting, turn)
      else this.#queue.restore(waiting, turn)
      this.#serve()
    })
  }

  /** Ends the use of a region. `isUnused` says that no request was made to it. */
  release(region: EngineRegion, { isUnused } = { isUnused: false }): void {
    region.inFlight--
    if (isUnused) region.window.takeBack()
    this.#serve()
  }

  /** Returns the milliseconds until the first resting region gets requests again; 0 if one does not rest. */
  get restMs(): number {
    const nowMs = this.#clock.now()
    return Math.max(0, Math.min(...this.#regions.map(({ restUntilMs }) => restUntilMs)) - nowMs)
  }

  close(): void {
    this.#clock.clearTimeout(this.#timer)
    this.#timer = null
  }

  /** Gives all free regions to waiting requests. */
  #serve(): void {
    const nowMs = this.#clock.now()
    if (this.#regions.some(({ restUntilMs }) => restUntilMs > nowMs)) this.#dismiss(nowMs)
    while (this.#regions.some((region) => this.#freeAtMs(region, nowMs) <= nowMs)) {
      const found: { region: EngineRegion | null } = { region: null }
      const next = this.#queue.take((waiting) => {
        const usable = this.#usableFor(waiting, nowMs)
        found.region = usable.find((region) => this.#freeAtMs(region, nowMs) <= nowMs) ?? null
        return found.region !== null
      })
      if (next === undefined || found.region === null) break
      found.region.inFlight++
      found.region.window.noteStart(nowMs)
      found.region.health[next.work].noteStart()
      next.resolve(found.region)
    }
    this.#schedule(nowMs)
  }

  /** Ends the wait of requests for which all regions that they were not made to rest. */
  #dismiss(nowMs: number): void {
    const isHopeless = (waiting: Waiting): boolean => this.#usableFor(waiting, nowMs).length === 0
    for (let next = this.#queue.take(isHopeless); next !== undefined; next = this.#queue.take(isHopeless))
      next.resolve(null)
  }

  /** Returns the regions for a request in their order. Those with recent failures are left out while there are others. */
  #usableFor({ work, tried }: Waiting, nowMs: number): readonly EngineRegion[] {
    const usable = this.#regions.filter((region) => !tried.has(region) && region.restUntilMs <= nowMs)
    const sound = usable.filter(({ health }) => !health[work].isAvoided(nowMs))
    return sound.length > 0 ? sound : usable
  }

  /** Returns when a region can get its next request; infinite while all of its sockets are in use. */
  #freeAtMs(region: EngineRegion, nowMs: number): number {
    if (region.inFlight >= IN_FLIGHT_MAX) return Infinity
    return Math.max(region.window.nextAtMs(nowMs), region.restUntilMs)
  }

  #schedule(nowMs: number): void {
    this.close()
    if (this.#queue.size === 0) return
    const next = Math.min(
      ...this.#regions.map((region) => this.#freeAtMs(region, nowMs)).filter((atMs) => atMs > nowMs)
    )
    if (next !== Infinity)
      this.#timer = this.#clock.setTimeout(() => this.#serve(), Math.max(1, Math.ceil(next - nowMs)))
  }
}
