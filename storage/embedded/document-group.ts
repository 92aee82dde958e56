import type { Clock } from '../../src/ports.ts'
import { ServiceError } from '../../src/kernel/errors.ts'
import type { Database } from './database.ts'
import { DocumentStage } from './document-stage.ts'

/** A change that waits for its group. */
interface Waiting {
  readonly run: (stage: DocumentStage) => void
  readonly isSynced: boolean
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

/**
 * Maximum changes that one write makes durable: about 5 ms of CPU time, so that a block waits no longer than for another
 * block.
 */
const GROUP_MAX = 500
/** Maximum waiting changes: five seconds at 2,000 a second. Further ones are refused. */
const WAITING_MAX = 10_000
/**
 * Milliseconds that a hot value waits for others to share its write. At 2,000 a second 200 of them share one, and a block
 * meets one of ten writes a second.
 */
export const HOT_GATHER_MS = 100
/**
 * Milliseconds that a document stored with `isSoon` waits. At a hundred submissions a second it shares the write of the next
 * one.
 */
export const SOON_GATHER_MS = 20
/**
 * Urgent changes that begin a group before the requests that came with them are read. The signatures of as many submissions
 * take a millisecond of CPU time.
 */
const EAGER = 8
/** Interval of sweeps for expired documents, in milliseconds. */
const SWEEP_EVERY_MS = 1_000

/**
 * Writes changes of documents in the order in which they came, many with one durable write (group commit).
 *
 * G1: one group is under way at a time, so that blocks and groups alternate.
 * G2: a change sees the changes before it, also of its own group.
 * G3: each change is answered after its group is on disk; a group of scratch documents alone, after the engine has it. If
 *     that fails, all changes of the group are rejected.
 */
export class DocumentGroups {
  readonly #database: Database
  readonly #clock: Clock
  #waiting: Waiting[] = []
  /** Changes that want their group at once. */
  #urgent = 0
  #immediate: NodeJS.Immediate | null = null
  #isWriting = false
  #timer: unknown = null
  #timerAtMs = Infinity
  /** Maximum milliseconds that waiting changes are gathered. */
  #gatherMs = HOT_GATHER_MS
  #sweepTimer: unknown = null
  #sweepAtMs = -Infinity
  #isClosed = false

  constructor(database: Database, clock: Clock) {
    this.#database = database
    this.#clock = clock
  }

  /**
   * Makes a change with the next group. Unless a group is under way, it begins once the requests that came with this one are
   * read. A group costs about 100 µs of CPU time, so simultaneous requests had better share one.
   */
  change<T>(change: (stage: DocumentStage) => T, isSynced = true): Promise<T> {
    const changed = this.#add(change, isSynced)
    this.#urgent++
    this.#begin()
    return changed
  }

  /**
   * Makes a change with the next group. Unless a group is under way, it begins within `ms`, so that other changes share its
   * write.
   */
  changeWithin<T>(ms: number, change: (stage: DocumentStage) => T): Promise<T> {
    const changed = this.#add(change)
    this.#gatherMs = Math.min(this.#gatherMs, ms)
    this.#begin()
    return changed
  }

  /** Hands all waiting changes to the database, before it closes; later changes are refused. */
  close(): void {
    this.#isClosed = true
    this.#clearTimers()
    this.#clock.clearTimeout(this.#sweepTimer)
    if (this.#waiting.length > 0) void this.#write(WAITING_MAX)
  }

  #add<T>(change: (stage: DocumentStage) => T, isSynced = true): Promise<T> {
    if (this.#isClosed) return Promise.reject(refused('the store is closed'))
    if (this.#waiting.length >= WAITING_MAX)
      return Promise.reject(refused(`${WAITING_MAX} changes of documents wait to be written`))
    return new Promise((resolve, reject) => {
      let answer: T
      this.#waiting.push({
        run: (stage) => void (answer = change(stage)),
        isSynced,
        resolve: () => resolve(answer),
        reject
      })
    })
  }

  #begin(): void {
    if (this.#isWriting || this.#isClosed || this.#waiting.length === 0) return
    const begin = (): void => void this.#writeNext()
    if (this.#urgent >= EAGER || this.#waiting.length >= GROUP_MAX) begin()
    else if (this.#urgent > 0) this.#immediate ??= setImmediate(begin)
    else this.#beginWithin(this.#gatherMs, begin)
  }

  #beginWithin(ms: number, begin: () => void): void {
    const atMs = this.#clock.now() + ms
    if (this.#timer !== null && atMs >= this.#timerAtMs) return
    this.#clock.clearTimeout(this.#timer)
    this.#timer = this.#clock.setTimeout(begin, ms)
    this.#timerAtMs = atMs
  }

  async #writeNext(): Promise<void> {
    this.#clearTimers()
    this.#isWriting = true
    await this.#write(GROUP_MAX)
    this.#isWriting = false
    this.#begin()
  }

  #clearTimers(): void {
    if (this.#immediate !== null) clearImmediate(this.#immediate)
    this.#immediate = null
    this.#clock.clearTimeout(this.#timer)
    this.#timer = null
  }

  /** Writes the waiting changes, including those that come until the database begins with them. Never rejects. */
  async #write(most: number): Promise<void> {
    const group: Waiting[] = []
    let hasBegun = false
    try {
      await this.#database.write(async (view, batch) => {
        const stage = new DocumentStage(view, batch, this.#clock.now())
        if (stage.nowMs >= this.#sweepAtMs) await this.#sweep(stage)
        // The sweep took its time, and changes came meanwhile.
        stage.nowMs = this.#clock.now()
        this.#urgent = Math.max(0, this.#waiting.length - most)
        this.#gatherMs = HOT_GATHER_MS
        hasBegun = true
        group.push(...this.#waiting.splice(0, most).filter((each) => ran(each, stage)))
        if (stage.isEmpty) return null
        return { kind: group.some((each) => each.isSynced) ? 'documents' : 'scratch documents' }
      })
      for (const each of group) each.resolve()
    } catch (error) {
      // A database that has failed begins with no group; then all waiting changes are refused.
      for (const each of hasBegun ? group : this.#waiting.splice(0)) each.reject(error)
    }
  }

  /** Deletes a bounded number of expired documents, and schedules the next sweep if there are more. */
  async #sweep(stage: DocumentStage): Promise<void> {
    this.#sweepAtMs = stage.nowMs + SWEEP_EVERY_MS
    if (!(await stage.sweep()) || this.#isClosed) return
    this.#clock.clearTimeout(this.#sweepTimer)
    this.#sweepTimer = this.#clock.setTimeout(() => this.sweep(), SWEEP_EVERY_MS)
  }

  /** Begins a group that deletes expired documents, if there are any. */
  sweep(): void {
    this.change(() => undefined, false).catch(() => undefined)
  }
}

/** Runs a change. One that throws has staged nothing, and is rejected alone. */
function ran(each: Waiting, stage: DocumentStage): boolean {
  try {
    each.run(stage)
    return true
  } catch (error) {
    each.reject(error)
    return false
  }
}

const refused = (why: string): ServiceError => new ServiceError('STORAGE_UNAVAILABLE', why)
