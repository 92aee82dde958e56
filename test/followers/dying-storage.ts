import { ServiceError } from '../../src/kernel/errors.ts'
import type { NewDocumentRow } from '../../storage/document-store.ts'
import type { Storage } from '../../storage/port.ts'

type Store = Pick<Storage, 'documents' | 'holders' | 'isShared'>
type Call = (...args: unknown[]) => Promise<unknown>

/** The operations that write. */
const WRITES = new Set(['put', 'drop', 'clear', 'delete', 'putFenced', 'fence'])

/** A store for a process that dies at a write: afterwards every operation answers with an error. */
export class DyingStorage {
  #holders: Store['holders'] | null = null
  #left = Infinity
  #isAfter = false
  isDead = false
  /** Some writes wait until it has resolved; null if no write waits. */
  hold: Promise<void> | null = null
  /** The documents whose writes wait, by kind; null for rows of lists. */
  heldKind: string | null = null
  /** Number of writes that have waited. */
  held = 0

  /** Dies at a write, counted from 1: before it, or after it is durable and before it is answered. */
  dieAtWrite(count: number, when: 'before' | 'after'): void {
    this.#left = count
    this.#isAfter = when === 'after'
  }

  of({ documents, holders, isShared }: Store): Store {
    this.isDead = false
    this.#left = Infinity
    this.#holders = holders
    return { documents: this.#dying(documents), holders: this.#dying(holders), isShared }
  }

  #isHeld(target: object, [row]: readonly unknown[]): boolean {
    if (this.heldKind === null) return target === this.#holders
    return target !== this.#holders && (row as NewDocumentRow).address.kind === this.heldKind
  }

  #dying<T extends object>(store: T): T {
    return new Proxy(store, {
      get: (target, name) => {
        const call = (target as Record<PropertyKey, Call>)[name]!.bind(target)
        return async (...args: unknown[]) => {
          if (this.isDead) throw new Killed()
          if (this.hold !== null && name === 'put' && this.#isHeld(target, args)) {
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
    super('STORAGE_UNAVAILABLE', 'the process is dead')
  }
}
