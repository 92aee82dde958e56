import { AsyncLocalStorage } from 'node:async_hooks'
import { UnknownOutcome } from './errors.ts'

/**
 * The writes of one request. They determine whether a request that fails or times out took effect. They follow the request's
 * asynchronous context, so that a handler need not announce its writes.
 *
 * E1. A write that is refused has no effect. A write in flight, or whose answer was lost, may have an effect.
 * E2. After `refuse`, no further write begins.
 * E3. `ended` resolves when the request is answered. Work of the request that is still in flight does not delay other
 *     requests.
 */
export class RequestEffects {
  #pending = 0
  #hasEffect = false
  #isLost = false
  #refusal: Error | null = null
  readonly #end = Promise.withResolvers<void>()

  /** Whether the request has changed data, or may have. */
  get mayHaveEffect(): boolean {
    return this.#hasEffect || this.isUncertain
  }

  /** Resolves when the request is answered. */
  get ended(): Promise<void> {
    return this.#end.promise
  }

  /** States that the request is answered. */
  end(): void {
    this.#end.resolve()
  }

  /** Whether a write of the request has no known outcome. */
  get isUncertain(): boolean {
    return this.#isLost || this.#pending > 0
  }

  /** Throws the error of `refuse`, if writes are refused. */
  assertAllowed(): void {
    if (this.#refusal !== null) throw this.#refusal
  }

  /** Refuses further writes with an error. */
  refuse(error: Error): void {
    this.#refusal = error
  }

  /** Runs a write. `isDone` returns whether its outcome means that data was changed. */
  async write<T>(write: () => Promise<T>, isDone: (outcome: T) => boolean): Promise<T> {
    this.assertAllowed()
    this.#pending++
    try {
      const outcome = await write()
      this.#hasEffect ||= isDone(outcome)
      return outcome
    } catch (error) {
      this.#isLost ||= error instanceof UnknownOutcome
      throw error
    } finally {
      this.#pending--
    }
  }
}

const current = new AsyncLocalStorage<RequestEffects | null>()

/** Runs the work of a request, whose writes are recorded in `effects`. */
export const withEffects = <T>(effects: RequestEffects, work: () => Promise<T>): Promise<T> =>
  current.run(effects, work)

/** The effects of the current request; null outside of a request that changes data. */
export const currentEffects = (): RequestEffects | null => current.getStore() ?? null

/** Runs work whose writes do not count as effects of the request, such as notes about the request itself. */
export const withoutEffects = <T>(work: () => Promise<T>): Promise<T> => current.run(null, work)

/** Returns work that runs in the current request's context, however late a queue calls it. */
export const inThisRequest = <T>(work: () => T): (() => T) => AsyncLocalStorage.bind(work)

/** Runs a write of the current request, if there is one. */
export function noted<T>(write: () => Promise<T>, isDone: (outcome: T) => boolean): Promise<T> {
  const effects = current.getStore() ?? null
  return effects === null ? write() : effects.write(write, isDone)
}
