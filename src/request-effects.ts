import { AsyncLocalStorage } from 'node:async_hooks'
import { UnknownOutcome } from './errors.ts'

/**
 * The writes of one request. They tell whether a request that fails, or whose time is over, took effect. They follow the
 * request's asynchronous context, so that a handler need not announce its writes.
 *
 * E1. A write that is refused has no effect. One that is under way, or whose answer was lost, may have one.
 * E2. After `refuse`, no further write begins.
 * E3. `ended` resolves when the request is answered. Work of the request that is still under way holds up no other one.
 */
export class RequestEffects {
  #pending = 0
  #hasEffect = false
  #isLost = false
  #refusal: Error | null = null
  readonly #end = Promise.withResolvers<void>()

  /** Whether the request has changed something, or may have. */
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

  /** Throws the error that further writes are refused with, if they are. */
  assertAllowed(): void {
    if (this.#refusal !== null) throw this.#refusal
  }

  /** Refuses further writes with an error. */
  refuse(error: Error): void {
    this.#refusal = error
  }

  /** Runs a write. `isDone` tells whether its outcome means that something was changed. */
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

/** Runs the work of a request, whose writes are noted in `effects`. */
export const withEffects = <T>(effects: RequestEffects, work: () => Promise<T>): Promise<T> =>
  current.run(effects, work)

/** The effects of the present request; null outside of a request that changes something. */
export const currentEffects = (): RequestEffects | null => current.getStore() ?? null

/** Runs work whose writes are no effect of the request, such as notes about the request itself. */
export const withoutEffects = <T>(work: () => Promise<T>): Promise<T> => current.run(null, work)

/** Returns work that runs in the present request's context, however late a queue calls it. */
export const inThisRequest = <T>(work: () => T): (() => T) => AsyncLocalStorage.bind(work)

/** Runs a write of the present request, if there is one. */
export function noted<T>(write: () => Promise<T>, isDone: (outcome: T) => boolean): Promise<T> {
  const effects = current.getStore() ?? null
  return effects === null ? write() : effects.write(write, isDone)
}
