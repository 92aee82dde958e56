import { setTimeout as delay } from 'node:timers/promises'
import type { DocumentStore } from '../../storage/document-store.ts'
import { ServiceError, UnknownOutcome } from '../../src/errors.ts'
import { IDEMPOTENT_REQUEST } from '../../src/http/idempotency.ts'

/**
 * Fault of the writes of documents: `sound` for none; `stalled`: each takes effect late; `silent`: each takes effect, and its
 * answer comes when nobody waits any more; `lost`: each takes effect, and the store says that it does not know; a number: that write is refused,
 * counted from 1.
 */
export type WriteFault = 'sound' | 'stalled' | 'silent' | 'lost' | number

/** A store of documents with faults, which counts the writes that took effect. Notes about requests themselves are no effect. */
export class StalledStore {
  fault: WriteFault = 'sound'
  /** Writes that took effect since the last `begin`. */
  effects = 0
  #writes = 0
  readonly #ms: Readonly<Record<'stalled' | 'silent', number>>

  /** `ms` has the milliseconds after which a late write takes effect, and a silent one is answered. */
  constructor(ms: Readonly<Record<'stalled' | 'silent', number>>) {
    this.#ms = ms
  }

  /** Counts from here on, with a fault. */
  begin(fault: WriteFault): void {
    this.fault = fault
    this.effects = 0
    this.#writes = 0
  }

  over(store: DocumentStore): DocumentStore {
    const write = <T>(kind: string, run: () => Promise<T>, isDone: (outcome: T) => boolean): Promise<T> =>
      kind === IDEMPOTENT_REQUEST.kind ? run() : this.#write(run, isDone)
    return new Proxy(store, {
      get: (target, name, receiver) => {
        const put: DocumentStore['put'] = (row, before, options) =>
          write(
            row.address.kind,
            () => target.put(row, before, options),
            (outcome) => typeof outcome !== 'string'
          )
        const remove: DocumentStore['delete'] = (before) =>
          write(
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

  async #write<T>(run: () => Promise<T>, isDone: (outcome: T) => boolean): Promise<T> {
    const { fault } = this
    if (++this.#writes === fault) throw new ServiceError('STORAGE_UNAVAILABLE', 'the write is refused')
    if (fault === 'stalled') await delay(this.#ms.stalled)
    const outcome = await run()
    if (isDone(outcome)) this.effects++
    if (fault === 'silent') await delay(this.#ms.silent)
    if (fault === 'lost') throw new UnknownOutcome('no answer', new Error('a timeout'))
    return outcome
  }
}
