import { secondsText } from '../../kernel/http/time.ts'
import type { ProblemReason, ProblemTally, RecordedProblem } from '../../recorded/problems.ts'
import type { Archive } from '../archive.ts'
import type { FoldTally, HeldBackReason } from '../facts/held-back.ts'
import { contradictionLines, refusalLines, rowReport } from '../rows/row-report.ts'
import type { RowTally } from '../rows/row-tally.ts'
import type { MissingTimeReason, TimeTally } from './slot-timing.ts'
import type { BlockTally } from './block-reading.ts'

/** The outcome of an import. */
export interface ImportOutcome {
  /** Null if no folder with blocks was imported. */
  readonly blocks: BlockTally | null
  /** Null if no file with rows was imported. */
  readonly rows: RowTally | null
  readonly left: { readonly live: number; readonly filesBefore: number }
  readonly times: TimeTally
  readonly fold: FoldTally
  /** Whether all facts were folded again. */
  readonly isRefolded: boolean
  readonly problems: ProblemTally
  /** The file with the refused rows, and the refusals that are not in it; null if nothing was refused. */
  readonly refusedFile: { readonly path: string; readonly leftOut: number } | null
  /** The range of the archive; null if it is empty or the import was interrupted. */
  readonly archive: Pick<Archive, 'first' | 'last'> | null
}

/** Items that can be left out without loss: files of another kind, and slots without a block. */
const HARMLESS: ReadonlySet<ProblemReason> = new Set(['other-file', 'no-result'])

/** Returns the number of items of a folder that hold blocks or transactions and could not be read. */
export function lostItems(problems: ProblemTally): number {
  const counts = Object.entries(problems.counts) as [ProblemReason, number][]
  return counts.reduce((sum, [reason, count]) => (HARMLESS.has(reason) ? sum : sum + count), 0)
}

/** Names an item that is left out. */
export function problemText({ reason, file, line, detail }: RecordedProblem): string {
  return `${line === null ? file : `${file}, line ${line}`} is left out (${reason}): ${detail}`
}

/** Formats the progress of reading: `share` is from 0 to 1. */
export function progressText(what: string, count: number, unit: string, share: number, ms: number): string {
  const rate = (count / Math.max(ms / 1_000, 0.001)).toFixed(unit === 'rows' ? 0 : 1)
  const left = share > 0 && share < 1 ? `, ${durationText((ms * (1 - share)) / share)} left` : ''
  return `${what}, ${Math.floor(100 * Math.min(share, 1))} %: ${count} ${unit}, ${rate} ${unit}/s${left}`
}

/** Describes a duration in the unit that suits its length. */
export function durationText(ms: number): string {
  const seconds = Math.ceil(ms / 1_000)
  if (seconds < 120) return `${seconds} s`
  return seconds < 7_200 ? `${Math.ceil(seconds / 60)} min` : `${Math.ceil(seconds / 3_600)} h`
}

/** Returns the report of an import in lines and as JSON, and whether everything was imported. */
export function importLines(outcome: ImportOutcome): {
  readonly lines: readonly string[]
  readonly json: object
  readonly isComplete: boolean
} {
  const { blocks, rows, left, times, fold, problems, refusedFile, archive, isRefolded } = outcome
  const report = rows === null ? null : rowReport(rows, 0)
  const lines: string[] = []
  if (blocks !== null) {
    lines.push(
      `${blocks.blocks} blocks with ${blocks.trades} trades are imported; ${blocks.stored} blocks were there before`
    )
    if (blocks.live.length > 0)
      lines.push(
        `${blocks.live.length} blocks are left out, because the index has these slots or will have them: ${rangeText(blocks.live)}`
      )
  }
  const counts = Object.entries(problems.counts).map(([reason, count]) => `${count} ${reason}`)
  if (counts.length > 0) lines.push(`left out of the folders: ${counts.join(', ')}`)
  if (report !== null) {
    lines.push(
      `${report.rows} rows in ${report.files} files: ${report.accepted} accepted, ${report.refused} refusals`
    )
    if (left.filesBefore > 0) lines.push(`${left.filesBefore} files were read before the interruption`)
    if (left.live > 0)
      lines.push(`${left.live} rows are left out, because the index has their slots or will have them`)
    lines.push(...refusalLines(report.refusals), ...contradictionLines(report))
  }
  lines.push(...timeLines(times), ...foldLines(fold))
  if (refusedFile !== null) {
    const more = refusedFile.leftOut > 0 ? `; ${refusedFile.leftOut} more did not fit in` : ''
    lines.push(`refused rows are listed in ${refusedFile.path}${more}`)
  }
  if (isRefolded)
    lines.push(
      `the whole archive was folded again (${fold.folded} trades), because something was added before its end`
    )
  if (archive !== null) lines.push(`the archive has ${archiveText(archive)}`)
  const json = {
    blocks: blocks && {
      imported: blocks.blocks,
      trades: blocks.trades,
      stored_before: blocks.stored,
      live: blocks.live.length,
      left_out: problems.counts
    },
    rows: report && { ...report, live: left.live, files_before: left.filesBefore },
    times: { read: times.given, missing: Object.fromEntries(times.missing) },
    fold: {
      refolded: isRefolded,
      trades: fold.folded,
      trades_of_files: fold.rows,
      repeated: fold.repeated,
      superseded: fold.superseded,
      outliers: fold.outliers,
      held_back: Object.fromEntries(fold.heldBack)
    },
    refused_file: refusedFile?.path ?? null,
    first_slot: archive?.first.slot ?? null,
    last_slot: archive?.last.slot ?? null
  }
  const isHeldBack = fold.heldBackTotal > 0 || times.missingTotal > 0
  const isComplete = (report?.refused ?? 0) === 0 && !isHeldBack && lostItems(problems) === 0
  return { lines, json, isComplete }
}

/** Why rows are held back, and what supplies what they lack. */
const HELD_BACK_TEXTS: Readonly<Record<HeldBackReason, string>> = {
  'unknown-time':
    'nothing states the time of their slots: set MILLRACE_ARCHIVE_RPC_URL, import a file with times, or read the slots with ' +
    '`archive backfill`',
  'time-contradicts-slot': 'an earlier slot has a later time',
  'unknown-decimals': 'nothing states the decimals of a mint: import a file or blocks that do',
  'decimals-contradict': 'a block, or another row, states other decimals of a mint',
  'no-position': 'their slots have more than 65,536 trades'
}

/** Why slots have no time, and what helps. */
const MISSING_TIME_TEXTS: Readonly<Record<MissingTimeReason, string>> = {
  'no-node': 'set MILLRACE_ARCHIVE_RPC_URL or MILLRACE_RPC_URL, and rerun the command',
  'no-answer': 'the node did not answer; rerun the command to ask it again',
  'no-method': 'the node does not have getBlockTime; set MILLRACE_ARCHIVE_RPC_URL to one that does',
  'no-time': 'the node has no time of them',
  'no-block': 'by the node, the chain has no block there',
  'not-stored': 'the node does not store them; set MILLRACE_ARCHIVE_RPC_URL to one that does',
  'other-chain': 'the node is of another chain'
}

/** Says which times were read from a node, in lines. */
function timeLines({ given, missing }: TimeTally): string[] {
  const lines = given > 0 ? [`times of ${given} slots are read from the node`] : []
  for (const [reason, slots] of missing)
    lines.push(`slots of files without a time, ${reason}: ${slots}; ${MISSING_TIME_TEXTS[reason]}`)
  return lines
}

/** Says what a fold has done with rows of files, in lines. */
export function foldLines(fold: FoldTally): string[] {
  const lines: string[] = []
  if (fold.repeated > 0) lines.push(`${fold.repeated} rows repeat others`)
  if (fold.superseded > 0)
    lines.push(`${fold.superseded} rows are of slots that the archive has as whole blocks`)
  if (fold.live > 0) lines.push(`${fold.live} rows without a slot are of the time of the index`)
  for (const [reason, count] of fold.heldBack)
    lines.push(`held back, ${reason}: ${count} rows; ${HELD_BACK_TEXTS[reason]}`)
  if (fold.outliers > 0)
    lines.push(`${fold.outliers} trades have a price far from those before, which forms no candle`)
  return lines
}

/** Says that a write has failed because the disk is full. */
export const fullDiskText = (dataDir: string): string =>
  `the disk of ${dataDir} is full; free some space, and rerun the command to continue`

/** Says that services leave a keyspace that is no longer the archive. */
export function replacedText(keyspace: string): string {
  return (
    `the archive has another keyspace now; services stop reading ${keyspace} within 2 minutes, and an import that runs 5 ` +
    `minutes later, or you, can drop it`
  )
}

/** Describes the range of an archive. */
export function archiveText({ first, last }: Pick<Archive, 'first' | 'last'>): string {
  return `slots ${first.slot} to ${last.slot}, ${secondsText(first.blockTime)} to ${secondsText(last.blockTime)} UTC`
}

/** Describes slots, at least one. */
function rangeText(slots: readonly number[]): string {
  const [first, last] = [Math.min(...slots), Math.max(...slots)]
  return first === last ? `slot ${first}` : `slots ${first} to ${last}`
}
