import type { SourcedBlock } from '../../src/node/block-source.ts'
import type { Block } from '../../src/chain/transaction.ts'
import { STORED_REASONS } from '../../src/market/gap-reasons.ts'
import type { Commitment } from '../../src/market/rows.ts'
import { backoffMs, jittered } from '../../machines/backoff.ts'
import { sleep, type Ports } from '../../src/ports.ts'
import type { Logger } from '../../src/kernel/telemetry/logger.ts'
import type { GapRow, Storage } from '../../storage/port.ts'
import type { OpenIngest } from './ingest.ts'
import type { GapEdit } from './corrections.ts'
import { undefinedIfUnavailable } from '../storage/retry.ts'
import type { Run } from '../supervision/process.ts'

export interface BackfillOptions {
  /** Requests the block of a slot from nodes; null if no node has it now. Rejects only with the signal's reason. */
  readonly fetch: (slot: number, signal: AbortSignal) => Promise<Block | 'skipped' | null>
  /** The commitment of blocks that are found late. */
  readonly commitment: Commitment
  readonly tuning?: Partial<BackfillTuning>
}

export interface BackfillTuning {
  /** Shortest pause between rounds over the open gaps, in milliseconds; doubles with each round that found nothing. */
  readonly floorMs: number
  readonly ceilingMs: number
  /** Maximum blocks inserted together, and held in memory until then: several hundred megabytes of the largest blocks. */
  readonly blocksMax: number
}

/** A gap can be closed for ten minutes; rounds 2 to 30 s apart try it often enough and cost nodes little. */
export const BACKFILL_TUNING: BackfillTuning = { floorMs: 2_000, ceilingMs: 30_000, blocksMax: 64 }

const GAPS_PER_READ = 100

export interface BackfillNeeds {
  readonly storage: Storage
  readonly ingest: OpenIngest
}

/**
 * Requests the blocks of gaps from nodes, and has ingest insert them.
 *
 * Q1. The search starts at the first block after a gap and goes back from parent to parent. So the blocks found join
 *     without a hole, and skipped slots need no request.
 * Q2. A block that no node has now is requested again until ingest can no longer insert it; nothing waits for it.
 * Q3. A chain that does not lead to the blocks stored before the gap is a different chain: it is logged once and ignored.
 * Q4. Gaps whose blocks are stored (`STORED_REASONS`) are skipped: they would be counted twice.
 */
export function backfill(
  options: BackfillOptions,
  { clock, random, logger }: Ports & { readonly logger: Logger }
): Run<BackfillNeeds> {
  const tuning = { ...BACKFILL_TUNING, ...options.tuning }
  return async ({ input: { storage, ingest }, draining, ready, gauge }) => {
    const counts = { open: 0, found: 0, closed: 0 }
    const strange = new Set<number>()
    gauge('open_gaps', () => counts.open)
    gauge('blocks_found', () => counts.found)
    gauge('gaps_closed', () => counts.closed)
    ready()
    for (let attempt = 1; !draining.aborted;) {
      await sleep(clock, jittered(backoffMs(tuning, attempt), random()), draining)
      if (draining.aborted) return
      const found = counts.found + counts.closed
      await undefinedIfUnavailable(lookAtAll()).catch((error: unknown) => {
        if (!draining.aborted) throw error
      })
      attempt = counts.open === 0 || counts.found + counts.closed > found ? 1 : attempt + 1
    }

    async function lookAtAll(): Promise<void> {
      counts.open = 0
      let before: GapRow | null = null
      for (;;) {
        const after: number | null = before?.from ?? null
        const gaps: GapRow[] = await storage.coverage.gaps({ after, limit: GAPS_PER_READ })
        for (const gap of gaps) {
          const isLookedFor = !STORED_REASONS.has(gap.reason) && !strange.has(gap.from)
          if (isLookedFor && ingest.ingester?.reaches(gap.from) === true) {
            counts.open++
            await close(gap, before)
          }
          before = gap
        }
        if (gaps.length < GAPS_PER_READ) return
      }
    }

    async function close(gap: GapRow, before: GapRow | null): Promise<void> {
      const [next] = await storage.history.after(gap.to, 1)
      if (next === undefined) return
      const blocks: SourcedBlock[] = []
      let parent = next.block.parentSlot
      while (parent !== null && parent >= gap.from && blocks.length < tuning.blocksMax) {
        const block = await options.fetch(parent, draining)
        if (block === null || block === 'skipped') break
        blocks.unshift({ block, commitment: options.commitment, receivedAtMs: clock.now() })
        parent = block.parentSlot
      }
      if (parent === null || !(await leadsOn(parent, gap, before))) {
        strange.add(gap.from)
        const facts = { from: gap.from, to: gap.to, parent }
        logger.error(
          facts,
          `slots ${gap.from} to ${gap.to} stay a gap: the nodes' blocks there do not connect to the stored chain`
        )
        return
      }
      if (parent === gap.to) return
      const edit: GapEdit =
        parent < gap.from ? { put: [], remove: [gap.from] } : { put: [{ ...gap, to: parent }], remove: [] }
      await ingest.ingester?.insert(blocks, edit)
      counts.found += blocks.length
      if (parent < gap.from) counts.closed++
    }

    /** Tells whether a parent lies in this gap, is stored, or lies in the gap before. */
    async function leadsOn(parent: number, gap: GapRow, before: GapRow | null): Promise<boolean> {
      const isInGapBefore = before !== null && before.from <= parent && parent <= before.to
      return parent >= gap.from || isInGapBefore || storage.blocks.has(parent)
    }
  }
}
