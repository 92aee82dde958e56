import { ERRORS, ServiceError } from '../../src/kernel/errors.ts'
import { byName, RECORD_NAMES } from '../../src/market/records.ts'
import type { RecordStores, Storage } from '../../storage/port.ts'

type Methods<Store> = Store extends (...args: never[]) => unknown ? never : keyof NonNullable<Store> & string

/** An operation of the port, such as `trades.ofMint` or `blocks.commit`. */
export type StorageOperation = {
  [Store in keyof Storage]: `${Store}.${Methods<Storage[Store]>}`
}[Exclude<
  keyof Storage,
  | 'close'
  | 'failed'
  | 'outage'
  | 'damage'
  | 'recordCache'
  | 'accountPages'
  | 'readings'
  | 'waitingReads'
  | 'answeredAtMs'
>]

/** A fault of the n-th call of an operation, counted from 1. */
export interface StorageFault {
  readonly operation: StorageOperation
  readonly nth: number
  /**
   * `fail` rejects without calling the store; `fail-after` lets the store do it and loses the answer; `delay` calls the
   * store once `until` has resolved.
   */
  readonly effect:
    | { readonly kind: 'fail' }
    | { readonly kind: 'fail-after' }
    | { readonly kind: 'delay'; readonly until: Promise<void> }
}

export interface FaultyStorage {
  readonly storage: Storage
  /** Faults that have not happened. A test that ends with any has not tested them. */
  readonly unfired: () => readonly StorageFault[]
}

type Call = (...args: unknown[]) => Promise<unknown>

/**
 * A store whose operations fail or wait as the faults say, and otherwise behave like those of the given store. For tests.
 */
export function withFaults(storage: Storage, faults: readonly StorageFault[]): FaultyStorage {
  const calls = new Map<string, number>()
  const unfired = new Set(faults)

  const faulty = (operation: string, call: Call): Call => {
    return async (...args) => {
      const nth = (calls.get(operation) ?? 0) + 1
      calls.set(operation, nth)
      const fault = faults.find((fault) => fault.operation === operation && fault.nth === nth)
      if (fault === undefined) return call(...args)
      unfired.delete(fault)
      switch (fault.effect.kind) {
        case 'fail':
          throw injected(fault)
        case 'fail-after':
          await call(...args)
          throw injected(fault)
        case 'delay':
          await fault.effect.until
          return call(...args)
      }
    }
  }

  const withFaults = <Store extends object>(name: string, methods: Store): Store =>
    Object.fromEntries(
      Object.entries(methods as Record<string, Call>).map(([method, call]) => [
        method,
        faulty(`${name}.${method}`, call.bind(methods))
      ])
    ) as Store

  return {
    storage: {
      ...byName<RecordStores>(RECORD_NAMES, (name) => withFaults(name, storage[name])),
      blocks: withFaults('blocks', storage.blocks),
      history: withFaults('history', storage.history),
      coverage: withFaults('coverage', storage.coverage),
      documents: withFaults('documents', storage.documents),
      programAccounts: storage.programAccounts,
      holders: storage.holders,
      ledger: withFaults('ledger', storage.ledger),
      isShared: storage.isShared,
      commitGroupMax: storage.commitGroupMax,
      journal: storage.journal === null ? null : withFaults('journal', storage.journal),
      get recordCache() {
        return storage.recordCache
      },
      accountPages: storage.accountPages,
      readings: storage.readings,
      questions: storage.questions,
      get waitingReads() {
        return storage.waitingReads
      },
      get answeredAtMs() {
        return storage.answeredAtMs
      },
      usage: () => storage.usage(),
      sweeper:
        storage.sweeper === null ? null : withFaults('sweeper', { step: () => storage.sweeper!.step() }),
      get outage() {
        return storage.outage
      },
      get damage() {
        return storage.damage
      },
      get losses() {
        return storage.losses
      },
      failed: storage.failed,
      close: () => storage.close()
    },
    unfired: () => [...unfired]
  }
}

function injected(fault: StorageFault): ServiceError {
  return new ServiceError(
    ERRORS.STORAGE_UNAVAILABLE,
    `call ${fault.nth} of ${fault.operation} fails on purpose`
  )
}
