import { UnknownOutcome, ServiceError } from '../../src/kernel/errors.ts'
import type { Clock } from '../../src/ports.ts'
import type { DocumentStore } from '../../storage/document-store.ts'
import { IDEMPOTENT_REQUEST } from '../../src/kernel/http/idempotency.ts'

/** Milliseconds of a stalled write: beyond the deadline of reads, and within the limit of a change. */
export const STALL_MS = 3_500

/**
 * Faults of a write. `stalled`: it takes effect late. `silent`: it takes effect, and is never answered. `stuck`: it neither
 * takes effect nor is answered. `lost`: it takes effect, and the store answers that it does not know. `unsure`: it has no
 * effect, and the store answers that it does not know. `refused`: the store answers that it did nothing.
 */
export const WRITE_FAULTS = ['stalled', 'silent', 'stuck', 'lost', 'unsure', 'refused'] as const
export type WriteFault = (typeof WRITE_FAULTS)[number]

/**
 * A store of documents in which one write has a fault. It counts the effects; notes about requests themselves do not
 * count.
 */
export class StalledStore {
  /** Writes that took effect since the last `begin`. */
  effects = 0
  readonly #clock: Pick<Clock, 'setTimeout'>
  #fault: { readonly kind: WriteFault; readonly nth: number } | null = null
  #writes = 0
  #reached = Promise.withResolvers<WriteFault>()

  constructor(clock: Pick<Clock, 'setTimeout'>) {
    this.#clock = clock
  }

  /** Starts counting. The n-th write, from 1, has the fault; null for no fault. */
  begin(fault: { readonly kind: WriteFault; readonly nth: number } | null): void {
    this.#fault = fault
    this.effects = 0
    this.#writes = 0
    this.#reached = Promise.withResolvers()
  }

  /** Resolves when the fault has happened. */
  get reached(): Promise<WriteFault> {
    return this.#reached.promise
  }

  over(store: DocumentStore): DocumentStore {
    return new Proxy(store, {
      get: (target, name, receiver) => {
        const put: DocumentStore['put'] = (row, before, options) =>
          this.#write(
            row.address.kind,
            () => target.put(row, before, options),
            (outcome) => typeof outcome !== 'string'
          )
        const remove: DocumentStore['delete'] = (before) =>
          this.#write(
            before.address.kind,
            () => target.delete(before),
            (isDeleted) => isDeleted
          )
        if (name === 'put') return put
        if (name === 'delete') return remove
        const value: unknown = Reflect.get(target, name, receiver)
        return typeof value === 'function' ? (value.bind(target) as unknown) : value
      }
    })
  }

  async #write<T>(kind: string, run: () => Promise<T>, isDone: (outcome: T) => boolean): Promise<T> {
    const write = async (): Promise<T> => {
      const outcome = await run()
      if (isDone(outcome) && kind !== IDEMPOTENT_REQUEST.kind) this.effects++
      return outcome
    }
    if (++this.#writes !== this.#fault?.nth) return write()
    const fault = this.#fault.kind
    if (fault === 'stalled') {
      const stalled = Promise.withResolvers<void>()
      this.#clock.setTimeout(() => stalled.resolve(), STALL_MS)
      this.#reached.resolve(fault)
      await stalled.promise
      return write()
    }
    if (fault === 'silent' || fault === 'lost') await write()
    this.#reached.resolve(fault)
    if (fault === 'silent' || fault === 'stuck') return new Promise(() => undefined)
    if (fault === 'refused') throw new ServiceError('STORAGE_UNAVAILABLE', 'the write is refused')
    throw new UnknownOutcome('no answer', new Error('a timeout'))
  }
}
