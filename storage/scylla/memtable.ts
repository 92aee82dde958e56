import { setImmediate as yieldToEventLoop } from 'node:timers/promises'
import { pubkeyMapKey } from '../../src/chain/pubkey.ts'
import type { Pubkey } from '../../src/chain/pubkey.ts'
import { eventCursor } from '../../src/market/cursor.ts'
import type { ActivityOf } from '../../src/market/activity-rows.ts'
import { addressText, byName, KEYED, RECORD_NAMES, rowText } from '../../src/market/records.ts'
import type { AddressOf, KeyedName, RecordName, RowOf } from '../../src/market/records.ts'
import { digestOf } from '../../src/market/block-digest.ts'
import { extentOf, hasExtent, type BlockExtent } from '../../src/market/block-extent.ts'
import type { Interval } from '../../src/market/rows.ts'
import { decodeRecords, isUndecoded } from '../codec/packed-block.ts'
import { addressesListedAt } from '../pool-listings.ts'
import type { BlockCommit } from '../port.ts'
import { mapBounded, type CqlClient } from './client.ts'
import type { Version } from './version.ts'

/** Blocks that a query reads at once: the largest eight take several megabytes. */
const READS_AT_ONCE = 8

/** Reads more of a block than its slot, and resolves with its packed bytes: 0 for its digest alone. */
export type ReadMore = (
  extent: Exclude<BlockExtent, 'slot'>,
  readEach?: CqlClient['readEach']
) => Promise<number>

/**
 * A committed block that the tables do not have yet, with indexes of its rows by the text of their key. An index is made at
 * its first use. Rows of an owner are in cursor order, values of a key in the order of the block.
 */
export class MemtableBlock implements Version {
  readonly epoch: number
  readonly number: number
  readonly block: BlockCommit
  #bytes: number
  /** Null if all of the block is known. */
  readonly #readMore: ReadMore | null
  #reading: Promise<number> | null = null

  readonly tradesOfMint = lazily(() => listed(this.block.trades, ({ mint }) => pubkeyMapKey(mint)))
  readonly tradesOfWallet = lazily(() =>
    listed(
      // A trade without a cash side has a row for each mint, and its trader made it once.
      this.block.trades.filter((row) => eventCursor(row) === row.cursor),
      ({ user }) => pubkeyMapKey(user)
    )
  )
  readonly eventsOfPool = lazily(() => listed(this.block.poolEvents, ({ pool }) => pubkeyMapKey(pool)))
  readonly candles = lazily(() =>
    Map.groupBy(this.block.candles, ({ mint, cash, interval }) => seriesText(mint, cash, interval))
  )
  readonly pairs = lazily(() => Map.groupBy(this.block.pairs, ({ mint }) => pubkeyMapKey(mint)))
  readonly activity = lazily(() => Map.groupBy(this.block.activity, ({ of, owner }) => ownerText(of, owner)))
  /** The pools that the block lists, by the addresses that it lists them under. */
  readonly listedPools = lazily(() => {
    const { slot } = this.block.slot
    const entries = this.block.pools.flatMap((row) =>
      addressesListedAt(slot, row).map((address) => ({ address, row }))
    )
    return Map.groupBy(entries, ({ address }) => pubkeyMapKey(address))
  })
  readonly #byAddress = byName<RowMakers>(KEYED, (name) => lazily(() => rowsByAddress(name, this.block)))

  constructor(
    { epoch, number }: Version,
    block: BlockCommit,
    bytes: number,
    readMore: ReadMore | null = null
  ) {
    this.epoch = epoch
    this.number = number
    this.block = block
    this.#bytes = bytes
    this.#readMore = readMore
  }

  /** Bytes in memory, packed. */
  get bytes(): number {
    return this.#bytes
  }

  /** Reads so much of the block, unless it was read; callers share a read. Rejects with the store's error. */
  async read(extent: BlockExtent): Promise<void> {
    const readMore = this.#readMore
    while (readMore !== null && extent !== 'slot' && !hasExtent(this.block, extent)) {
      this.#reading ??= readMore(extent).finally(() => (this.#reading = null))
      this.#bytes = await this.#reading
    }
  }

  /** Reads the rows of the block by reads of a claimant. */
  async readBy(readEach: CqlClient['readEach']): Promise<void> {
    if (this.#readMore !== null && extentOf(this.block) !== 'rows')
      this.#bytes = await this.#readMore('rows', readEach)
  }

  /** The last row at an address; undefined if the block has no such row. */
  row<Name extends KeyedName>(name: Name, address: string): RowOf<Name> | undefined {
    return this.#byAddress[name]().get(address)
  }
}

/** Committed blocks that the tables do not have yet. It never changes. */
export class Memtable {
  /** Oldest first, their numbers without a gap. */
  readonly blocks: readonly MemtableBlock[]
  /** Blocks whose rows were not read at the first query. A writer has those of all blocks. */
  readonly #unread = lazily(() => this.blocks.filter(({ block }) => extentOf(block) !== 'rows'))
  /** Blocks with records that were not decoded at the first query. A writer's own blocks are decoded. */
  readonly #undecoded = lazily(() => this.blocks.filter(({ block }) => isUndecoded(block, RECORD_NAMES)))

  constructor(blocks: readonly MemtableBlock[]) {
    this.blocks = blocks
  }

  /** Bytes of all blocks in memory, packed. */
  get bytes(): number {
    return this.blocks.reduce((sum, { bytes }) => sum + bytes, 0)
  }

  /** Reads the rows of all blocks by reads of a claimant, who writes them to the tables. */
  async readBy(readEach: CqlClient['readEach']): Promise<void> {
    await mapBounded(this.#unread(), READS_AT_ONCE, (block) => block.readBy(readEach))
  }

  /** Finds something in the newest block that has it, or undefined. */
  newest<T>(find: (block: MemtableBlock) => T | undefined): T | undefined {
    for (let i = this.blocks.length - 1; i >= 0; i--) {
      const found = find(this.blocks[i]!)
      if (found !== undefined) return found
    }
    return undefined
  }

  /**
   * Returns the memtable for a query of some records: read where only the slot is known, and decoded a block at a time.
   * Blocks that change nothing at the address may be left out; null stands for any address. Rejects with the store's error.
   */
  async decoded(names: readonly RecordName[], address: Pubkey | null): Promise<Memtable> {
    if (this.#unread().length > 0) await this.#read(names, address === null ? null : pubkeyMapKey(address))
    const undecoded = this.#undecoded().filter(({ block }) => isUndecoded(block, names))
    if (undecoded.length === 0) return this
    const key = address === null ? null : pubkeyMapKey(address)
    const without = new Set(
      key === null ? [] : undecoded.filter(({ block }) => !mayChange(block, names, key))
    )
    for (const each of undecoded)
      if (!without.has(each) && decodeRecords(each.block, names)) await yieldToEventLoop()
    return without.size === 0 ? this : new Memtable(this.blocks.filter((each) => !without.has(each)))
  }

  /** Reads the rows of blocks that may change records at an address (a map key); null stands for any address. */
  async #read(names: readonly RecordName[], address: string | null): Promise<void> {
    if (address !== null) await mapBounded(this.#unread(), READS_AT_ONCE, (each) => each.read('digest'))
    const changing = this.#unread().filter(
      ({ block }) => address === null || mayChange(block, names, address)
    )
    await mapBounded(changing, READS_AT_ONCE, (each) => each.read('rows'))
  }

  /** The newest row at an address, or undefined. */
  row<Name extends KeyedName>(name: Name, address: AddressOf<Name>): RowOf<Name> | undefined {
    if (this.blocks.length === 0) return undefined
    const text = addressText(name, address)
    return this.newest((block) => block.row(name, text))
  }

  /** Finds something in all blocks, oldest first. */
  all<T>(find: (block: MemtableBlock) => readonly T[] | undefined): T[] {
    const all: T[] = []
    for (const block of this.blocks) {
      const found = find(block)
      if (found !== undefined) for (const each of found) all.push(each)
    }
    return all
  }
}

/** Tells whether a block may change one of some records at an address, by its digest. */
function mayChange(block: BlockCommit, names: readonly RecordName[], address: string): boolean {
  const digest = digestOf(block)
  // Names of tokens without a launch are looked for again and again.
  if (digest.launches !== null && names.every((name) => name === 'launches'))
    return digest.launches.some(({ mint }) => pubkeyMapKey(mint) === address)
  return digest.has(address)
}

export const seriesText = (mint: Pubkey, cash: Pubkey, interval: Interval): string =>
  pubkeyMapKey(mint) + pubkeyMapKey(cash) + interval

export const ownerText = (of: ActivityOf, owner: Pubkey): string => of + pubkeyMapKey(owner)

function lazily<T>(make: () => T): () => T {
  let made: T | undefined
  return () => (made ??= make())
}

function listed<Row extends { readonly cursor: number }>(
  rows: readonly Row[],
  textOf: (row: Row) => string
): Map<string, Row[]> {
  const lists = Map.groupBy(rows, textOf)
  for (const list of lists.values()) list.sort((a, b) => a.cursor - b.cursor)
  return lists
}

type RowMakers = { readonly [Name in KeyedName]: () => ReadonlyMap<string, RowOf<Name>> }

const rowsByAddress = (name: KeyedName, block: BlockCommit): Map<string, RowOf<KeyedName>> =>
  new Map(block[name].map((row: RowOf<KeyedName>) => [rowText(name, row), row]))
