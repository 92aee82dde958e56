import type { BlockSource, SourcedBlock } from '../../src/node/block-source.ts'
import type { MarketState } from '../../src/market/market-state.ts'
import { LATEST } from '../../src/market/records.ts'
import { READ_AGAIN } from '../../src/market/gap-reasons.ts'
import { ServiceError } from '../../src/kernel/errors.ts'
import type { SlotRow } from '../../src/market/rows.ts'
import type { Logger } from '../../src/kernel/telemetry/logger.ts'
import type { GapRow, Storage } from '../../storage/port.ts'
import { aborted } from '../supervision/aborted.ts'
import { remake } from './lost-records.ts'
import { Ingester, IN_FLIGHT_MAX, type IngesterDeps } from './ingester.ts'
import type { Run } from '../supervision/process.ts'

/** Access to a running ingester; null while this process ingests no blocks. */
export interface OpenIngest {
  readonly ingester: Pick<Ingester, 'reaches' | 'insert'> | null
}

/**
 * Turns blocks into stored rows on a store that only this process uses; `leader` does so on a shared store.
 *
 * I1. A block is one durable commit; nothing of it is visible before (the store's promise).
 * I2. State between blocks follows from the store: a restart continues after the head as if undisturbed (INVARIANTS 6).
 * I3. A block that cannot be committed crashes the process; the restarted process reads the block again.
 * I4. Followers of the feed receive each committed block once, whatever restarts.
 * I5. A damaged store answers reads, and takes no blocks until it is repaired. Damage found later crashes the process,
 *     which then waits.
 * I6. Records that a repair has lost are rebuilt before the first block is ingested. All other requests are served
 *     meanwhile.
 */
export function ingest(
  deps: IngesterDeps
): Run<{ readonly storage: Storage; readonly source: BlockSource }, OpenIngest> {
  return async ({ input: { storage, source }, draining, ready, gauge }) => {
    const head = await storage.blocks.claim(null)
    deps.feed.restore(head)
    if (storage.damage.length > 0) {
      deps.logger.error('ingest waits: the store is damaged; stop the service and run `npx millrace repair`')
      ready({ ingester: null })
      return aborted(draining)
    }
    const open: { ingester: Ingester | null } = { ingester: null }
    const ingested = ingestGauges(gauge, () => open.ingester?.market ?? null)
    const { losses } = storage
    if (losses !== null) {
      ready(open)
      const { refetch = null } = source
      try {
        await remake(storage, losses, { ...deps, refetch }, draining)
      } catch (error) {
        if (draining.aborted) return
        throw error
      } finally {
        deps.feed.amend(head)
      }
    }
    const ingester = await Ingester.open(storage, head, deps)
    open.ingester = ingester
    logHead(head, deps.logger)
    if (losses === null) ready(open)
    let again = await gapReadAgain(storage)
    const from = again !== null && head === null ? beginningWith(again.from, source) : source
    const ingestOne = async (sourced: SourcedBlock): Promise<void> => {
      if (storage.damage.length > 0)
        throw new ServiceError('STORAGE_UNAVAILABLE', 'a record of the store is damaged')
      await ingester.ingest(sourced)
      if (again === null) return
      const { from } = again
      again = null
      await ingester.insert([], { put: [], remove: [from] })
    }
    const ended = new AbortController()
    const until = AbortSignal.any([draining, ended.signal])
    const recalled = deps.recallBlocks?.(head, storage.blocks, source.refetch, until)
    try {
      await ingestFrom(head, from, ingestOne, ingested, deps.logger, draining)
    } finally {
      ended.abort()
      await recalled
    }
  }
}

/** Returns the slots that a repair has emptied and that ingest has not begun to read again, or null. */
async function gapReadAgain({ coverage }: Storage): Promise<GapRow | null> {
  const [gap] = await coverage.gaps({ after: null, limit: 1 })
  return gap?.reason === READ_AGAIN ? gap : null
}

/** Returns a source that begins with the given slot, for an empty store. */
const beginningWith = (slot: number, source: BlockSource): BlockSource => ({
  blocks: ({ after, signal }) => source.blocks({ after: after ?? slot - 1, signal })
})

/**
 * Ingests the blocks of a source after the head, until `end` aborts. Each block is handed over when it comes, before
 * the earlier ones are committed. Resolves when all are committed; rejects with the first failure.
 */
export async function ingestFrom(
  head: SlotRow | null,
  source: BlockSource,
  ingestOne: (sourced: SourcedBlock) => Promise<void>,
  ingested: Ingested,
  logger: Logger,
  end: AbortSignal
): Promise<void> {
  const failed = new AbortController()
  const signal = AbortSignal.any([end, failed.signal])
  const inFlight: Promise<void>[] = []
  const give = async (sourced: SourcedBlock): Promise<void> => {
    try {
      await ingestOne(sourced)
      ingested.blocks++
    } catch (error) {
      // A rollback that is still fetching its blocks ends together with the source.
      if (!end.aborted || error !== end.reason) failed.abort(error)
    }
    void inFlight.shift()
  }
  try {
    for await (const sourced of source.blocks({ after: head?.slot ?? null, signal })) {
      if (inFlight.length === IN_FLIGHT_MAX) await inFlight[0]
      if (signal.aborted) break
      inFlight.push(give(sourced))
    }
  } finally {
    await Promise.all(inFlight)
  }
  failed.signal.throwIfAborted()
  if (!end.aborted) logger.info(ingested, 'the source has no more blocks')
  await aborted(end)
}

/** Count of blocks ingested by this instance. */
export interface Ingested {
  blocks: number
}

/** Names ingest's gauges in the process tree. `market` is called at each read, because it may be replaced. */
export function ingestGauges(
  gauge: (name: string, read: () => number) => void,
  market: () => MarketState | null
): Ingested {
  const ingested = { blocks: 0 }
  gauge('blocks', () => ingested.blocks)
  for (const name of LATEST) gauge(`${name}_in_memory`, () => market()?.size[name] ?? 0)
  return ingested
}

/** Logs the slot after which ingest continues. */
export function logHead(head: SlotRow | null, logger: Logger): void {
  const resumed = head === null ? 'an empty store' : `slot ${head.slot}`
  logger.info({ slot: head?.slot }, `ingest resumes after ${resumed}`)
}
