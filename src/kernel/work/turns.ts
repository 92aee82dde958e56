import { setImmediate as yieldToEventLoop } from 'node:timers/promises'
import { ERRORS, ServiceError } from '../errors.ts'
import type { Clock } from '../../ports.ts'
import { forTenant } from './current-tenant.ts'
import { LoopHold } from './loop-hold.ts'
import { TurnOrder } from './turn-order.ts'

/** Maximum concurrent pieces of work: of all tenants, and of one. Fewer of one, so that other tenants find a place. */
export interface Places {
  readonly all: number
  readonly ofTenant: number
}

/** Places on a store in this process: while the threads of the store read for some pieces, others compute. */
export const LOCAL_PLACES: Places = { all: 8, ofTenant: 6 }
/** Places on a cluster: a piece waits some milliseconds for each read. */
export const CLUSTER_PLACES: Places = { all: 64, ofTenant: 48 }
/** Milliseconds of queued work that begins in one iteration of the event loop: imperceptible to clients. */
const SLICE_MS = 1
/**
 * Milliseconds after the first piece of an iteration of the event loop in which further pieces begin at once. A burst of
 * concurrent requests is begun in several iterations.
 */
const BURST_MS = 2
/**
 * Pieces that begin in one iteration of the event loop and do not end at once: even if each takes the 5 ms that a piece may
 * take, sockets are polled within 50 ms. What has ended counts with its time (BURST_MS).
 */
const PIECES_PER_POLL = 9
/** Maximum milliseconds that an answer is queued; most clients wait no longer. */
const WAIT_MS = 10_000

/** The running turn of work that may take several turns. */
export interface TurnHandle {
  /**
   * Ends this turn and resolves when the work's next turn begins, once the event loop has served its sockets. Rejects as
   * `Turns.run` does; the work has no turn then.
   */
  again(signal?: AbortSignal): Promise<void>
}

/** Runs a piece of the work of one request when it is its turn. */
export type RunPiece = <T>(piece: () => Promise<T>) => Promise<T>

/** Runs pieces at once: for a process with one user, such as an offline command. */
export const atOnce: RunPiece = (piece) => piece()

/** Runs pieces without a tenant, each once the event loop has served its sockets. */
export const afterSockets: RunPiece = (piece) => yieldToEventLoop().then(piece)

/** The methods of `Turns` that work needs. */
export type TakeTurns = Pick<Turns, 'run'>

/** Runs all work at once: for a process with one user. */
export const TURNS_AT_ONCE: TakeTurns = {
  run: async (_tenant, work) => work({ again: async () => undefined })
}

export interface TurnOptions {
  /** Ends the wait with the signal's reason. */
  readonly signal?: AbortSignal
  /** Whether it waits without limit, because no client waits for its answer. */
  readonly isPatient?: boolean
}

/** How work waits, and the callback if the wait fails. */
interface Waiting {
  readonly signal: AbortSignal | undefined
  readonly isPatient?: boolean | undefined
  readonly reject: (reason: Error) => void
}

/** Begins queued work. Returns whether it runs only after this call returns. */
type Begin = () => boolean

export interface TurnDeps {
  readonly clock: Clock
  /** Monotonic time in milliseconds. */
  readonly elapsedMs: () => number
  /** Calls back once the event loop has served its sockets. */
  readonly afterSockets: (run: () => void) => void
}

/** The event loop and the time of this process. */
export const processTurns = (clock: Clock): TurnDeps => ({
  clock,
  elapsedMs: () => performance.now(),
  afterSockets: (run) => void setImmediate(run)
})

/**
 * Gives the work of tenants turns, so that a tenant with a thousand requests delays only itself. A few pieces of work run at
 * once, and the tenant that has used the least time is next (`TurnOrder`). Between two pieces the event loop serves its
 * sockets. A piece should hold the event loop for at most 5 ms at a time: longer work takes several turns.
 */
export class Turns {
  readonly #deps: TurnDeps
  readonly #places: Places
  readonly #order = new TurnOrder<Begin>()
  readonly #usedMs = new Map<string, number>()
  #running = 0
  #isFilling = false
  /** How long the pieces of an iteration of the event loop hold it. */
  readonly hold = new LoopHold()

  constructor(deps: TurnDeps, places = LOCAL_PLACES) {
    this.#deps = deps
    this.#places = places
  }

  /** Number of queued pieces of work. */
  get waiting(): number {
    return this.#order.waiting
  }

  /** Number of running pieces of work. */
  get running(): number {
    return this.#running
  }

  /** Number of tenants with queued or running work, or with more used time than the others. */
  get tenants(): number {
    return this.#order.owners
  }

  /** Milliseconds that the pieces of each tenant have taken since the start. */
  get usedMs(): ReadonlyMap<string, number> {
    return this.#usedMs
  }

  /** Number of queued pieces of a tenant. */
  waitingOf(tenant: string): number {
    return this.#order.waitingOf(tenant)
  }

  /** Returns whether work of a tenant would begin at once. */
  isFree(tenant: string): boolean {
    return (
      this.#running < this.#places.all &&
      this.#order.runningOf(tenant) < this.#places.ofTenant &&
      this.#order.waiting === 0 &&
      this.hold.slices < PIECES_PER_POLL &&
      (this.hold.beganMs === null || this.#deps.elapsedMs() - this.hold.beganMs <= BURST_MS)
    )
  }

  /**
   * Calls `work` when it is the tenant's turn, and resolves or rejects as `work` does. Unless it is patient, rejects with
   * DEADLINE_EXCEEDED after WAIT_MS of waiting, or with the signal's reason if it aborts before the turn; `work` is then not
   * called.
   */
  async run<T>(
    tenant: string,
    work: (turn: TurnHandle) => T | Promise<T>,
    { signal, isPatient }: TurnOptions = {}
  ): Promise<T> {
    signal?.throwIfAborted()
    if (this.isFree(tenant)) {
      this.#order.start(tenant)
      return this.#begin(tenant, work)
    }
    return new Promise<T>((resolve, reject) =>
      this.#wait(tenant, 'add', { signal, isPatient, reject }, () => {
        resolve(this.#begin(tenant, work))
        return false
      })
    )
  }

  /** Calls `work`, which ends before it returns, at once. To be called only if `isFree`. */
  runNow(tenant: string, work: () => void): void {
    this.#order.start(tenant)
    const began = this.#start(tenant)
    try {
      work()
    } finally {
      this.#end(tenant, began)
    }
  }

  /** Calls `work`, which already counts as running. */
  async #begin<T>(tenant: string, work: (turn: TurnHandle) => T | Promise<T>): Promise<T> {
    let began: number | null = this.#start(tenant)
    let isOver = false
    let next: Promise<void> | null = null
    const end = (): void => {
      if (began !== null) this.#end(tenant, began)
      began = null
    }
    const again = (signal: AbortSignal | undefined): Promise<void> => {
      if (isOver) return Promise.reject(signal?.aborted === true ? (signal.reason as Error) : waitedTooLong())
      end()
      return new Promise<void>((resolve, reject) => {
        if (signal?.aborted === true) return reject(signal.reason as Error)
        this.#wait(tenant, 'addBegun', { signal, reject }, () => {
          began = this.#start(tenant)
          if (isOver) end()
          resolve()
          return true
        })
      })
    }
    try {
      // Two sections of the work that both end a slice share their next turn.
      const turn: TurnHandle = {
        again: (signal) => (next ??= again(signal).finally(() => (next = null)))
      }
      return await forTenant(tenant, () => work(turn))
    } finally {
      isOver = true
      end()
    }
  }

  /** Takes a place. Returns the time. */
  #start(tenant: string): number {
    if (!this.#usedMs.has(tenant)) this.#usedMs.set(tenant, 0)
    this.#running++
    const nowMs = this.#deps.elapsedMs()
    if (this.hold.begin(nowMs)) this.#deps.afterSockets(() => this.hold.end(this.#deps.elapsedMs()))
    return nowMs
  }

  /** Releases a place that was taken at `began`. */
  #end(tenant: string, began: number): void {
    this.#running--
    this.hold.endSlice(began)
    const tookMs = this.#deps.elapsedMs() - began
    this.#usedMs.set(tenant, this.#usedMs.get(tenant)! + tookMs)
    this.#order.end(tenant, tookMs)
    this.#fillSoon()
  }

  /** Calls `start` when it is the tenant's turn, or `reject` as `run` states. */
  #wait(tenant: string, add: 'add' | 'addBegun', { signal, isPatient, reject }: Waiting, start: Begin): void {
    const { clock } = this.#deps
    const settle = (): void => {
      if (timer !== null) clock.clearTimeout(timer)
      signal?.removeEventListener('abort', leave)
    }
    const begin: Begin = () => {
      settle()
      return start()
    }
    const end = (reason: Error): void => {
      settle()
      this.#order.remove(tenant, begin)
      reject(reason)
    }
    const leave = (): void => end(signal!.reason as Error)
    const timer = isPatient === true ? null : clock.setTimeout(() => end(waitedTooLong()), WAIT_MS)
    signal?.addEventListener('abort', leave)
    this.#order[add](tenant, begin)
    this.#fillSoon()
  }

  #fillSoon(): void {
    if (this.#isFilling || this.#order.waiting === 0 || this.#running >= this.#places.all) return
    this.#isFilling = true
    this.#deps.afterSockets(() => {
      this.#isFilling = false
      if (this.#fill()) this.#fillSoon()
    })
  }

  /** Begins queued pieces for SLICE_MS. Returns false if no further piece may begin before a running one ends. */
  #fill(): boolean {
    const untilMs = this.#deps.elapsedMs() + SLICE_MS
    while (this.hold.slices < PIECES_PER_POLL) {
      const begin = this.#running < this.#places.all ? this.#order.next(this.#places.ofTenant) : null
      if (begin === null) return false
      // Its time can be measured only after it has run.
      if (begin() || this.#deps.elapsedMs() >= untilMs) return true
    }
    return true
  }
}

const waitedTooLong = (): ServiceError =>
  new ServiceError(
    ERRORS.DEADLINE_EXCEEDED,
    'other requests of this tenant took all the time that it has; send fewer at once'
  )
