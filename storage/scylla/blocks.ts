import { cursorAt } from '../../src/market/cursor.ts'
import type { SlotRow } from '../../src/market/rows.ts'
import type { BlockStore } from '../port.ts'
import type { ScyllaBase } from './base.ts'
import type { RowList } from './row-list.ts'
import { SLOTS_OWNER } from './row-lists.ts'
import type { BlockWriter } from './writer.ts'

/** Blocks that wait for their commit at once: two full groups, half of what the writer takes. */
const WAITING_MAX = 32
/** Slots that are read at once and searched; a longer range is bisected first. */
const SLOTS_PER_READ = 500

export function blockStore(base: ScyllaBase, slots: RowList<SlotRow>, writer: BlockWriter): BlockStore {
  /** The oldest slot, which stays the oldest until an amendment. */
  let oldest: SlotRow | null = null
  let amended = 0
  return {
    claim: (token) => writer.claim(token),
    confirmClaim: () => writer.confirmClaim(),
    commit: (...block) => writer.commit(...block),
    async commitAll(groups, after) {
      const waiting: { readonly blocks: number; readonly answered: Promise<unknown> }[] = []
      const faults: unknown[] = []
      let before = after
      for (const group of groups) {
        // The writer flushes blocks together, so that further groups are given before earlier ones are answered.
        while (waiting.reduce((sum, { blocks }) => sum + blocks, group.length) > WAITING_MAX) {
          const oldest = waiting.shift()
          if (oldest === undefined) break
          await oldest.answered
        }
        if (faults.length > 0) break
        const commits = group.map((block, at) => {
          const commit = writer.commit(block, undefined, before, at + 1 < group.length)
          before = block.slot.slot
          return commit
        })
        const answered = Promise.all(commits).catch((error: unknown) => faults.push(error))
        waiting.push({ blocks: group.length, answered })
      }
      await Promise.all(waiting.map(({ answered }) => answered))
      if (faults.length > 0) throw faults[0]
    },
    async head() {
      await base.refresh()
      return base.visibility.committed.head
    },
    has: async (slot) => (await at(slot)) !== null,
    at,
    async between(first, last) {
      base.client.assertOpen()
      // Both are of one moment: a block that a flush moves meanwhile is in one of them.
      const inMemtable = base.visibility.memtable.blocks.map(({ block }) => block.slot)
      const rows = await between(slots, first, last + 1, last + 1 - first)
      const before = inMemtable[0]?.slot ?? Infinity
      return [
        ...rows.filter(({ slot }) => slot < before),
        ...inMemtable.filter(({ slot }) => slot >= first && slot <= last)
      ]
    },
    async firstSince(blockTime) {
      base.client.assertOpen()
      const { memtable, snapshot } = base.visibility
      const memtableSlots = memtable.blocks.map(({ block }) => block.slot)
      const slot = await inTables(blockTime, await headOfTables(snapshot.head, memtableSlots[0]))
      return slot ?? memtableSlots.find((row) => row.blockTime >= blockTime)?.slot ?? null
    }
  }

  async function at(slot: number): Promise<SlotRow | null> {
    base.client.assertOpen()
    const inMemtable = base.visibility.memtable.blocks.find(({ block }) => block.slot.slot === slot)
    return inMemtable?.block.slot ?? (await slots.at(SLOTS_OWNER, cursorAt(slot, 0)))?.row ?? null
  }

  /** The newest slot of the tables. A store from before there were flushes has only the newest slot of its first flush. */
  async function headOfTables(head: SlotRow | null, next: SlotRow | undefined): Promise<SlotRow | null> {
    if (head === null || next === undefined || head.slot < next.slot) return head
    const [newest = null] = await slots.read(SLOTS_OWNER, { order: 'desc', limit: 1 })
    return newest
  }

  async function inTables(blockTime: number, head: SlotRow | null): Promise<number | null> {
    if (head === null || head.blockTime < blockTime) return null
    if (amended !== base.visibility.amended) oldest = null
    amended = base.visibility.amended
    oldest ??= (await slots.read(SLOTS_OWNER, { order: 'asc', limit: 1 }))[0] ?? null
    return oldest === null ? null : firstSince(slots, blockTime, oldest, head)
  }
}

/**
 * Block times grow nearly evenly with slots. So the slot is interpolated between the two nearest known ones, and a few reads
 * suffice. Every second try takes the middle, so that uneven times cost at most two reads for each bit of a slot.
 */
async function firstSince(
  slots: RowList<SlotRow>,
  blockTime: number,
  oldest: SlotRow,
  head: SlotRow
): Promise<number> {
  if (oldest.blockTime >= blockTime) return oldest.slot
  // The newest slot known before the time, the oldest known since, and the end of the slots not read yet.
  let before = oldest
  let since = head
  let end = head.slot
  for (let step = 0; end - before.slot > SLOTS_PER_READ; step++) {
    const part = (blockTime - before.blockTime) / (since.blockTime - before.blockTime)
    const guess = before.slot + Math.ceil((end - before.slot) * (step % 2 === 0 && part < 1 ? part : 0.5))
    const [row] = await between(slots, guess, end, 1)
    if (row !== undefined && row.blockTime < blockTime) before = row
    else {
      end = guess
      since = row ?? since
    }
  }
  const rows = await between(slots, before.slot + 1, end, SLOTS_PER_READ)
  return rows.find((row) => row.blockTime >= blockTime)?.slot ?? since.slot
}

/** Committed slots from one up to, without, another. */
function between(slots: RowList<SlotRow>, first: number, end: number, limit: number): Promise<SlotRow[]> {
  if (end <= first) return Promise.resolve([])
  const [from, until] = [cursorAt(first, 0) - 1, cursorAt(end - 1, 0)]
  return slots.read(SLOTS_OWNER, { order: 'asc', from, until, limit })
}
