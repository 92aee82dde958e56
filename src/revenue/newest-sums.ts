import type { LedgerSum } from './ledger-document.ts'

/** Maximum cached addresses: those of ten tenants. An address with ten mints takes 4 KB. */
const ADDRESSES_MAX = 2_000
/** Maximum cached mints of one address: those of a busy block. */
const MINTS_MAX = 64

/** The newest sums of a mint. */
export type NewestSum = Pick<LedgerSum, 'slot' | 'total'>

/** The newest stored sums of addresses by mint, so that the next ones need no read. */
export class NewestSums {
  readonly #addresses = new Map<string, Map<string, NewestSum>>()

  /** Returns the newest sums and removes them; they are put back once the next ones are stored. */
  take(address: string, mint: string): NewestSum | undefined {
    const mints = this.#addresses.get(address)
    const newest = mints?.get(mint)
    mints?.delete(mint)
    return newest
  }

  put(address: string, mint: string, newest: NewestSum): void {
    const mints = this.#addresses.get(address) ?? new Map<string, NewestSum>()
    // The oldest entry comes first.
    this.#addresses.delete(address)
    this.#addresses.set(address, mints.set(mint, newest))
    evict(mints, MINTS_MAX)
    evict(this.#addresses, ADDRESSES_MAX)
  }

  forget(address: string): void {
    this.#addresses.delete(address)
  }
}

function evict<Value>(map: Map<string, Value>, max: number): void {
  for (const key of map.keys()) {
    if (map.size <= max) return
    map.delete(key)
  }
}
