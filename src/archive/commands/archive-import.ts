import { importBlocks } from '../../../actors/archive/import.ts'
import { ImportStamp } from '../../../actors/archive/import-stamp.ts'
import { indexedSource } from '../../../actors/ingest/source.ts'
import { archiveStanding } from '../standing.ts'
import type { Config } from '../../kernel/config/config.ts'
import { ServiceError } from '../../kernel/errors.ts'
import { readDecodingPeriods } from '../../ingest/decoding-periods.ts'
import { systemPorts } from '../../ports.ts'
import { ImportTools } from '../import-tools.ts'
import type { ArchivePlace } from '../archive-place.ts'
import { archiveStampFile, isStoreThere, openStoreToRead, storeDirectory } from '../../store/opening.ts'
import { ProblemTally } from '../../recorded/problems.ts'
import { importPlan, type ImportPlan } from '../../recorded/import-plan.ts'
import { importStanding } from '../../recorded/import-standing.ts'
import { scanRecorded, type RecordedIndex } from '../../recorded/scan.ts'
import type { Storage } from '../../../storage/port.ts'
import type { Invocation } from '../../kernel/cli/command.ts'
import {
  archiveText,
  importSummary,
  lackingText,
  lostItems,
  problemText,
  progressText,
  replacedText,
  tooLateText,
  type ImportCounts
} from './import-report.ts'
import { ArchiveFilling, removeFilling } from './archive-filling.ts'
import { recoverArchive } from './second-store.ts'
import { openOwnArchive, type OwnArchive } from './own-archive.ts'
import { unusableDirectory } from '../../store/data-directory.ts'

const PROGRESS_MS = 1_000

/** The import cannot begin; the message is for the operator. */
class Refused extends Error {}

/**
 * Imports the blocks of a recorded folder into the archive, with progress. Resolves with 1 if a block could not be added or
 * read, and if the import was refused, failed or interrupted.
 */
export async function importArchive(invocation: Invocation): Promise<number> {
  const { config, operands, interrupted, stdout, stderr } = invocation
  const complain = (line: string): void => stderr(`millrace: ${line}`)
  const unusable = await unusableDirectory(config)
  if (unusable !== null) {
    complain(unusable)
    return 1
  }
  try {
    const index = await indexed(operands[0]!, complain, interrupted)
    await recoverArchive(config)
    const archive = await openOwnArchive(config, complain, interrupted)
    let filled: ArchiveFilling | null = null
    try {
      const plan = await plannedImport(index, archive.storage, config, complain)
      const lacking = await lackingOf(plan, archive, config)
      if (lacking === null) {
        const stays = await removeFilling(config, archive.place)
        if (stays !== null) stdout(replacedText(stays))
        return await addBlocks(index, plan, archive, invocation, complain)
      }
      const filling = await ArchiveFilling.open(config, archive.place, archive.storage, index.slots)
      if (filling === null) {
        await addBlocks(index, plan, archive, invocation, complain)
        complain(lacking)
        return 1
      }
      const { code, isWhole } = await fill(index, filling, archive, invocation, complain)
      if (isWhole) filled = filling
      return code
    } finally {
      await archive.close()
      await filled?.replace()
    }
  } catch (error) {
    if (interrupted.aborted) complain('interrupted; rerun the command to continue')
    else if (error instanceof ServiceError) complain(error.detail)
    else if (error instanceof Refused) complain(error.message)
    else throw error
    return 1
  }
}

async function indexed(
  folder: string,
  complain: (line: string) => void,
  signal: AbortSignal
): Promise<RecordedIndex> {
  const problems = new ProblemTally((problem) => complain(problemText(problem)))
  const index = await scanRecorded(folder, { problems, signal })
  signal.throwIfAborted()
  if (index.kind === 'not-a-directory') throw new Refused(`${folder} cannot be opened as a folder`)
  if (index.kind === 'empty')
    throw new Refused(
      `${folder} has no block or transaction that can be read; see \`millrace record --help\``
    )
  return index
}

/** Folds the archive again with the venues that it lacks. `isWhole`: the result can take the place of the archive. */
async function fill(
  index: RecordedIndex,
  filling: ArchiveFilling,
  archive: OwnArchive,
  invocation: Invocation,
  complain: (line: string) => void
): Promise<{ readonly code: number; readonly isWhole: boolean }> {
  const { storage } = filling
  invocation.stderr('the archive lacks venues: all of its blocks are refolded with them')
  try {
    const genesis = await archive.storage.coverage.genesis()
    if (genesis !== null) await storage.coverage.settleGenesis(genesis)
    const plan = await plannedImport(index, storage, invocation.config, complain)
    const code = await addBlocks(
      index,
      plan,
      { ...archive, storage },
      { ...invocation, config: filling.config },
      complain
    )
    if (invocation.interrupted.aborted || archive.lost.aborted) return { code, isWhole: false }
    if (!(await filling.isComplete(archive.storage))) {
      complain('the archive is unchanged, because a block of it could not be read from the folder')
      return { code: 1, isWhole: false }
    }
    const [before, after] = await Promise.all([archive.storage.totals.get(), storage.totals.get()])
    const added = (after?.trades ?? 0) - (before?.trades ?? 0)
    await filling.succeed(archive.storage)
    invocation.stdout(`${added} trades of venues that the archive lacked are added`)
    if (invocation.config.storage !== 'embedded')
      invocation.stdout(replacedText(archive.place.config.scyllaKeyspace))
    return { code, isWhole: true }
  } finally {
    await storage.close()
  }
}

async function lackingOf(
  plan: ImportPlan,
  { storage, place }: OwnArchive,
  config: Config
): Promise<string | null> {
  return lackingText(plan, await readDecodingPeriods(storage), config.venues, placeText(place))
}

async function addBlocks(
  index: RecordedIndex,
  plan: ImportPlan,
  { storage, lost, place }: OwnArchive,
  { config, configuration, interrupted, stdout, stderr }: Invocation,
  complain: (line: string) => void
): Promise<number> {
  const { clock } = systemPorts
  const stamp = new ImportStamp(archiveStampFile(config), storage.blocks, clock)
  const tools = new ImportTools(config, configuration.configMask(config))
  const counts: ImportCounts = { blocks: 0, trades: 0, slot: null }
  const startedMs = clock.now()
  const progress = (): void => stderr(progressText(counts, plan.due.length, clock.now() - startedMs))
  let toldMs = startedMs
  tools.feed.follow(({ slot: { slot, trades } }) => {
    counts.blocks++
    counts.trades += trades
    counts.slot = slot
    stamp.committed()
    if (clock.now() - toldMs < PROGRESS_MS) return
    toldMs = clock.now()
    progress()
  })
  const end = AbortSignal.any([interrupted, lost])
  try {
    const source = indexedSource({ ...index, slots: importedSlots(index, plan) }, clock)
    await importBlocks(storage, source, tools.deps, end)
  } finally {
    await tools.close()
    await stamp.close()
  }
  progress()
  for (const line of importSummary(counts, plan, index.problems)) stdout(line)
  const standing = await archiveStanding(storage, null)
  if (standing !== null) stdout(`the archive has ${archiveText(standing.archive)}`)
  const tooLate = tooLateText(plan, placeText(place))
  if (tooLate !== null) complain(tooLate)
  if (interrupted.aborted) complain('interrupted; rerun the command to continue')
  else if (lost.aborted)
    complain('the lease is lost, so another import may run now; rerun the command to continue')
  return end.aborted || tooLate !== null || lostItems(index.problems) > 0 ? 1 : 0
}

/** Compares the folder with the archive and the live store. Rejects with Refused if the folder is of another chain. */
async function plannedImport(
  index: RecordedIndex,
  archive: Storage,
  config: Config,
  complain: (line: string) => void
): Promise<ImportPlan> {
  const live = (await isStoreThere(config)) ? await openStoreToRead(config, () => undefined) : null
  try {
    const { refusal, warnings } = await importStanding(index, archive, live)
    if (refusal !== null)
      throw new Refused(
        `${refusal}; use another MILLRACE_DATA_DIR or MILLRACE_SCYLLA_KEYSPACE for this folder`
      )
    warnings.forEach(complain)
    const genesis = (await live?.coverage.genesis()) ?? null
    if (genesis !== null) await archive.coverage.settleGenesis(genesis)
    return await importPlan(index, archive.blocks, (await live?.blocks.firstSince(0)) ?? null)
  } finally {
    await live?.close()
  }
}

/** Returns the slots that the source may read, including stored ones, which a repaired archive reads again. */
function importedSlots({ slots }: RecordedIndex, { live }: ImportPlan): readonly number[] {
  return slots.slice(0, slots.length - live.length)
}

/** Names the archive's store. */
const placeText = ({ config }: ArchivePlace): string =>
  config.storage === 'embedded' ? storeDirectory(config) : `the keyspace ${config.scyllaKeyspace}`
