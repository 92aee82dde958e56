import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Amendment } from '../src/market/amendment.ts'
import type { DecodedBlock } from '../src/market/block.ts'
import type { KeptBlock } from '../src/market/kept-block.ts'
import { Refold, type RefoldTools } from '../src/market/refold.ts'
import type { BlockRows } from '../src/market/rows.ts'
import { retractionsOf } from '../src/stream/retractions.ts'
import type { Logger } from '../src/telemetry.ts'
import { FORK_SLOTS, type KeptRun } from './kept-run.ts'

/** What takes the newest blocks back, of a fork that is lost, and says so to whoever was told of them before slot `next`. */
export async function withoutFork(
  lost: readonly KeptBlock[],
  next: number,
  tools: RefoldTools & { readonly logger: Logger }
): Promise<Amendment> {
  const { fold, logger } = tools
  const retract = (rows: readonly BlockRows[]) => {
    const { parts, leftOut } = retractionsOf(rows, next - 1, fold.cash)
    if (leftOut > 0) logger.error({ left_out: leftOut }, 'a lost fork has more events than can be taken back')
    return parts
  }
  const refold = new Refold(lost[0]!.before, { ...tools, retract }, 0)
  for (const { before } of lost) refold.knows(before.values)
  for (const { block } of lost) await refold.without(block)
  return refold.amendment()
}

/** What puts blocks between those that are kept, as if they had come in time. Slots ascend, and the first one is reached. */
export async function withLateBlocks(
  late: readonly DecodedBlock[],
  run: KeptRun,
  tools: RefoldTools
): Promise<Amendment> {
  let refold: Refold | null = null
  for await (const { before } of run.blocks()) {
    refold ??= new Refold(before, tools, FORK_SLOTS)
    refold.knows(before.values)
  }
  const first = late[0]!.slot
  if (refold === null || !run.reaches(first)) throw new Error(`slot ${first} lies before all that is kept`)
  let next = 0
  for await (const { block } of run.blocks()) {
    while (next < late.length && late[next]!.slot < block.slot) await refold.with(late[next++]!)
    await refold.both(block)
    await nextTurn()
  }
  return refold.amendment()
}
