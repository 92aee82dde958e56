import { foldArchive } from '../../../actors/archive/fold-archive.ts'
import { ImportStamp } from '../../../actors/archive/import-stamp.ts'
import { pubkeyFromBase58 } from '../../chain/pubkey.ts'
import type { Config } from '../../kernel/config/config.ts'
import { importBudget, memoryBudget } from '../../kernel/config/memory-budget.ts'
import { ERRORS, ServiceError } from '../../kernel/errors.ts'
import { CashList } from '../../market/cash.ts'
import { legOf, otherSide } from '../../market/legs.ts'
import { isDust } from '../../market/price.ts'
import type { SlotRow, TradeRow } from '../../market/rows.ts'
import { systemPorts } from '../../ports.ts'
import { archiveStampFile } from '../../store/opening.ts'
import type { Storage } from '../../../storage/port.ts'
import { CanonicalBlocks, HeadContradicted } from '../facts/canonical-blocks.ts'
import type { FoldTally } from '../facts/held-back.ts'
import { MintDecimals } from '../facts/mint-decimals.ts'
import { readFoldNumber, recordFoldNumber } from '../fold-number.ts'
import type { FoldProgress } from './fold-progress.ts'
import type { OwnArchive } from './own-archive.ts'
import { FoldedRanges } from './settled-ranges.ts'
import { removeOtherKeyspace, SecondKeyspace } from './second-keyspace.ts'
import { SecondDirectory, type SecondStore } from './second-store.ts'

export interface FoldTools {
  readonly config: Config
  readonly firstLive: SlotRow | null
  readonly tally: FoldTally
  readonly progress: FoldProgress
  /** Called after each block. */
  readonly onCommitted: () => void
  readonly signal: AbortSignal
}

/** The outcome of a fold. */
export interface FoldOutcome {
  /** `appended` to the archive; `refolded` into the second store, which replaces the archive; or `interrupted`. */
  readonly kind: 'appended' | 'refolded' | 'interrupted'
  /** A keyspace that services still read, or null. */
  readonly staying: string | null
  /** Steps that need both stores closed. */
  readonly replace: () => Promise<void>
}

/**
 * Brings the archive's store to the fold of its facts: after the head if all new facts come after it, otherwise in a second
 * store, which then replaces the first. The same facts give the same rows either way.
 */
export async function foldFacts(archive: OwnArchive, tools: FoldTools): Promise<FoldOutcome> {
  const { storage, state } = archive
  const { firstLive } = tools
  const head = await storage.blocks.head()
  const isPastLive = firstLive !== null && head !== null && head.slot >= firstLive.slot
  const isMoved = state.value.hasTimed && state.value.firstLive !== (firstLive?.slot ?? null)
  const isOther = (await readFoldNumber(storage)) !== state.value.fold
  const isStale =
    head !== null && (state.value.isStale || isOther || isPastLive || isMoved || storage.losses !== null)
  if (isStale) return refold(archive, tools)
  await state.change({ isStale: false, filling: null })
  try {
    await foldInto(storage, archive, tools, archiveStampFile(tools.config), (hasHeldBack) =>
      state.change({ hasHeldBack })
    )
  } catch (error) {
    if (!(error instanceof HeadContradicted)) throw error
    await state.change({ isStale: true })
    return refold(archive, tools)
  }
  if (tools.signal.aborted) return { kind: 'interrupted', staying: null, replace: async () => undefined }
  await state.change({ firstLive: firstLive?.slot ?? null })
  const staying = await removeRemains(tools.config, archive)
  return { kind: 'appended', staying, replace: async () => undefined }
}

async function refold(archive: OwnArchive, tools: FoldTools): Promise<FoldOutcome> {
  const { config, firstLive, signal } = tools
  const { state, storage, place } = archive
  if (!state.value.hasBlocks)
    throw new ServiceError(
      ERRORS.STORAGE_UNAVAILABLE,
      `the archive was imported by an earlier version, which stored no facts, so it can only be continued after its end: drop the keyspace ${place.config.scyllaKeyspace} and reimport all folders, in any order`
    )
  const second =
    config.storage === 'embedded' ? new SecondDirectory(config) : new SecondKeyspace(config, place)
  const filling = await openFilling(second, archive)
  try {
    const genesis = await storage.coverage.genesis()
    if (genesis !== null) await filling.coverage.settleGenesis(genesis)
    await foldInto(filling, archive, tools, archiveStampFile(second.config), (hasHeldBack) =>
      state.change({ filling: { hasHeldBack } })
    )
    if (signal.aborted) return { kind: 'interrupted', staying: null, replace: async () => undefined }
    await second.succeed(storage, filling)
  } finally {
    await filling.close()
  }
  const isEmbedded = config.storage === 'embedded'
  return {
    kind: 'refolded',
    staying: isEmbedded ? null : place.config.scyllaKeyspace,
    replace: async () => {
      await second.replace()
      const { fold, filling: made } = state.value
      const hasHeldBack = made?.hasHeldBack === true
      await state.change({
        ...{ isStale: false, filling: null, fold: fold + 1, hasHeldBack },
        firstLive: firstLive?.slot ?? null
      })
    }
  }
}

/** Opens the second store: the one that an interrupted fold of the same facts has left, or an empty one. */
async function openFilling(second: SecondStore, { state }: OwnArchive): Promise<Storage> {
  const opened = await second.open()
  if (state.value.filling !== null) return opened
  const isEmpty = (await opened.blocks.head()) === null
  if (!isEmpty) {
    await opened.close()
    await second.remove()
  }
  const filling = isEmpty ? opened : await second.open()
  await recordFoldNumber(filling, state.value.fold + 1)
  await state.change({ filling: { hasHeldBack: false } })
  return filling
}

async function foldInto(
  storage: Storage,
  { facts, state }: OwnArchive,
  tools: FoldTools,
  stampFile: string,
  setHeldBack: (hasHeldBack: boolean) => Promise<void>
): Promise<void> {
  const { config, firstLive, tally, progress, signal } = tools
  const { venues, usdMints, hasTimed } = state.value
  const stamp = new ImportStamp(stampFile, storage.blocks, systemPorts.clock)
  const decimals = new MintDecimals(facts)
  const ranges = await FoldedRanges.open(storage, facts, venues)
  await progress.begin(facts, await storage.blocks.head(), firstLive)
  const canonical = (after: SlotRow | null) =>
    new CanonicalBlocks({
      ...{ facts, decimals, firstLive, after, hasTimed, tally },
      onHeldBack: () => setHeldBack(true)
    }).blocks()
  try {
    await foldArchive(
      storage,
      canonical,
      {
        // MILLRACE_SOL_USD is a current price; only the chain has the past ones.
        fold: {
          cash: new CashList(usdMints.map(pubkeyFromBase58)),
          startingSolUsd: null,
          venues: new Set(venues)
        },
        marketBytes: marketBytesOf(config),
        clock: systemPorts.clock,
        onCommitted: (blocks, { slots, trades }) => {
          for (const { whole } of blocks) if (whole !== null) ranges.add(whole)
          for (const slot of slots) progress.committed(slot)
          tally.folded += slots.reduce((sum, slot) => sum + slot.trades, 0)
          tally.outliers += trades.filter(isOutlier).length
          stamp.committed()
          tools.onCommitted()
        }
      },
      signal
    )
    await ranges.record(storage, state.value.sources)
  } catch (error) {
    // The first failure says what is wrong, such as a full disk.
    await stamp.close().catch(() => undefined)
    throw error
  }
  await stamp.close()
}

/** Returns the bytes for rows of recently traded mints. */
const marketBytesOf = (config: Config): number =>
  config.storage === 'embedded'
    ? importBudget(config).market
    : memoryBudget({ ...config, role: ['ingest'] }).market

/** Returns whether a price counts for nothing because it is far from those before, and not because its trade is dust. */
function isOutlier(row: TradeRow): boolean {
  const { cashSide, price, priceForming, cashUsd } = row
  if (price === null || priceForming || cashSide === null) return false
  return !isDust(legOf(row, cashSide), legOf(row, otherSide(cashSide)), cashUsd)
}

/** Removes what an earlier refold has left. Resolves with a keyspace that stays for a while; null if none does. */
async function removeRemains(config: Config, { place }: OwnArchive): Promise<string | null> {
  if (config.storage !== 'embedded') return removeOtherKeyspace(config, place)
  await new SecondDirectory(config).remove()
  return null
}
