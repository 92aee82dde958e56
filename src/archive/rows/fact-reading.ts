import { chooseColumns } from './column-choice.ts'
import type { Mapping } from './mapping.ts'
import type { RowCheck } from './row-check.ts'
import { readRowFile, type RowFile } from './row-file.ts'
import type { ReadBytes } from '../../recorded/files.ts'
import type { ChooseColumns, RowItem } from './row-item.ts'
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
  /** Ends the reading within the next rows that are handed over together. */
  readonly signal: AbortSignal
  /** Called with the bytes of each file that is read as text, which grow while it is read. */
  readonly onOpen?: (file: ReadBytes) => void
}

/** An accepted trade, and its 1-based line or row in the file. */
export interface ReadFact {
  readonly fact: TradeFact
  readonly line: number
}

/**
 * Yields the accepted trades of files, some at a time, in the order of the files and of their rows. Counts every row in the
 * tally.
 */
export async function* readTradeFacts(
  files: Iterable<RowFile>,
  reading: FactReading
): AsyncGenerator<readonly ReadFact[]> {
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

async function* factsOf(file: RowFile, reading: FactReading): AsyncGenerator<readonly ReadFact[]> {
  const { mappings, hasVenue, check, tally, signal } = reading
  const refuse = (refusal: Omit<Refusal, 'file'>): void => tally.refusals.add({ ...refusal, file: file.name })
  const choose: ChooseColumns = (columns) => {
    const { mapping, selected } = chooseColumns(mappings, columns, hasVenue)
    tally.chose(mapping)
    return selected
  }
  /** Returns the trade of a row; null if it is refused. */
  const factIn = (item: RowItem): ReadFact | null => {
    const { line, rowGroup } = item
    if (rowGroup === null || line !== null) tally.rows++
    const outcome = item.kind === 'broken' ? item : check.check(item.cells)
    if (outcome.kind !== 'fact') {
      refuse({ reason: outcome.reason, detail: outcome.detail, line, rowGroup })
      return null
    }
    tally.accept(outcome.fact)
    return { fact: outcome.fact, line: line ?? 0 }
  }
  for await (const items of readRowFile(file, choose, reading.onOpen)) {
    if (signal.aborted) return
    const facts: ReadFact[] = []
    for (const item of items) {
      const fact = factIn(item)
      if (fact !== null) facts.push(fact)
    }
    yield facts
  }
}
