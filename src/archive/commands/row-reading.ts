import { stat } from 'node:fs/promises'
import type { SlotRow } from '../../market/rows.ts'
import type { VenueId } from '../../chain/venue-id.ts'
import { BATCH_ROWS, type FactWriter } from '../facts/fact-writer.ts'
import type { ImportSource, ImportState, StoredState } from '../facts/import-state.ts'
import { readTradeFacts } from '../rows/fact-reading.ts'
import type { Mapping } from '../rows/mapping.ts'
import type { NamedRowFile } from '../rows/path-content.ts'
import type { RowCheck } from '../rows/row-check.ts'
import type { RowTally } from '../rows/row-tally.ts'
import type { TradeFact } from '../rows/trade-fact.ts'
import type { RefusedFile } from './refused-file.ts'

/** Maximum paths whose names are kept; the trades of further ones count under one name. */
const SOURCES_MAX = 1_000
const OTHERS = 'other files'

/** The progress of reading rows. */
export interface RowProgress {
  readonly rows: number
  /** Share of the bytes of all files, from 0 to 1. */
  readonly share: number
}

export interface RowReadingTools {
  readonly writer: FactWriter
  readonly state: StoredState
  readonly firstLive: Pick<SlotRow, 'slot' | 'blockTime'> | null
  readonly mappings: readonly Mapping[]
  readonly hasVenue: boolean
  readonly check: RowCheck
  readonly tally: RowTally
  readonly refused: RefusedFile
  readonly signal: AbortSignal
  readonly onProgress: (progress: RowProgress) => void
}

/** Rows that an import read and did not store. */
export interface RowsLeftOut {
  /** Rows of slots that the index has or will have. */
  live: number
  /** Files that were read before an interruption. */
  filesBefore: number
}

/**
 * Reads the trades of files, and stores them as facts. After each batch the state says how far it is: an interrupted reading
 * continues there.
 */
export async function readRows(files: readonly NamedRowFile[], tools: RowReadingTools): Promise<RowsLeftOut> {
  const { state, signal, tally } = tools
  const reading = state.value.reading!
  const left: RowsLeftOut = { live: 0, filesBefore: reading.files }
  const sizes = await Promise.all(
    files.map(({ path }) =>
      stat(path).then(
        ({ size }) => size,
        () => 0
      )
    )
  )
  const total = Math.max(
    sizes.reduce((sum, size) => sum + size, 0),
    1
  )
  let done = sizes.slice(0, reading.files).reduce((sum, size) => sum + size, 0)
  for (const [at, file] of files.entries()) {
    if (at < reading.files) continue
    if (signal.aborted) return left
    const progress = (bytes: number): void =>
      tools.onProgress({ rows: tally.rows, share: Math.min((done + bytes) / total, 1) })
    await readFile(file, at, at === reading.files ? reading.rows : 0, tools, left, progress)
    done += sizes[at]!
  }
  return left
}

async function readFile(
  file: NamedRowFile,
  at: number,
  skipped: number,
  tools: RowReadingTools,
  left: RowsLeftOut,
  progress: (bytes: number) => void
): Promise<void> {
  const { writer, state, firstLive, tally, refused, signal } = tools
  const source = new SourceRanges()
  let bytes: { readonly bytesRead: number } = { bytesRead: 0 }
  let taken = 0
  const mappingsBefore = new Set(tally.byMapping.keys())
  const settle = async (files: number, rows: number): Promise<void> => {
    await writer.flush()
    refused.flush()
    const columns = [...tally.byMapping.keys()].filter((name) => !mappingsBefore.has(name))
    const reading = { ...state.value.reading!, files, rows, refusedBytes: refused.bytes }
    await state.change({ sources: source.addedTo(state.value.sources, file.source, columns), reading })
  }
  const onOpen = (opened: { readonly bytesRead: number }): void => void (bytes = opened)
  const { mappings, hasVenue, check } = tools
  const facts = readTradeFacts([file], { mappings, hasVenue, check, tally, signal, onOpen })
  let settled = 0
  for await (const some of facts) {
    for (const row of some) {
      // Rows that were stored before an interruption are read again, for the decimals that they state.
      if (++taken <= skipped) continue
      if (isLive(row.fact, firstLive)) left.live++
      else {
        writer.addRow(row)
        source.add(row.fact)
      }
    }
    if (taken - settled < BATCH_ROWS) continue
    progress(bytes.bytesRead)
    await settle(at, taken)
    settled = taken
  }
  if (signal.aborted) return
  await settle(at + 1, 0)
  progress(0)
}

function isLive(
  { slot, blockTime }: TradeFact,
  firstLive: Pick<SlotRow, 'slot' | 'blockTime'> | null
): boolean {
  if (firstLive === null) return false
  return slot === null ? blockTime! >= firstLive.blockTime : slot >= firstLive.slot
}

/** The ranges of the trades that a file states. */
class SourceRanges {
  readonly #slots = new Map<VenueId, { from: number; to: number }>()
  readonly #times = new Map<VenueId, { from: number; to: number }>()

  add({ slot, blockTime, venue }: TradeFact): void {
    const [ranges, value] = slot === null ? [this.#times, blockTime!] : [this.#slots, slot]
    const range = ranges.get(venue)
    if (range === undefined) ranges.set(venue, { from: value, to: value })
    else {
      range.from = Math.min(range.from, value)
      range.to = Math.max(range.to, value)
    }
  }

  /** Returns the sources of a state with these ranges under a name. */
  addedTo(sources: ImportState['sources'], name: string, columns: readonly string[]): ImportState['sources'] {
    if (this.#slots.size + this.#times.size === 0) return sources
    const isRoom = sources.length < SOURCES_MAX
    const known = sources.find((each) => each.name === name)
    const own = known ?? (isRoom ? undefined : sources.find((each) => each.name === OTHERS))
    const before: ImportSource = own ?? { name: isRoom ? name : OTHERS, columns: [], slots: {}, times: {} }
    const after: ImportSource = {
      ...before,
      columns: [...new Set([...before.columns, ...columns])].sort(),
      slots: widened(before.slots, this.#slots),
      times: widened(before.times, this.#times)
    }
    return own === undefined ? [...sources, after] : sources.map((each) => (each === own ? after : each))
  }
}

function widened(
  before: ImportSource['slots'],
  added: ReadonlyMap<VenueId, { readonly from: number; readonly to: number }>
): ImportSource['slots'] {
  const after = { ...before }
  for (const [venue, { from, to }] of added) {
    const known = after[venue]
    after[venue] =
      known === undefined ? { from, to } : { from: Math.min(known.from, from), to: Math.max(known.to, to) }
  }
  return after
}
