import { join } from 'node:path'
import type { Config } from '../../kernel/config/config.ts'
import { ServiceError } from '../../kernel/errors.ts'
import type { Invocation } from '../../kernel/cli/command.ts'
import { isSystemError } from '../../kernel/cli/system-error.ts'
import type { SlotRow } from '../../market/rows.ts'
import { systemPorts } from '../../ports.ts'
import { importStanding } from '../../recorded/import-standing.ts'
import { unusableDirectory } from '../../store/data-directory.ts'
import { archiveConfigOf, isStoreThere, openStoreToRead } from '../../store/opening.ts'
import type { Storage } from '../../../storage/port.ts'
import { wholeBlocks } from '../whole-blocks.ts'
import { FoldTally } from '../facts/held-back.ts'
import { FactWriter } from '../facts/fact-writer.ts'
import { MintDecimals } from '../facts/mint-decimals.ts'
import type { PathContent } from '../rows/path-content.ts'
import { RowCheck } from '../rows/row-check.ts'
import { RefusalTally } from '../rows/row-refusal.ts'
import { RowTally } from '../rows/row-tally.ts'
import { TimeTally } from './slot-timing.ts'
import { foldedEnds, onceASecond, runFold, settleSettings } from './fold-run.ts'
import { isDiskFull } from '../../../actors/storage/disk-full.ts'
import { refuseDamage } from '../../../actors/archive/fold-archive.ts'
import { BlockTally, readBlocks } from './block-reading.ts'
import { fullDiskText, importLines, progressText, type ImportOutcome } from './import-report.ts'
import { indexedFolders, Refused, type IndexedFolders } from './indexed-folders.ts'
import { openOwnArchive, type OwnArchive } from './own-archive.ts'
import { requestsPerSecond, type NodeRateOption } from './node-rate.ts'
import { readingKey, type RowsReading } from './reading-key.ts'
import { RefusedFile } from './refused-file.ts'
import { readRows } from './row-reading.ts'
import { recoverArchive } from './second-store.ts'
import { readTimes } from './times-reading.ts'

/** The options of an import that concern its run and its report. */
export interface ImportRunOptions extends NodeRateOption {
  readonly json?: true | undefined
}

/**
 * Imports recorded blocks and trade rows into the archive, with progress: reads them into its facts, and then folds the facts
 * into its store. Resolves with 1 if anything was refused or could not be read, and if the import was refused, failed or
 * interrupted.
 */
export async function importArchive(
  content: PathContent,
  reading: RowsReading,
  invocation: Invocation<ImportRunOptions>
): Promise<number> {
  const { config, interrupted, stderr } = invocation
  const complain = (line: string): void => stderr(`millrace: ${line}`)
  const rate = requestsPerSecond(invocation.options)
  const unusable = await unusableDirectory(config)
  if (unusable !== null) {
    complain(unusable)
    return 1
  }
  try {
    const folders = await indexedFolders(content, complain, interrupted)
    await recoverArchive(config)
    const archive = await openOwnArchive(config, complain, interrupted)
    try {
      return await new ArchiveImport(archive, content, folders, reading, invocation, rate).run()
    } finally {
      await archive.close()
    }
  } catch (error) {
    if (interrupted.aborted) complain('interrupted; rerun the command to continue')
    else if (isDiskFull(error)) complain(fullDiskText(config.dataDir))
    else if (error instanceof ServiceError) complain(error.detail)
    else if (error instanceof Refused) complain(error.message)
    else if (isSystemError(error))
      complain(`a file of the archive cannot be written (${error.message}); rerun the command to continue`)
    else throw error
    return 1
  }
}

class ArchiveImport {
  readonly #archive: OwnArchive
  readonly #content: PathContent
  readonly #folders: IndexedFolders
  readonly #reading: RowsReading
  readonly #invocation: Invocation<ImportRunOptions>
  readonly #config: Config
  readonly #requestsPerSecond: number
  readonly #signal: AbortSignal
  readonly #tell: (text: () => string) => void

  constructor(
    archive: OwnArchive,
    content: PathContent,
    folders: IndexedFolders,
    reading: RowsReading,
    invocation: Invocation<ImportRunOptions>,
    rate: number
  ) {
    this.#requestsPerSecond = rate
    this.#archive = archive
    this.#content = content
    this.#folders = folders
    this.#reading = reading
    this.#invocation = invocation
    this.#config = invocation.config
    this.#tell = onceASecond(invocation.stderr)
    this.#signal = AbortSignal.any([invocation.interrupted, archive.lost])
  }

  async run(): Promise<number> {
    const { archive, config } = { archive: this.#archive, config: this.#config }
    refuseDamage(archive.storage)
    const firstLive = await this.#compareChains()
    await settleSettings(archive, config)
    const key = await readingKey(this.#content, this.#reading)
    const { state, facts, storage } = archive
    const path = join(archiveConfigOf(config).dataDir, `refused-${key.slice(0, 12)}.ndjson`)
    if (state.value.reading?.key !== key)
      await state.change({ reading: { key, files: 0, rows: 0, isDone: false, refusedBytes: 0 } })
    const refused = new RefusedFile(path, state.value.reading!.refusedBytes)
    const rows = new RowTally(new RefusalTally((refusal) => refused.add(refusal)))
    const blocks = new BlockTally()
    const fold = new FoldTally()
    let left = { live: 0, filesBefore: 0 }
    let unchanging = { superseded: 0, repeated: 0 }
    const isRead = state.value.reading!.isDone
    if (isRead)
      this.#invocation.stderr('an interrupted import of these paths has read them: the fold continues')
    try {
      if (!isRead) {
        for (const refusal of this.#content.refusals) rows.refusals.add(refusal)
        const head = (await storage.blocks.head())?.slot ?? null
        const writer = new FactWriter(facts, state, new MintDecimals(facts), head)
        await this.#readBlocks(writer, blocks, firstLive)
        left = await this.#readRows(writer, rows, refused, firstLive)
        unchanging = writer.unchanging
        if (!this.#signal.aborted)
          await state.change({
            reading: { ...state.value.reading!, isDone: true, refusedBytes: refused.bytes }
          })
      }
    } finally {
      refused.close()
    }
    const times = new TimeTally()
    if (!this.#signal.aborted) await this.#readTimes(times, firstLive)
    const isRefolded = this.#signal.aborted ? false : await this.#fold(firstLive, fold)
    if (!isRefolded) {
      fold.superseded += unchanging.superseded
      fold.repeated += unchanging.repeated
    }
    const outcome: ImportOutcome = {
      blocks: isRead || this.#folders.indexes.length === 0 ? null : blocks,
      rows: isRead || (this.#content.rows.length === 0 && rows.refusals.total === 0) ? null : rows,
      left,
      times,
      fold,
      isRefolded,
      problems: this.#folders.problems,
      refusedFile: refused.bytes === 0 ? null : { path, leftOut: refused.leftOut },
      archive: this.#signal.aborted ? null : await foldedEnds(archive, config)
    }
    return this.#report(outcome)
  }

  /** Folds the facts. Resolves with whether the archive was replaced. */
  async #fold(firstLive: SlotRow | null, tally: FoldTally): Promise<boolean> {
    const { stdout } = this.#invocation
    const kind = await runFold(this.#archive, {
      ...{ config: this.#config, signal: this.#signal, firstLive, tally, stdout },
      tell: this.#tell
    })
    if (kind !== 'interrupted' && !this.#signal.aborted) await this.#archive.state.change({ reading: null })
    return kind === 'refolded'
  }

  async #readBlocks(writer: FactWriter, tally: BlockTally, firstLive: SlotRow | null): Promise<void> {
    const startedMs = systemPorts.clock.now()
    for (const index of this.#folders.indexes)
      await readBlocks(index, {
        facts: this.#archive.facts,
        writer,
        firstLive: firstLive?.slot ?? null,
        tally,
        config: this.#config,
        signal: this.#signal,
        onBlock: (slot) =>
          this.#tell(() => {
            const ms = systemPorts.clock.now() - startedMs
            return progressText(
              `slot ${slot}`,
              tally.blocks,
              'blocks',
              tally.blocks / Math.max(tally.due, 1),
              ms
            )
          })
      })
  }

  async #readRows(
    writer: FactWriter,
    tally: RowTally,
    refused: RefusedFile,
    firstLive: SlotRow | null
  ): Promise<{ readonly live: number; readonly filesBefore: number }> {
    const startedMs = systemPorts.clock.now()
    const { mappings, venue } = this.#reading
    const check = new RowCheck({ venue, now: Math.floor(startedMs / 1_000) })
    return readRows(this.#content.rows, {
      ...{ writer, state: this.#archive.state, firstLive, mappings, check, tally, refused },
      hasVenue: venue !== null,
      signal: this.#signal,
      onProgress: ({ rows, share }) =>
        this.#tell(() => progressText('reading', rows, 'rows', share, systemPorts.clock.now() - startedMs))
    })
  }

  /** Reads times that files lack from nodes. */
  async #readTimes(tally: TimeTally, firstLive: SlotRow | null): Promise<void> {
    const { stderr } = this.#invocation
    let requests = 0
    await readTimes(this.#archive, {
      ...{ config: this.#config, requestsPerSecond: this.#requestsPerSecond, firstLive, tally },
      signal: this.#signal,
      complain: (line) => stderr(`millrace: ${line}`),
      onProgress: () => {
        requests++
        this.#tell(() => `times of slots: ${tally.given} read from the node, ${requests} requests`)
      }
    })
  }

  /** Compares the folders with the archive and the live store. Resolves with the first indexed block. */
  async #compareChains(): Promise<SlotRow | null> {
    const { storage } = this.#archive
    const live = (await isStoreThere(this.#config))
      ? await openStoreToRead(this.#config, () => undefined)
      : null
    try {
      for (const index of this.#folders.indexes) {
        const { refusal, warnings } = await importStanding(index, wholeBlocks(storage), live)
        if (refusal !== null)
          throw new Refused(
            `${refusal}; use another MILLRACE_DATA_DIR or MILLRACE_SCYLLA_KEYSPACE for this folder`
          )
        for (const line of warnings) this.#invocation.stderr(`millrace: ${line}`)
      }
      const genesis = (await live?.coverage.genesis()) ?? null
      if (genesis !== null) await storage.coverage.settleGenesis(genesis)
      const first = (await live?.blocks.firstSince(0)) ?? null
      return first === null ? null : await (live as Storage).blocks.at(first)
    } finally {
      await live?.close()
    }
  }

  #report(outcome: ImportOutcome): number {
    const { stdout, stderr, interrupted, options } = this.#invocation
    const { lines, json, isComplete } = importLines(outcome)
    if (options.json === true) stdout(JSON.stringify(json))
    else for (const line of lines) stdout(line)
    if (interrupted.aborted) stderr('millrace: interrupted; rerun the command to continue')
    else if (this.#archive.lost.aborted)
      stderr('millrace: the lease is lost, so another import may run now; rerun the command to continue')
    return this.#signal.aborted || !isComplete ? 1 : 0
  }
}
