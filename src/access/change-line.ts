import PQueue from 'p-queue'
import { currentEffects, inThisRequest, type RequestEffects } from '../kernel/request-effects.ts'

/**
 * Runs changes of stored data one after another. A change releases its turn when its request is answered, even if the
 * store has not answered, so it delays no later change.
 */
export class ChangeLine {
  readonly #queue = new PQueue({ concurrency: 1 })

  /** Changes that are running or queued. */
  get size(): number {
    return this.#queue.size + this.#queue.pending
  }

  /**
   * Runs a change in turn, with the change's outcome. A change whose request was refused meanwhile does not begin.
   * `left` is called at the end of the turn.
   */
  async run<T>(
    change: () => Promise<T>,
    left: (effects: RequestEffects | null) => void = () => undefined
  ): Promise<T> {
    const effects = currentEffects()
    const outcome = Promise.withResolvers<T>()
    // Its error is thrown below, after the turn.
    outcome.promise.catch(() => undefined)
    const begin = async (): Promise<T> => {
      effects?.assertAllowed()
      return change()
    }
    await this.#queue.add(
      inThisRequest(async () => {
        const done = begin().then(outcome.resolve, outcome.reject)
        await (effects === null ? done : Promise.race([done, effects.ended]))
        left(effects)
      })
    )
    return outcome.promise
  }
}
