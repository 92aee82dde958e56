import type { SlotRow } from '../../src/market/rows.ts'
import type { RefetchBlock } from '../../src/node/block-source.ts'
import { sleep, type Clock } from '../../src/ports.ts'
import type { Logger } from '../../src/kernel/telemetry/logger.ts'
import type { CommittedBlocks } from '../../src/ingest/committed-blocks.ts'
import { FEE_SLOTS } from '../../src/transactions/priority-fees.ts'
import type { BlockStore } from '../../storage/port.ts'

/**
 * Pause between blocks, in milliseconds. 150 blocks take less than ten seconds, and ingest, which may read from the same
 * node, hardly notices them.
 */
const PAUSE_MS = 50

export interface RecallDeps {
  readonly committedBlocks: CommittedBlocks
  readonly clock: Clock
  readonly logger: Pick<Logger, 'info' | 'warn'>
}

/** Reads the blocks up to a stored head that an observer lacks. Never rejects; ends with the signal. */
export type RecallBlocks = (
  head: SlotRow | null,
  blocks: Pick<BlockStore, 'between'>,
  refetch: RefetchBlock | undefined,
  signal: AbortSignal
) => Promise<void>

/**
 * Returns a function that shows recent blocks to the observers that lack them after a restart or a takeover. They serve fees
 * and blockhashes, and followers that have not applied the blocks. The function requests the stored blocks of the last 150
 * slots from the source, newest first and one at a time, until no observer lacks one. A block that is no longer available is
 * skipped.
 */
export function recallBlocks({ committedBlocks, clock, logger }: RecallDeps): RecallBlocks {
  return async (head, blocks, refetch, signal) => {
    if (head === null || refetch === undefined) return
    let lostAfter = Infinity
    const unsubscribe = committedBlocks.subscribe({
      read: () => () => undefined,
      lost: (afterSlot) => void (lostAfter = Math.min(lostAfter, afterSlot))
    })
    const counts = { read: 0, missing: 0 }
    try {
      const rows = await blocks.between(Math.max(0, head.slot - FEE_SLOTS + 1), head.slot)
      for (const { slot, blockhash } of rows.toReversed()) {
        if (!committedBlocks.lacks(slot)) continue
        const found = await refetch(slot, signal)
        if (signal.aborted) return
        const block = found === null || found === 'skipped' ? null : found.block
        const isStored = block !== null && (blockhash === null || block.blockhash === blockhash)
        // Ingest may have removed its fork during the read.
        if (isStored && slot <= lostAfter) committedBlocks.recall(block)
        counts[isStored ? 'read' : 'missing']++
        await sleep(clock, PAUSE_MS, signal)
      }
      if (counts.read + counts.missing > 0) logger.info(counts, 'recent blocks were reread')
    } catch (err) {
      if (!signal.aborted) logger.warn({ err, ...counts }, 'recent blocks are not reread')
    } finally {
      unsubscribe()
    }
  }
}
