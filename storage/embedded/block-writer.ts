import { bucketStart } from '../../src/market/buckets.ts'
import type { KeptBlock } from '../../src/market/kept-block.ts'
import { mergedRows } from '../../src/market/records.ts'
import type { SlotRow } from '../../src/market/rows.ts'
import { assertFollows, isStored } from '../block-order.ts'
import { keptBlockKind } from '../codec/kept-block.ts'
import { keptBlockKey, slotKey } from '../codec/keys.ts'
import { slotKind } from '../codec/kinds.ts'
import type { BlockCommit } from '../port.ts'
import type { Database, Staged } from './database.ts'
import { stageNewPools } from './pools.ts'
import { stageManyBlocks, stageRecords, type RecordTables } from './record-stores.ts'
import type { View } from './view.ts'
import type { WriteBatch } from './write-batch.ts'

/** As many blocks as ingest has in flight. */
const BLOCKS_TOGETHER_MAX = 8
/**
 * Maximum events of several blocks in one batch. Staging an event holds the event loop for about 50 µs, and 5 ms are the most
 * that anything may hold it. A larger block has a batch of its own.
 */
const EVENTS_TOGETHER_MAX = 80

/** A block whose commit was requested and is not answered. */
interface GivenBlock extends PromiseWithResolvers<boolean> {
  readonly block: BlockCommit
  readonly kept: KeptBlock | undefined
  /** The slot that it must follow; undefined for any head. */
  readonly after: number | undefined
  /** Number of writes that the database had accepted before. */
  readonly writesBefore: number
  /** Whether it has a batch of its own, because one that it shared could not be staged. */
  isAlone: boolean
}

/**
 * Writes blocks in their order. Blocks that wait for an earlier write share the next batch: the page of a mint that several of
 * them trade is then written once, and the disk is synced once. A block that comes alone is written at once.
 *
 * G1. The blocks of a batch become durable together, and then visible together. They are answered in their order.
 * G2. No block overtakes another write: only blocks that were given one after another share a batch.
 * G3. If several blocks cannot be staged together, each is staged alone. So the one with the fault fails, and those that were
 *     to follow it.
 */
export class BlockWriter {
  readonly #database: Database
  readonly #tables: RecordTables
  readonly #waiting: GivenBlock[] = []

  constructor(database: Database, tables: RecordTables) {
    this.#database = database
    this.#tables = tables
  }

  /** Stores a block as `BlockStore.commit` does. */
  commit(block: BlockCommit, kept?: KeptBlock, after?: number): Promise<boolean> {
    // A refused block must not join those that were accepted.
    if (this.#database.isClosed) return this.#database.write(async () => null)
    const { writesAccepted: writesBefore } = this.#database
    const answer = Promise.withResolvers<boolean>()
    const given = { block, kept, after, writesBefore, isAlone: false, ...answer }
    this.#waiting.push(given)
    void this.#writeNext(given)
    return given.promise
  }

  /** Writes the next waiting blocks, if earlier batches have left some. Never rejects. */
  async #writeNext(given: GivenBlock): Promise<void> {
    let group: readonly GivenBlock[] = []
    try {
      const isWritten = await this.#database.write(async (view, batch) => {
        group = this.#take(view.head)
        if (group.length <= 1) return group.length === 0 ? null : this.#stageOne(view, batch, group[0]!)
        try {
          return await this.#stageAll(view, batch, group)
        } catch {
          this.#putBack(group) // G3
          group = []
          return null
        }
      })
      for (const { resolve } of group) resolve(isWritten)
    } catch (error) {
      for (const { reject } of group) reject(error)
      // The database has refused the write before it began.
      const at = group.length === 0 ? this.#waiting.indexOf(given) : -1
      if (at < 0) return
      this.#waiting.splice(at, 1)
      given.reject(error)
    }
  }

  /** Takes the blocks that can share the next batch. */
  #take(head: SlotRow | null): readonly GivenBlock[] {
    const [first] = this.#waiting
    if (first === undefined) return []
    const group = [first]
    let events = first.block.slot.events
    const isNext = !isStored(first.block, head) && (first.after ?? head?.slot) === head?.slot
    for (const next of isNext ? this.#waiting.slice(1, BLOCKS_TOGETHER_MAX) : []) {
      events += next.block.slot.events
      if (!canShare(group.at(-1)!, next) || events > EVENTS_TOGETHER_MAX) break
      group.push(next)
    }
    this.#waiting.splice(0, group.length)
    return group
  }

  /** Each waiting block has a turn of its own in the database's queue, and the group has used one of them. */
  #putBack(group: readonly GivenBlock[]): void {
    for (const given of group) given.isAlone = true
    this.#waiting.unshift(...group)
    void this.#writeNext(group.at(-1)!)
  }

  async #stageOne(view: View, batch: WriteBatch, { block, kept, after }: GivenBlock): Promise<Staged | null> {
    if (isStored(block, view.head)) return null
    assertFollows(after, view.head)
    batch.putUncached(slotKind, slotKey(block.slot.slot), block.slot)
    await stageRecords(this.#tables, view, batch, block)
    if (kept !== undefined) batch.putUncached(keptBlockKind, keptBlockKey(block.slot.slot), kept)
    return { kind: 'commit', head: block.slot }
  }

  async #stageAll(view: View, batch: WriteBatch, group: readonly GivenBlock[]): Promise<Staged> {
    const head = await stageBlocks(
      this.#tables,
      view,
      batch,
      group.map(({ block }) => block)
    )
    for (const { block, kept } of group)
      if (kept !== undefined) batch.putUncached(keptBlockKind, keptBlockKey(block.slot.slot), kept)
    return { kind: 'commit', head }
  }
}

/** Stages consecutive blocks of one hour, at least one, as one batch. Returns the last slot. */
export async function stageBlocks(
  tables: RecordTables,
  view: View,
  batch: WriteBatch,
  blocks: readonly BlockCommit[]
): Promise<SlotRow> {
  const { slot: last } = blocks.at(-1)!
  for (const { slot } of blocks) batch.putUncached(slotKind, slotKey(slot.slot), slot)
  await stageManyBlocks(tables, view, batch, { slot: last, ...mergedRows(blocks) })
  for (const block of blocks.slice(0, -1)) stageNewPools(batch, block)
  return last
}

/** Tells whether a block can be in the batch of the one before it. */
function canShare(before: GivenBlock, next: GivenBlock): boolean {
  const { slot } = before.block
  return (
    !before.isAlone &&
    !next.isAlone &&
    next.writesBefore === before.writesBefore + 1 && // G2
    next.block.slot.slot > slot.slot &&
    (next.after ?? slot.slot) === slot.slot &&
    // Hourly records are merged by hour.
    bucketStart('1h', next.block.slot.blockTime) === bucketStart('1h', slot.blockTime)
  )
}
