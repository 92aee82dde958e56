import { ServiceError } from '../kernel/errors.ts'
import { ChangeLine } from './change-line.ts'

/** Maximum changes that run or wait; a further one is refused. */
const WAITING_MAX = 100

/**
 * Runs changes of data that is held in memory one after another. After a change whose outcome is unknown, `reload` makes
 * memory follow the store, before the next change.
 */
export class ChangeQueue {
  readonly #line = new ChangeLine()
  readonly #reload: () => Promise<void>
  #isUncertain = false

  constructor(reload: () => Promise<void>) {
    this.#reload = reload
  }

  /** Reloads in turn. Rejects with the store's error. */
  reload(): Promise<void> {
    return this.#line.run(() => this.#reloadNow())
  }

  /** Runs a change in turn. Rejects with its error, or with STORAGE_UNAVAILABLE if too many wait. */
  async run<T>(change: () => Promise<T>): Promise<T> {
    if (this.#line.size >= WAITING_MAX)
      throw new ServiceError('STORAGE_UNAVAILABLE', 'too many changes of keys are waiting; retry')
    return this.#line.run(
      async () => {
        if (this.#isUncertain) await this.#reloadNow()
        return change()
      },
      (effects) => {
        if (effects?.isUncertain === true) this.#reloadSoon()
      }
    )
  }

  async #reloadNow(): Promise<void> {
    await this.#reload()
    this.#isUncertain = false
  }

  #reloadSoon(): void {
    this.#isUncertain = true
    // If it fails, the next change reloads.
    void this.reload().catch(() => undefined)
  }
}
