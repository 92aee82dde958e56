import type { DocumentStore } from '../../../../storage/document-store.ts'
import type { Caller } from '../../../access/caller.ts'
import { ExportQuota, secondsToNextDay } from '../../../access/export-quota.ts'
import type { Clock } from '../../../ports.ts'
import { ERRORS, ServiceError } from '../../errors.ts'

/** Maximum exports of a tenant at a time: they hold two pages each, 20 MB together. */
export const EXPORTS_AT_ONCE = 8

interface Needs {
  readonly documents: DocumentStore
  readonly clock: Clock
  readonly draining: () => boolean
}

/** The exports that this process sends, and the rows that keys may still export. */
export class RunningExports {
  readonly #quota: ExportQuota
  readonly #clock: Clock
  readonly #draining: () => boolean
  /** Number of running exports by tenant. */
  readonly #running = new Map<string, number>()

  constructor({ documents, clock, draining }: Needs) {
    this.#quota = new ExportQuota(documents)
    this.#clock = clock
    this.#draining = draining
  }

  /** Number of running exports. */
  get size(): number {
    return this.#running.values().reduce((sum, each) => sum + each, 0)
  }

  /** Whether exports must end, because the process does. */
  isEnding(): boolean {
    return this.#draining()
  }

  /**
   * Admits an export. Returns a function that ends it. Rejects with EXPORT_REFUSED, EXPORT_ROWS_EXCEEDED or
   * CONNECTIONS_EXCEEDED.
   */
  async enter(caller: Caller): Promise<() => void> {
    if (caller.exportRowsPerDay === 0)
      throw new ServiceError(
        ERRORS.EXPORT_REFUSED,
        'this key may export no rows; give limit to read them page by page'
      )
    const { tenant } = caller
    const running = this.#running.get(tenant) ?? 0
    if (running >= EXPORTS_AT_ONCE)
      throw new ServiceError(
        ERRORS.CONNECTIONS_EXCEEDED,
        `this tenant has ${running} running exports, the most that a process sends to one`
      )
    this.#running.set(tenant, running + 1)
    let isOver = false
    const leave = (): void => {
      if (isOver) return
      isOver = true
      const left = this.#running.get(tenant)! - 1
      if (left > 0) this.#running.set(tenant, left)
      else this.#running.delete(tenant)
    }
    try {
      if ((await this.left(caller)) === 0) throw this.usedUp(caller)
    } catch (error) {
      leave()
      throw error
    }
    return leave
  }

  /** Returns the rows that a key may still export today. */
  left(caller: Caller): Promise<number> {
    return this.#quota.left(caller, this.#clock.now())
  }

  /** Counts rows before they are sent. Returns how many of them are within the quota of the day. */
  take(caller: Caller, rows: number): Promise<number> {
    return this.#quota.take(caller, rows, this.#clock.now())
  }

  /** Returns the refusal of rows beyond the quota. */
  usedUp({ exportRowsPerDay: limit }: Caller): ServiceError {
    const seconds = secondsToNextDay(this.#clock.now())
    return new ServiceError(
      ERRORS.EXPORT_ROWS_EXCEEDED,
      `this key may export ${limit} rows a day; the next day begins in ${seconds} s`,
      { members: { limit, window_seconds: 86_400, retry_after: seconds } }
    )
  }
}
