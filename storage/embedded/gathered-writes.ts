import { setImmediate as yieldToEventLoop } from 'node:timers/promises'
import type { CopyEngine, Write } from './copy-engine.ts'

/** Maximum writes that share one durable write: about 10 MB. */
const GROUP_MAX = 64

interface Waiting {
  readonly operations: readonly Write[]
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

/**
 * Writes of an engine in their order; those that come in one turn of the event loop, or meanwhile, share a durable write.
 */
export class GatheredWrites {
  readonly #engine: CopyEngine
  #waiting: Waiting[] = []
  #isWriting = false

  constructor(engine: CopyEngine) {
    this.#engine = engine
  }

  /** Writes all or nothing. Resolves once it is durable; rejects with STORAGE_UNAVAILABLE. */
  write(operations: readonly Write[]): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    this.#waiting.push({ operations, resolve, reject })
    if (!this.#isWriting) void this.#run()
    return promise
  }

  /** Never rejects. */
  async #run(): Promise<void> {
    this.#isWriting = true
    await yieldToEventLoop()
    while (this.#waiting.length > 0) {
      const group = this.#waiting.splice(0, GROUP_MAX)
      try {
        await this.#engine.write(group.flatMap(({ operations }) => operations))
        for (const { resolve } of group) resolve()
      } catch (error) {
        for (const { reject } of group) reject(error)
      }
    }
    this.#isWriting = false
  }
}
