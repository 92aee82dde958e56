import { VENUE_IDS } from '../../chain/venue-id.ts'
import type { Config } from '../../kernel/config/config.ts'
import type { SlotRow } from '../../market/rows.ts'
import { systemPorts } from '../../ports.ts'
import { openArchiveToRead } from '../../store/opening.ts'
import type { Archive } from '../archive.ts'
import type { FoldTally } from '../facts/held-back.ts'
import { archiveStanding } from '../standing.ts'
import { foldFacts, type FoldOutcome } from './archive-fold.ts'
import { FoldProgress } from './fold-progress.ts'
import { replacedText } from './import-report.ts'
import type { OwnArchive } from './own-archive.ts'

const PROGRESS_MS = 1_000

/** Returns a function that prints at most one text a second, the first one a second from now. */
export function onceASecond(print: (line: string) => void): (text: () => string) => void {
  let printedMs = systemPorts.clock.now()
  return (text) => {
    const nowMs = systemPorts.clock.now()
    if (nowMs - printedMs < PROGRESS_MS) return
    printedMs = nowMs
    print(text())
  }
}

/** Gives the archive the venues of all imports. If that adds some, its store must be folded again. */
export async function settleSettings(
  { state, storage }: OwnArchive,
  config: Pick<Config, 'venues' | 'usdMints'>
): Promise<void> {
  const wanted = new Set([...state.value.venues, ...config.venues])
  const venues = VENUE_IDS.filter((venue) => wanted.has(venue))
  const usdMints = [...config.usdMints]
  const isSame =
    venues.join() === state.value.venues.join() && usdMints.join() === state.value.usdMints.join()
  if (isSame) return
  const isFolded = (await storage.blocks.head()) !== null
  await state.change({ venues, usdMints, filling: null, ...(isFolded && { isStale: true }) })
}

export interface FoldRun {
  readonly config: Config
  readonly firstLive: SlotRow | null
  readonly tally: FoldTally
  readonly signal: AbortSignal
  readonly stdout: (line: string) => void
  /** Takes the progress after each block. */
  readonly tell: (text: () => string) => void
}

/** Folds the facts of an archive into its store, with progress. The store is closed if another one has replaced it. */
export async function runFold(
  archive: OwnArchive,
  { config, firstLive, tally, signal, stdout, tell }: FoldRun
): Promise<FoldOutcome['kind']> {
  const progress = new FoldProgress(systemPorts.clock)
  const { kind, staying, replace } = await foldFacts(archive, {
    ...{ config, firstLive, tally, progress, signal },
    onCommitted: () => tell(() => progress.line())
  })
  if (kind === 'interrupted') return kind
  if (staying !== null) stdout(replacedText(staying))
  if (kind === 'refolded') {
    await archive.closeStorage()
    await replace()
  }
  return kind
}

/** Closes the store of a folded archive, and reads its ends; null if it is empty. */
export async function foldedEnds(archive: OwnArchive, config: Config): Promise<Archive | null> {
  await archive.closeStorage()
  const storage = await openArchiveToRead(config)
  try {
    return storage === null ? null : ((await archiveStanding(storage, null))?.archive ?? null)
  } finally {
    await storage?.close()
  }
}
