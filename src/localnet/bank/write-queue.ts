import PQueue from 'p-queue'
import { ServiceError } from '../../kernel/errors.ts'
import type { ChainStore, SlotWrite } from './bank-store.ts'

/** Maximum number of slots not yet on disk, skipped ones included, so that a slow disk cannot fill memory. */
const PENDING_MAX = 16

/** Writes slots to a chain's store, one after another. After the first failure nothing more is written. */
export class WriteQueue {
  readonly #store: ChainStore
  readonly #queue = new PQueue({ concurrency: 1 })
  #failure: Error | null = null

  constructor(store: ChainStore) {
    this.#store = store
  }

  /** The first failure of a write or of a callback after it; null before the first failure. */
  get failure(): Error | null {
    return this.#failure
  }

  /** Tells whether the queue is full; a further slot must be refused. */
  get isFull(): boolean {
    return this.#queue.size + this.#queue.pending >= PENDING_MAX
  }

  /** Writes a slot, then calls `written`. Rejects with the first failure. */
  write(slot: SlotWrite, written: () => void): Promise<void> {
    return this.#inOrder(async () => {
      await this.#store.write(slot).catch((cause: unknown) => {
        throw new ServiceError('STORAGE_UNAVAILABLE', 'the localnet cannot write its chain', { cause })
      })
      written()
    })
  }

  /** Resolves when all slots queued so far are written. Rejects with the first failure. */
  flush(): Promise<void> {
    return this.#inOrder(async () => undefined)
  }

  /** Closes the store when all slots queued so far are written or have failed. */
  async close(): Promise<void> {
    await this.#queue.onIdle()
    await this.#store.close()
  }

  #inOrder(step: () => Promise<void>): Promise<void> {
    return this.#queue.add(async () => {
      if (this.#failure !== null) throw this.#failure
      try {
        await step()
      } catch (error) {
        this.#failure = error as Error
        throw error
      }
    })
  }
}
