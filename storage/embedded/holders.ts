import {
  afterHolderRow,
  holderRowKey,
  isOfRow,
  keysOfRows,
  rowKeyIn,
  rowsOfKind,
  rowsOfList,
  slotOfRow,
  unpackRow,
  writesOfRows
} from '../codec/holder-row.ts'
import type { Key } from '../codec/keys.ts'
import type {
  HolderListId,
  HolderRow,
  HolderRowKey,
  HolderRowKind,
  HolderRowsPage,
  HolderRowsQuery,
  HolderStore,
  PresentRow
} from '../port/holders.ts'
import { chunksOf, CopyEngine, type Entry } from './copy-engine.ts'
import { GatheredWrites } from './gathered-writes.ts'

/** Versions that a page reads for each key besides the first, so that most pages take one read of the engine. */
const SPARE = 8

/** Holder lists in an engine of their own, beside the store. */
export class HolderDatabase implements HolderStore {
  readonly #engine: CopyEngine
  readonly #writes: GatheredWrites

  constructor(directory: string, options: { readonly isSnapshot?: boolean } = {}) {
    this.#engine = new CopyEngine(directory, 'the holder lists', options)
    this.#writes = new GatheredWrites(this.#engine)
  }

  async put(list: HolderListId, rows: readonly HolderRow[]): Promise<void> {
    await this.#writes.write(writesOfRows(list, rows))
  }

  async at(
    list: HolderListId,
    kind: HolderRowKind,
    slot: number,
    keys: readonly Uint8Array[]
  ): Promise<(PresentRow | null)[]> {
    return this.#engine.use(async (level) => {
      const found: (PresentRow | null)[] = []
      const iterator = level.iterator(rowsOfKind(list, kind))
      try {
        for (const each of keys) {
          const key = holderRowKey(list, { kind, key: each, slot })
          iterator.seek(key)
          const entry = await iterator.next()
          found.push(entry !== undefined && isOfRow(entry[0], key) ? presentRow(kind, entry) : null)
        }
      } finally {
        await iterator.close()
      }
      return found
    })
  }

  async page(
    list: HolderListId,
    kind: HolderRowKind,
    { slot, after, limit }: HolderRowsQuery
  ): Promise<HolderRowsPage> {
    const range = rowsOfKind(list, kind)
    const gte = after === undefined ? range.gte : afterHolderRow(list, kind, after)
    return this.#engine.use(async (level) => {
      const rows: PresentRow[] = []
      /** The key of a row whose version at the slot was found. */
      let done: Key | null = null
      for await (const entries of chunksOf(level, { gte, lt: range.lt }, limit + SPARE)) {
        for (const [key, value] of entries) {
          if ((done !== null && isOfRow(done, key)) || slotOfRow(key) > slot) continue
          done = key
          const row = presentRow(kind, [key, value])
          if (row === null) continue
          if (rows.length === limit) return { rows, hasMore: true }
          rows.push(row)
        }
      }
      return { rows, hasMore: false }
    })
  }

  async drop(list: HolderListId, rows: readonly HolderRowKey[]): Promise<void> {
    await this.#engine.drop(keysOfRows(list, rows))
  }

  async clear(list: HolderListId): Promise<void> {
    await this.#engine.clear(rowsOfList(list))
  }

  bytes(): Promise<number> {
    return this.#engine.bytes()
  }

  close(): Promise<void> {
    return this.#engine.close()
  }
}

function presentRow(kind: HolderRowKind, [key, packed]: Entry): PresentRow | null {
  const value = unpackRow(packed)
  return value === null
    ? null
    : { kind, key: new Uint8Array(rowKeyIn(key, kind)), slot: slotOfRow(key), value }
}
