import type { WatchedAddress } from '../../src/revenue/watched-address.ts'
import { watchedFrom } from '../../src/revenue/watch-history.ts'
import { WatchedAddresses } from '../../src/revenue/watched-addresses.ts'
import type { Stored } from '../../storage/documents.ts'
import { inChunks } from './in-chunks.ts'
import type { LedgerDeps } from './ledger-deps.ts'

/** Watches whose ledger has not begun, and the newest slot that was read without them. */
export interface FreshWatches {
  readonly fresh: readonly Stored<WatchedAddress>[]
  readonly read: number
}

/** The watches of all tenants whose ledger has begun, as they were listed last. */
export class LedgerWatches {
  readonly #stored: WatchedAddresses
  readonly #blocks: LedgerDeps['blocks']
  #byAddress = new Map<string, WatchedAddress[]>()

  constructor({ storage, blocks }: Pick<LedgerDeps, 'storage' | 'blocks'>) {
    this.#stored = new WatchedAddresses(storage.documents)
    this.#blocks = blocks
  }

  get size(): number {
    return this.#byAddress.size
  }

  get addresses(): readonly string[] {
    return [...this.#byAddress.keys()]
  }

  has(address: string): boolean {
    return this.#byAddress.has(address)
  }

  of(address: string): readonly WatchedAddress[] {
    return this.#byAddress.get(address) ?? []
  }

  /** Lists the watches, and has blocks read for all of them from now on. */
  async list(): Promise<FreshWatches> {
    const all = await this.#stored.all()
    const read = this.#blocks.watch(new Set(all.map(({ value }) => value.address)))
    const begun = all.map(({ value }) => value).filter(({ captureFrom }) => captureFrom !== null)
    this.#byAddress = Map.groupBy(begun, ({ address }) => address)
    return { fresh: all.filter(({ value }) => value.captureFrom === null), read }
  }

  /** Begins ledgers, and lists the watches again. */
  async begin(
    fresh: FreshWatches['fresh'],
    captureFrom: NonNullable<WatchedAddress['captureFrom']>
  ): Promise<void> {
    await inChunks(fresh, async (each) => this.#stored.begin(each, captureFrom))
    await this.list()
  }

  /**
   * Returns the slots after one in which blocks were read without an address whose ledger had begun, or null. Another
   * process has begun it.
   */
  unheard(after: number): { readonly from: number; readonly to: number } | null {
    const missing = [...this.#byAddress].flatMap(([address, watches]) => {
      const begun = Math.min(...watches.map(({ captureFrom, history }) => watchedFrom(captureFrom!, history)))
      const from = Math.max(after + 1, begun)
      const to = this.#blocks.readWithout(address)
      return from <= to ? [{ from, to }] : []
    })
    if (missing.length === 0) return null
    return {
      from: Math.min(...missing.map(({ from }) => from)),
      to: Math.max(...missing.map(({ to }) => to))
    }
  }
}
