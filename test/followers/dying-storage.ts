import { ERRORS, ServiceError } from '../../src/kernel/errors.ts'
import type { Storage } from '../../storage/port.ts'

type Store = Pick<Storage, 'documents' | 'holders' | 'ledger' | 'isShared'>
type Call = (...args: unknown[]) => Promise<unknown>

/** The operations that write. */
const WRITES = new Set(['put', 'drop', 'clear', 'delete', 'putFenced', 'fence'])

/** A store for a process that dies at a write: afterwards every operation answers with an error. */
export class DyingStorage {
  #left = Infinity
  #isAfter = false
  isDead = false
  /** Some writes wait until it has resolved; null if no write waits. */
  hold: Promise<void> | null = null
  /** The store whose writes wait. */
  heldStore: 'holders' | 'ledger' = 'holders'
  /** Number of writes that have waited. */
  held = 0

  /** Dies at a write, counted from 1: before it, or after it is durable and before it is answered. */
  dieAtWrite(count: number, when: 'before' | 'after'): void {
    this.#left = count
    this.#isAfter = when === 'after'
  }

  of({ documents, holders, ledger, isShared }: Store): Store {
    this.isDead = false
    this.#left = Infinity
    return {
      documents: this.#dying('documents', documents),
      holders: this.#dying('holders', holders),
      ledger: this.#dying('ledger', ledger),
      isShared
    }
  }

  #dying<T extends object>(of: keyof Store, store: T): T {
    return new Proxy(store, {
      get: (target, name) => {
        const call = (target as Record<PropertyKey, Call>)[name]!.bind(target)
        return async (...args: unknown[]) => {
          if (this.isDead) throw new Killed()
          if (this.hold !== null && name === 'put' && of === this.heldStore) {
            this.held++
            await this.hold
          }
          if (!WRITES.has(String(name)) || --this.#left > 0) return call(...args)
          this.isDead = true
          if (this.#isAfter) await call(...args)
          throw new Killed()
        }
      }
    })
  }
}

class Killed extends ServiceError {
  constructor() {
    super(ERRORS.STORAGE_UNAVAILABLE, 'the process is dead')
  }
}
