import type { SourcedBlock } from '../../src/node/block-source.ts'
import type { Block } from '../../src/chain/transaction.ts'
import { DAMAGED } from '../../src/market/gap-reasons.ts'
import type { Commitment } from '../../src/market/rows.ts'
import { backoffMs, jittered } from '../../machines/backoff.ts'
import { sleep, type Ports } from '../../src/ports.ts'
import type { Logger } from '../../src/telemetry/logger.ts'
import type { GapRow, Storage } from '../../storage/port.ts'
import type { OpenIngest } from './ingest.ts'
import type { GapEdit } from './ingester.ts'
import { unlessAway } from '../storage/patience.ts'
import type { Run } from '../supervision/process.ts'

export interface BackfillOptions {
  /** Asks nodes for the block of a slot; null where none has it now. Rejects only with the signal's reason. */
  readonly fetch: (slot: number, signal: AbortSignal) => Promise<Block | 'skipped' | null>
  /** What blocks that are found late are said to be. */
  readonly commitment: Commitment
  readonly tuning?: Partial<BackfillTuning>
}

export interface BackfillTuning {
  /** Between two looks at the gaps there are; doubles with each that found nothing. */
  readonly floorMs: number
  readonly ceilingMs: number
  /** Blocks that are put in at a time, and held until then: of the busiest some hundred megabytes. */
  readonly blocksMax: number
}

/** Chosen: a gap is open for ten minutes of slots. */
export const BACKFILL_TUNING: BackfillTuning = { floorMs: 2_000, ceilingMs: 30_000, blocksMax: 64 }

const GAPS_PER_READ = 100

export interface BackfillNeeds {
  readonly storage: Storage
  readonly ingest: OpenIngest
}

/**
 * The process that looks for blocks that were given up, and has ingest put them in.
 *
 * Q1. It goes back from the first block after a gap, from parent to parent: what it finds follows on without a hole, so
 *     that a slot without a block needs no answer of a node.
 * Q2. What cannot be found now is looked for again until ingest no longer reaches back to it; nothing waits for it.
 * Q3. A chain that does not lead to what is stored before the gap is another one: it is told once and left alone.
 * Q4. Gaps of a damaged store are left alone: their blocks are stored, and would be counted twice.
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
      await unlessAway(lookAtAll()).catch((error: unknown) => {
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
          const isLookedFor = gap.reason !== DAMAGED && !strange.has(gap.from)
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
          `slots ${gap.from} to ${gap.to} stay a gap: what nodes have there leads elsewhere`
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

    /** Whether a parent is one to be looked for, one that is stored, or one in the gap before. */
    async function leadsOn(parent: number, gap: GapRow, before: GapRow | null): Promise<boolean> {
      const isInGapBefore = before !== null && before.from <= parent && parent <= before.to
      return parent >= gap.from || isInGapBefore || storage.blocks.has(parent)
    }
  }
}
