import { chooseColumns } from './column-choice.ts'
import type { Mapping } from './mapping.ts'
import type { RowCheck } from './row-check.ts'
import { readRowFile, type RowFile } from './row-file.ts'
import type { ReadBytes } from '../../recorded/files.ts'
import type { ChooseColumns } from './row-item.ts'
import { RefusedFile, type Refusal } from './row-refusal.ts'
import type { RowTally } from './row-tally.ts'
import type { TradeFact } from './trade-fact.ts'

/** The means to turn the files of one import into facts. */
export interface FactReading {
  /** Mappings to try, in this order. */
  readonly mappings: readonly Mapping[]
  /** Whether the operator names the venue of rows without one. */
  readonly hasVenue: boolean
  readonly check: RowCheck
  /** Counts rows and refusals. */
  readonly tally: RowTally
  /** Ends the reading at the next row. */
  readonly signal: AbortSignal
  /** Called with the bytes of each file that is read as text, which grow while it is read. */
  readonly onOpen?: (file: ReadBytes) => void
}

/** An accepted trade, and its 1-based line or row in the file. */
export interface ReadFact {
  readonly fact: TradeFact
  readonly line: number
}

/** Yields the accepted trades of files, in the order of the files and of their rows. Counts every row in the tally. */
export async function* readTradeFacts(
  files: Iterable<RowFile>,
  reading: FactReading
): AsyncGenerator<ReadFact> {
  for (const file of files) {
    if (reading.signal.aborted) return
    reading.tally.files++
    try {
      yield* factsOf(file, reading)
    } catch (error) {
      if (!(error instanceof RefusedFile)) throw error
      const { reason, message } = error
      reading.tally.refusals.add({ reason, file: file.name, line: null, rowGroup: null, detail: message })
    }
  }
}

async function* factsOf(file: RowFile, reading: FactReading): AsyncGenerator<ReadFact> {
  const { mappings, hasVenue, check, tally, signal } = reading
  const refuse = (refusal: Omit<Refusal, 'file'>): void => tally.refusals.add({ ...refusal, file: file.name })
  const choose: ChooseColumns = (columns) => {
    const { mapping, selected } = chooseColumns(mappings, columns, hasVenue)
    tally.chose(mapping)
    return selected
  }
  for await (const item of readRowFile(file, choose, reading.onOpen)) {
    if (signal.aborted) return
    if (item.rowGroup === null || item.line !== null) tally.rows++
    const { line, rowGroup } = item
    if (item.kind === 'broken') {
      refuse({ reason: item.reason, detail: item.detail, line, rowGroup })
      continue
    }
    const outcome = check.check(item.cells)
    if (outcome.kind === 'refused') {
      refuse({ reason: outcome.reason, detail: outcome.detail, line, rowGroup })
      continue
    }
    tally.accept(outcome.fact)
    yield { fact: outcome.fact, line: line ?? 0 }
  }
}
