import { pubkeyMapKey, type Pubkey } from '../../src/chain/pubkey.ts'
import { SecondChanceCache } from '../../src/kernel/memory/second-chance-cache.ts'
import { BASE_SLOT } from '../../src/holders/row-bytes.ts'
import type {
  HolderListId,
  HolderRow,
  HolderRowKey,
  HolderRowKind,
  HolderStore,
  PresentRow
} from '../../storage/port.ts'

/** Memory of the rows: about 15,000. Accounts that trade often, above all those of pools, change in most blocks. */
const BYTES_MAX = 8 * 2 ** 20
const ROW_BYTES = 350
type RecentKind = 'account' | 'owner' | 'sums'

/**
 * The snapshots of holder lists for their only writer, with recently used rows in memory.
 *
 * R1. A row is in memory as in the store; null if it is absent.
 * R2. If a write may have failed, or a list is replaced, the cache is cleared.
 */
export class RecentRows {
  readonly #store: HolderStore
  readonly #rows = new SecondChanceCache<PresentRow | null>(BYTES_MAX)
  /** Numbers of the lists, which make the names of their rows short. */
  readonly #lists = new Map<string, number>()
  #nextList = 0

  constructor(store: HolderStore) {
    this.#store = store
  }

  /** Reads rows of a snapshot. Rejects with the store's error. */
  async at(list: HolderListId, kind: RecentKind, keys: readonly Pubkey[]): Promise<(PresentRow | null)[]> {
    const prefix = this.#prefixOf(list, kind)
    const found = keys.map((key) => this.#rows.get(nameOf(prefix, key)))
    const unknown = keys.filter((_, i) => found[i] === undefined)
    const read = unknown.length === 0 ? [] : await this.#store.at(list, kind, BASE_SLOT, unknown)
    for (const [i, key] of unknown.entries()) this.#set(prefix, key, read[i] ?? null)
    let next = 0
    return found.map((known) => (known === undefined ? (read[next++] ?? null) : known))
  }

  /** Writes rows as HolderStore.put does. Rejects with the store's error. */
  async put(list: HolderListId, rows: readonly HolderRow[]): Promise<void> {
    try {
      await this.#store.put(list, rows)
    } catch (error) {
      this.forget()
      throw error
    }
    const prefixes = {
      account: this.#prefixOf(list, 'account'),
      owner: this.#prefixOf(list, 'owner'),
      sums: this.#prefixOf(list, 'sums')
    }
    for (const { kind, key, slot, value } of rows)
      if (isRecentKind(kind))
        // A copy: a small buffer may be a piece of a larger one.
        this.#set(
          prefixes[kind],
          key,
          value === null ? null : { kind, key, slot, value: new Uint8Array(value) }
        )
  }

  /** Deletes rows as HolderStore.drop does. Rejects with the store's error. */
  async drop(list: HolderListId, rows: readonly HolderRowKey[]): Promise<void> {
    try {
      await this.#store.drop(list, rows)
    } catch (error) {
      this.forget()
      throw error
    }
    for (const { kind, key } of rows) if (isRecentKind(kind)) this.#set(this.#prefixOf(list, kind), key, null)
  }

  /** Forgets all rows. */
  forget(): void {
    this.#rows.clear()
    this.#lists.clear()
  }

  #set(prefix: string, key: Pubkey, row: PresentRow | null): void {
    this.#rows.set(nameOf(prefix, key), row, ROW_BYTES)
  }

  /** Returns the beginning of the names of a list's rows of a kind. */
  #prefixOf({ mint, reading }: HolderListId, kind: RecentKind): string {
    const name = `${reading} ${pubkeyMapKey(mint)}`
    let number = this.#lists.get(name)
    if (number === undefined) this.#lists.set(name, (number = this.#nextList++))
    return `${number} ${kind} `
  }
}

const isRecentKind = (kind: HolderRowKind): kind is RecentKind =>
  kind === 'account' || kind === 'owner' || kind === 'sums'

const nameOf = (prefix: string, key: Pubkey): string =>
  key.length === 0 ? prefix : prefix + pubkeyMapKey(key)
