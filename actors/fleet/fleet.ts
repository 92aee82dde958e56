import type { ClusterCoordination, HeardProcess, HeardProcesses } from '../../storage/cluster/coordination.ts'
import type { Storage } from '../../storage/port.ts'
import { announcementText } from '../../src/fleet/announcement.ts'
import type { Fleet, FleetSource } from '../../src/fleet/fleet.ts'
import type { FleetMetrics } from '../../src/fleet/metrics.ts'
import { StorePresence } from '../../src/fleet/store-presence.ts'
import type { Logger } from '../../src/kernel/telemetry/logger.ts'
import { sleep, type Clock } from '../../src/ports.ts'
import { isOutage } from '../storage/retry.ts'
import { aborted } from '../supervision/aborted.ts'
import type { Run } from '../supervision/process.ts'

/** Interval of announcements, in milliseconds: a process may miss four before it counts as gone. */
export const ANNOUNCE_MS = 1_000
/**
 * Announcements to Redis for each to the store. If Redis becomes unreachable, the others are found in the store at once:
 * a silence of twice the interval is less than half of what counts as gone.
 */
const REDIS_PER_STORE = 2
/**
 * Announcements in a row that must hear fewer gateways before quotas are divided among fewer: a restarted Redis first has
 * those alone that announce first.
 */
const COUNTS_MAX = 10
/** Maximum milliseconds that an announcement waits for the store. Two late ones are less than half of what counts as gone. */
const STORE_MS = 1_000
/** Maximum milliseconds of the farewell. A lost one costs the others 5 s. */
const FAREWELL_MS = 500

export interface FleetDeps {
  readonly fleet: Fleet
  readonly clock: Clock
  readonly logger: Pick<Logger, 'info' | 'warn'>
  readonly metrics: FleetMetrics
  /** Reads the settings that are in files, before the first announcement. */
  readonly prepare: () => Promise<void>
}

/** Announcements, and the server that they were read from. */
type HeardFrom = HeardProcesses & { readonly source: FleetSource }

type Coordination = Pick<ClusterCoordination, 'presence' | 'shareAmong'>

/** Announces this process to the others of its service, and hears them. A store of one process has no others. */
export function fleet<Needs extends { readonly storage: Pick<Storage, 'documents' | 'isShared'> }>(
  deps: FleetDeps,
  coordinationOf: (needs: Needs) => Coordination
): Run<Needs> {
  return async ({ input, draining, ready, gauge, report }) => {
    const { clock, metrics } = deps
    const { storage } = input
    metrics.show(deps.fleet)
    gauge('processes', () => deps.fleet.processes.length)
    gauge('roles_missing', () => deps.fleet.missingRoles.length)
    await deps.prepare()
    const log = new FleetLog(deps.fleet, deps.logger)
    if (!storage.isShared) {
      log.note()
      ready()
      await aborted(draining)
      return
    }
    const announcing = new Announcing(deps, storage, coordinationOf(input), report)
    try {
      await announcing.announce()
      log.note()
      ready()
      while (!draining.aborted) {
        await sleep(clock, ANNOUNCE_MS, draining)
        if (draining.aborted) return
        await announcing.announce()
        log.note()
      }
    } finally {
      await announcing.leave()
    }
  }
}

/** Announces in Redis, and in the store where Redis is not configured or does not answer. */
class Announcing {
  readonly #deps: FleetDeps
  readonly #redis: Coordination['presence']
  readonly #shareAmong: Coordination['shareAmong']
  readonly #stored: StorePresence
  readonly #report: (error: unknown) => void
  #announced = 0
  #isWriting = false
  #isAsking = false
  #gateways: number[] = []

  constructor(
    deps: FleetDeps,
    { documents }: Pick<Storage, 'documents'>,
    { presence, shareAmong }: Coordination,
    report: (error: unknown) => void
  ) {
    this.#deps = deps
    this.#redis = presence
    this.#shareAmong = shareAmong
    this.#stored = new StorePresence(documents, deps.clock)
    this.#report = report
  }

  /** Announces, and hears the others. Never rejects: while no server answers, nothing is heard. */
  async announce(): Promise<void> {
    const { fleet } = this.#deps
    const text = announcementText(fleet.own)
    const heard = (await this.#inRedis(text)) ?? (await this.#inStore(text))
    if (heard === null) return
    fleet.hear(heard, heard.source)
    this.#gateways = [...this.#gateways, fleet.count('gateway')].slice(-COUNTS_MAX)
    this.#shareAmong(Math.max(1, ...this.#gateways))
  }

  /** Removes the announcements of this process, within `FAREWELL_MS`. */
  async leave(): Promise<void> {
    const { fleet, clock } = this.#deps
    const over = new AbortController()
    const farewells = Promise.all([this.#redis?.leave(fleet.id), this.#stored.leave(fleet.id)])
    await Promise.race([farewells, sleep(clock, FAREWELL_MS, over.signal)])
    over.abort()
  }

  async #inRedis(text: string): Promise<HeardFrom | null> {
    const heard = await this.#redis?.announce(this.#deps.fleet.id, text).catch(() => null)
    if (heard === null || heard === undefined) return null
    const { coversMs, processes } = heard
    return {
      source: 'redis',
      coversMs,
      processes: [...(await this.#inStoreAlone(text, processes)), ...processes]
    }
  }

  /**
   * Returns processes that are heard in the store, if Redis has nobody of a role: its process may be cut off from Redis
   * alone, and works on. Otherwise announces in the store now and then, so that others find this process there.
   */
  async #inStoreAlone(text: string, inRedis: readonly HeardProcess[]): Promise<readonly HeardProcess[]> {
    const { fleet } = this.#deps
    if (!fleet.isDoubtful(inRedis)) {
      this.#stored.forget()
      if (this.#announced++ % REDIS_PER_STORE === 0) void this.#write(text)
      return []
    }
    return (await this.#inTime(() => this.#stored.announceChanged(fleet.id, text))) ?? []
  }

  async #inStore(text: string): Promise<HeardFrom | null> {
    const heard = await this.#inTime(() => this.#stored.announce(this.#deps.fleet.id, text))
    return heard && { source: 'store', ...heard }
  }

  /** Asks the store, one call at a time. Returns null if it does not answer in time: the next announcement must not wait. */
  async #inTime<T>(ask: () => Promise<T>): Promise<T | null> {
    if (this.#isAsking) return null
    this.#isAsking = true
    const over = new AbortController()
    const asked = ask()
      .catch((error: unknown) => {
        if (!isOutage(error)) this.#report(error)
        return null
      })
      .finally(() => (this.#isAsking = false))
    const late = sleep(this.#deps.clock, STORE_MS, over.signal).then(() => null)
    const answer = await Promise.race([asked, late])
    over.abort()
    return answer
  }

  /** Announces in the store beside Redis, one write at a time: a slow store must not delay the next announcement. */
  async #write(text: string): Promise<void> {
    if (this.#isWriting) return
    this.#isWriting = true
    try {
      await this.#stored.write(this.#deps.fleet.id, text)
    } catch (error) {
      if (!isOutage(error)) this.#report(error)
    } finally {
      this.#isWriting = false
    }
  }
}

/** Logs a line when a role is missing, when it is back, and when settings begin to differ. */
class FleetLog {
  readonly #fleet: Fleet
  readonly #logger: FleetDeps['logger']
  #missing: readonly string[] = []
  #differing = ''

  constructor(fleet: Fleet, logger: FleetDeps['logger']) {
    this.#fleet = fleet
    this.#logger = logger
  }

  note(): void {
    const { missingRoles, differing } = this.#fleet
    for (const role of missingRoles)
      if (!this.#missing.includes(role))
        this.#logger.warn(
          { role },
          `no process has the role ${role}; requests that need it are refused with 503 role_missing until one starts`
        )
    for (const role of this.#missing)
      if (!missingRoles.some((each) => each === role))
        this.#logger.info({ role }, `a process has the role ${role} again`)
    this.#missing = missingRoles
    const names = differing.join(', ')
    if (names !== this.#differing && names !== '')
      this.#logger.warn(
        { settings: differing },
        `this process differs from the others of its service in ${names}; give all of them the same value`
      )
    this.#differing = names
  }
}
