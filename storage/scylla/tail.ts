import { pubkeyMapKey } from '../../src/chain/pubkey.ts'
import type { Pubkey } from '../../src/chain/pubkey.ts'
import { eventCursor, splitCursor } from '../../src/market/cursor.ts'
import type { ActivityOf } from '../../src/market/activity-rows.ts'
import type { PoolRow } from '../../src/market/registry-rows.ts'
import type { Interval } from '../../src/market/rows.ts'
import type { BlockCommit } from '../port.ts'
import type { Version } from './version.ts'

/**
 * A committed block that the tables do not have yet, with what finds its rows: by text of the key, made when first asked.
 * Rows of an owner are in the order of their cursors, values of a key in the order of the block.
 */
export class TailBlock implements Version {
  readonly epoch: number
  readonly number: number
  readonly block: BlockCommit
  /** Packed. */
  readonly bytes: number

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
  readonly launches = lazily(() => lasting(this.block.launches, ({ mint }) => pubkeyMapKey(mint)))
  readonly pairs = lazily(() => Map.groupBy(this.block.pairs, ({ mint }) => pubkeyMapKey(mint)))
  readonly activity = lazily(() => Map.groupBy(this.block.activity, ({ of, owner }) => ownerText(of, owner)))
  readonly tokens = lazily(() => lasting(this.block.tokens, ({ mint }) => pubkeyMapKey(mint)))
  readonly pools = lazily(() => lasting(this.block.pools, ({ pool }) => pubkeyMapKey(pool)))
  /** The pools that the block is the first to name, by their mints. */
  readonly listedPools = lazily(() => {
    const { slot } = this.block.slot
    const named = this.block.pools.filter(({ firstCursor }) => splitCursor(firstCursor).slot === slot)
    const entries = named.flatMap((row) => mintsOf(row).map((mint) => ({ mint, row })))
    return Map.groupBy(entries, ({ mint }) => pubkeyMapKey(mint))
  })
  readonly curves = lazily(() => lasting(this.block.curves, ({ mint }) => pubkeyMapKey(mint)))

  constructor({ epoch, number }: Version, block: BlockCommit, bytes: number) {
    this.epoch = epoch
    this.number = number
    this.block = block
    this.bytes = bytes
  }
}

/** Committed blocks that the tables do not have yet. It never changes. */
export class Tail {
  /** Oldest first, their numbers without a gap. */
  readonly blocks: readonly TailBlock[]
  /** Of all blocks, packed. */
  readonly bytes: number

  constructor(blocks: readonly TailBlock[]) {
    this.blocks = blocks
    this.bytes = blocks.reduce((sum, { bytes }) => sum + bytes, 0)
  }

  /** What is found in the newest block that has it; undefined where none has. */
  newest<T>(find: (block: TailBlock) => T | undefined): T | undefined {
    for (let i = this.blocks.length - 1; i >= 0; i--) {
      const found = find(this.blocks[i]!)
      if (found !== undefined) return found
    }
    return undefined
  }

  /** What is found in all blocks, oldest first. */
  all<T>(find: (block: TailBlock) => readonly T[] | undefined): T[] {
    const all: T[] = []
    for (const block of this.blocks) {
      const found = find(block)
      if (found !== undefined) for (const each of found) all.push(each)
    }
    return all
  }
}

export const seriesText = (mint: Pubkey, cash: Pubkey, interval: Interval): string =>
  pubkeyMapKey(mint) + pubkeyMapKey(cash) + interval

export const ownerText = (of: ActivityOf, owner: Pubkey): string => of + pubkeyMapKey(owner)

/** The mints that a pool is listed under. */
export const mintsOf = ({ base, quote, quoteListed }: PoolRow): Pubkey[] =>
  quoteListed ? [base, quote] : [base]

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

/** The last value of each key. */
const lasting = <T>(values: readonly T[], textOf: (value: T) => string): Map<string, T> =>
  new Map(values.map((value) => [textOf(value), value]))
