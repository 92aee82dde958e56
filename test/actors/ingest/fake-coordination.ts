import { RateWindow } from '../../../src/access/rate-window.ts'
import type {
  HintChannel,
  Lease,
  Leases,
  ClusterCoordination
} from '../../../storage/cluster/coordination.ts'
import { sleep, type Clock } from '../../../src/ports.ts'

const LEASE_MS = 3_000
const RENEW_MS = 1_000
const ATTEMPT_MS = 250
const MARGIN_MS = 300

/** Leases and hints shared by processes. They can be unavailable. */
export class FakeCoordination {
  readonly clock: Clock
  away = false
  /** Processes that cannot reach it, while others can. */
  readonly cutOff = new Set<object>()
  /** Whether all hints are lost. */
  deaf = false
  hints = 0
  /** The last fencing token that was granted. */
  token = 0
  #holder: object | null = null
  #untilMs = 0
  readonly #followers = new Map<object, Set<(slot: number | null) => void>>()

  constructor(clock: Clock) {
    this.clock = clock
  }

  get holder(): object | null {
    return this.#untilMs > this.clock.now() ? this.#holder : null
  }

  /** Ends the lease at once, as a server that lost its memory does. */
  forget(): void {
    this.#untilMs = 0
    this.#holder = null
  }

  /** Returns the coordination as one process sees it. */
  of(process: object): ClusterCoordination {
    this.#followers.set(process, new Set())
    const leases: Leases = { acquire: async (_name, above = 0) => this.#acquire(process, above) }
    const outage = () => (this.away || this.cutOff.has(process) ? { sinceMs: 0, detail: 'away' } : null)
    const commits: HintChannel<number> = {
      available: true,
      publish: (slot) => {
        if (this.away || this.deaf) return
        this.hints++
        for (const [other, followers] of this.#followers) {
          if (other !== process) for (const follower of followers) follower(slot)
        }
      },
      subscribe: (heard) => {
        const followers = this.#followers.get(process)!
        followers.add(heard)
        return () => void followers.delete(heard)
      }
    }
    return {
      leases,
      commits,
      keys: null,
      webhooks: null,
      deliverers: null,
      submissions: null,
      trackers: null,
      tenantEvents: null,
      digests: null,
      presence: null,
      sockets: null,
      slotFloors: null,
      readings: null,
      questions: null,
      answers: null,
      shareAmong: () => undefined,
      limits: new RateWindow(10),
      get outage() {
        return outage()
      },
      close: async () => undefined
    }
  }

  #acquire(process: object, above: number): Lease | null {
    const { clock } = this
    if (this.away || this.cutOff.has(process) || this.holder !== null) return null
    this.#holder = process
    this.#untilMs = clock.now() + LEASE_MS
    const token = (this.token = Math.max(this.token, above) + 1)
    const lost = new AbortController()
    let deadlineMs = clock.now() + LEASE_MS - MARGIN_MS
    const keep = async (): Promise<void> => {
      while (!lost.signal.aborted) {
        const isAway = this.away || this.cutOff.has(process)
        await sleep(clock, isAway ? ATTEMPT_MS : RENEW_MS, lost.signal)
        if (lost.signal.aborted || this.away || this.cutOff.has(process)) continue
        const isFree = this.holder === null && this.token <= token
        if (isFree || (this.#holder === process && this.token === token)) {
          this.#holder = process
          this.token = token
          this.#untilMs = clock.now() + LEASE_MS
          deadlineMs = this.#untilMs - MARGIN_MS
        } else lost.abort(new Error('a lease was lost: the server has given it to another process'))
      }
    }
    void keep()
    return {
      token,
      lost: lost.signal,
      get held() {
        return !lost.signal.aborted && clock.now() < deadlineMs
      },
      release: async () => {
        lost.abort(new Error('a lease was lost: it was released'))
        if (!this.away && this.token === token && this.#holder === process) this.forget()
      }
    }
  }
}
