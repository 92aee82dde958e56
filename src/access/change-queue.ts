import PQueue from 'p-queue'
import { ServiceError } from '../errors.ts'
import { currentEffects, inThisRequest, type RequestEffects } from '../request-effects.ts'

/** Changes that may be under way or wait for earlier ones; one more is refused. */
const WAITING_MAX = 100

/**
 * Runs changes of data that is held in memory one after another.
 *
 * Q1. A change gives up its turn when its request is answered, even if the store has not answered: it holds up no later
 *     one.
 * Q2. After a change whose outcome is unknown, `reload` makes memory follow the store, before the next change.
 */
export class ChangeQueue {
  readonly #queue = new PQueue({ concurrency: 1 })
  readonly #reload: () => Promise<void>
  #isUncertain = false

  constructor(reload: () => Promise<void>) {
    this.#reload = reload
  }

  /** Reloads in turn. Rejects with the store's error. */
  reload(): Promise<void> {
    return this.#queue.add(() => this.#reloadNow())
  }

  /** Runs a change in turn. Rejects with its error, or with STORAGE_UNAVAILABLE if too many wait. */
  async run<T>(change: () => Promise<T>): Promise<T> {
    if (this.#queue.size + this.#queue.pending >= WAITING_MAX) {
      throw new ServiceError('STORAGE_UNAVAILABLE', 'too many changes of keys are waiting; try again')
    }
    const effects = currentEffects()
    const outcome = Promise.withResolvers<T>()
    // Its error is thrown below, after the turn.
    outcome.promise.catch(() => undefined)
    await this.#queue.add(
      inThisRequest(async () => {
        const done = this.#run(change, effects).then(outcome.resolve, outcome.reject)
        await (effects === null ? done : Promise.race([done, effects.ended]))
        if (effects?.isUncertain === true) this.#reloadSoon()
      })
    )
    return outcome.promise
  }

  async #run<T>(change: () => Promise<T>, effects: RequestEffects | null): Promise<T> {
    effects?.assertAllowed()
    if (this.#isUncertain) await this.#reloadNow()
    return change()
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
