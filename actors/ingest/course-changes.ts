import { setImmediate as yieldToEventLoop } from 'node:timers/promises'
import type { Amendment } from '../../src/market/amendment.ts'
import type { DecodedBlock } from '../../src/market/block.ts'
import { cursorAt, positionsOf, walletPositions } from '../../src/market/cursor.ts'
import type { LogEntry } from '../../src/market/log.ts'
import type { KeptBlock } from '../../src/market/kept-block.ts'
import { Refold, type RefoldTools } from '../../src/market/refold.ts'
import type { BlockRows } from '../../src/market/records.ts'
import { moveAsLogEntry } from '../../src/stream/delivery-order.ts'
import { endOfSlot, retractionsOf } from '../../src/stream/retractions.ts'
import type { Logger } from '../../src/kernel/telemetry/logger.ts'
import { FORK_SLOTS, type UndoHistory } from './undo-history.ts'

/**
 * Builds the amendment that removes the newest blocks, which are of a lost fork. Their retractions get cursors below
 * slot `next`.
 */
export async function withoutFork(
  lost: readonly KeptBlock[],
  next: number,
  tools: RefoldTools & { readonly logger: Logger }
): Promise<Amendment> {
  const { fold, logger } = tools
  const retract = (rows: readonly BlockRows[]) => {
    const { entries, leftOut } = retractionsOf(rows, endOfSlot(next - 1), fold.cash)
    if (leftOut > 0)
      logger.error(
        { left_out: leftOut },
        'a lost fork has more events than there are cursors for retractions; the remaining events are not retracted'
      )
    return entries
  }
  const refold = new Refold(lost[0]!.before, { ...tools, retract }, 0)
  for (const { before } of lost) refold.knows(before.values)
  for (const { block } of lost) await refold.without(block)
  return refold.amendment()
}

/** A fork of the stored chain that replaces it from one stored block on. */
export interface OtherCourse {
  /** Slot of the last stored block that both chains have. */
  readonly after: number
  /** All blocks of the new chain after it, in ascending slot order; the last one is above the stored head. */
  readonly blocks: readonly DecodedBlock[]
  /** Returns the cursor at which the event with a given cursor was sent on the stream. */
  readonly sentCursor: (cursor: number) => number
}

/** Number of positions that the events of a block take where they are moved, and of those before the copies on `wallet:`. */
function positionsIn({ entries }: DecodedBlock): { readonly all: number; readonly sideBySide: number } {
  const sideBySide = positionsOf(entries.map(({ event }) => event))
  return { all: sideBySide + walletPositions(sideBySide), sideBySide }
}

/**
 * Counts the oldest blocks of a new chain for which no cursors are left between the stored head and the chain's last block.
 * That block has its own cursors. If it is in the next slot, half a slot's positions are left; each further slot adds a
 * slot's positions.
 */
export function blocksWithoutRoom(blocks: readonly DecodedBlock[], head: number): number {
  let left = cursorAt(blocks.at(-1)!.slot, 0) - endOfSlot(head).from
  const lastWithoutRoom = blocks.slice(0, -1).findLastIndex((block) => (left -= positionsIn(block).all) < 0)
  return lastWithoutRoom + 1
}

/**
 * Builds the amendment that removes all stored blocks after one, and puts the blocks of another chain in their place.
 * The stream sends the retractions of the removed blocks above the stored head, then the events of the new blocks up
 * to the last one, which has its own cursors. There must be room for them (`blocksWithoutRoom`).
 */
export async function onOtherCourse(
  { after, blocks, sentCursor }: OtherCourse,
  undoHistory: UndoHistory,
  tools: RefoldTools & { readonly logger: Logger }
): Promise<{ readonly amendment: Amendment; readonly lost: readonly number[] }> {
  const { fold, logger } = tools
  const lost: number[] = []
  const last = blocks.at(-1)!.slot
  const retract = (rows: readonly BlockRows[]): readonly LogEntry[] => {
    const head = rows.at(-1)!.slot.slot
    const { from, to } = { from: endOfSlot(head).from, to: cursorAt(last, 0) - 1 }
    const sizes = blocks.slice(0, -1).map((block) => ({ slot: block.slot, ...positionsIn(block) }))
    const needed = sizes.reduce((sum, { all }) => sum + all, 0)
    const { entries, retracted, leftOut } = retractionsOf(
      rows,
      { from, to: to - needed, sentCursor },
      fold.cash
    )
    if (leftOut > 0)
      logger.error(
        { left_out: leftOut },
        'a lost fork has more events than there are cursors for retractions; the remaining events are not retracted'
      )
    let next = from + retracted
    const slots: [slot: number, sentFrom: number][] = []
    const walletsFrom: number[] = []
    for (const { slot, all, sideBySide } of sizes) {
      slots.push([slot, next])
      walletsFrom.push(next + sideBySide)
      next += all
    }
    return [...entries, moveAsLogEntry({ first: after + 1, last: last - 1, slots, walletsFrom })]
  }
  let refold: Refold | null = null
  for await (const { before } of undoHistory.blocks()) {
    refold ??= new Refold(before, { ...tools, retract }, 0)
    refold.knows(before.values)
  }
  if (refold === null || !undoHistory.reaches(after + 1))
    throw new Error(`slot ${after + 1} lies before the oldest block with undo data`)
  let next = 0
  for await (const { block } of undoHistory.blocks()) {
    if (block.slot <= after) await refold.both(block)
    else {
      lost.push(block.slot)
      while (blocks[next]!.slot < block.slot) await refold.instead(null, blocks[next++]!)
      const isSame = blocks[next]!.slot === block.slot
      await refold.instead(block, isSame ? blocks[next++]! : null)
    }
    await yieldToEventLoop()
  }
  for (; next < blocks.length; next++) await refold.instead(null, blocks[next]!)
  return { amendment: refold.amendment(), lost }
}

/**
 * Builds the amendment that inserts late blocks between kept blocks, as if they had arrived in time. Slots ascend, and the
 * first one is within reach of the kept blocks.
 */
export async function withLateBlocks(
  late: readonly DecodedBlock[],
  undoHistory: UndoHistory,
  tools: RefoldTools
): Promise<Amendment> {
  let refold: Refold | null = null
  for await (const { before } of undoHistory.blocks()) {
    refold ??= new Refold(before, tools, FORK_SLOTS)
    refold.knows(before.values)
  }
  const first = late[0]!.slot
  if (refold === null || !undoHistory.reaches(first))
    throw new Error(`slot ${first} lies before the oldest block with undo data`)
  let next = 0
  for await (const { block } of undoHistory.blocks()) {
    while (next < late.length && late[next]!.slot < block.slot) await refold.with(late[next++]!)
    await refold.both(block)
    await yieldToEventLoop()
  }
  return refold.amendment()
}
