import { RateWindow } from '../../src/access/rate-window.ts'
import type { HintChannel, Lease, Leases, Peers } from '../../src/coordination.ts'
import { sleep, type Clock } from '../../src/ports.ts'

const LEASE_MS = 6_000
const RENEW_MS = 2_000
const MARGIN_MS = 600

/** What processes agree by, which can be away. */
export class FakePeers {
  readonly clock: Clock
  away = false
  /** Whether hints arrive nowhere. */
  deaf = false
  hints = 0
  #holder: object | null = null
  #untilMs = 0
  #token = 0
  readonly #followers = new Map<object, Set<(slot: number | null) => void>>()

  constructor(clock: Clock) {
    this.clock = clock
  }

  get holder(): object | null {
    return this.#untilMs > this.clock.now() ? this.#holder : null
  }

  /** Lets the lease end at once, as a server that has lost its memory does; its holder learns of it by its clock alone. */
  forget(): void {
    this.#untilMs = 0
    this.#holder = null
  }

  /** As one process deals with them. */
  of(process: object): Peers {
    this.#followers.set(process, new Set())
    const leases: Leases = { acquire: async () => this.#acquire(process) }
    const commits: HintChannel<number> = {
      available: true,
      tell: (slot) => {
        if (this.away || this.deaf) return
        this.hints++
        for (const [other, followers] of this.#followers) {
          if (other !== process) for (const follower of followers) follower(slot)
        }
      },
      follow: (heard) => {
        const followers = this.#followers.get(process)!
        followers.add(heard)
        return () => void followers.delete(heard)
      }
    }
    return {
      leases,
      commits,
      keys: null,
      limits: new RateWindow(10),
      outage: null,
      close: async () => undefined
    }
  }

  #acquire(process: object): Lease | null {
    const { clock } = this
    if (this.away || this.holder !== null) return null
    this.#holder = process
    this.#untilMs = clock.now() + LEASE_MS
    const token = ++this.#token
    const lost = new AbortController()
    let deadlineMs = clock.now() + LEASE_MS - MARGIN_MS
    const keep = async (): Promise<void> => {
      while (!lost.signal.aborted) {
        await sleep(clock, Math.min(RENEW_MS, deadlineMs - clock.now()), lost.signal)
        if (clock.now() >= deadlineMs)
          lost.abort(new Error('a lease was lost: it could not be renewed in time'))
        else if (!this.away && this.#token === token && this.#holder === process) {
          this.#untilMs = clock.now() + LEASE_MS
          deadlineMs = this.#untilMs - MARGIN_MS
        }
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
        if (!this.away && this.#token === token) this.forget()
      }
    }
  }
}
