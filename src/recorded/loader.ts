import { join } from 'node:path'
import { readRpcRecord, type RecordContext, type RecordOutcome } from '../chain/rpc/record.ts'
import { formatOf, openBytes, readText, slotOfName } from './files.ts'
import { readLines, type Line } from './lines.ts'

/** Where a record is: a whole file, or a line of one. */
export interface RecordPlace {
  /** Path below the folder. */
  readonly file: string
  readonly line: Omit<Line, 'text'> | null
}

export type TextOutcome = RecordOutcome | { readonly kind: 'not-json'; readonly detail: string }

/** The record in a text; the file's name stands in where the record has no slot. */
export function readRecordText(text: string, file: string, context: RecordContext = {}): TextOutcome {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    return { kind: 'not-json', detail: (error as Error).message }
  }
  return readRpcRecord(value, { slot: slotOfName(file), ...context })
}

// Chosen: files interleaved by slot are few; each holds a decompressor of some 100 KiB to 8 MiB.
const OPEN_MAX = 8

/**
 * Reads records again by their place. Lines of a compressed file are read forward from where the last one ended, so
 * records in order of their lines cost one pass, and a step back costs reading from the start.
 */
export class RecordLoader {
  readonly #directory: string
  readonly #recordBytesMax: number
  /** Open compressed files, least recently used first. */
  readonly #open = new Map<string, AsyncGenerator<Line>>()
  readonly #passed = new Map<string, number>()

  constructor(directory: string, recordBytesMax: number) {
    this.#directory = directory
    this.#recordBytesMax = recordBytesMax
  }

  /** The record; null when it is not there any more. Rejects when the file cannot be read. */
  async load({ file, line }: RecordPlace, context: RecordContext): Promise<TextOutcome | null> {
    const compression = formatOf(file)?.compression ?? null
    const text =
      line !== null && compression !== null
        ? await this.#textOfLine(file, line.number)
        : await readText(openBytes(join(this.#directory, file), compression, line), this.#recordBytesMax)
    return text === null ? null : readRecordText(text, file, context)
  }

  async close(): Promise<void> {
    for (const file of this.#open.keys()) await this.#closeFile(file)
  }

  async #textOfLine(file: string, number: number): Promise<string | null> {
    if ((this.#passed.get(file) ?? 0) >= number) await this.#closeFile(file)
    const lines = await this.#linesOf(file)
    for (;;) {
      const next = await lines.next()
      if (next.done === true) return null
      this.#passed.set(file, next.value.number)
      if (next.value.number >= number) return next.value.text
    }
  }

  async #linesOf(file: string): Promise<AsyncGenerator<Line>> {
    let lines = this.#open.get(file)
    if (lines === undefined) {
      const [oldest] = this.#open.keys()
      if (oldest !== undefined && this.#open.size >= OPEN_MAX) await this.#closeFile(oldest)
      const bytes = openBytes(join(this.#directory, file), formatOf(file)?.compression ?? null)
      lines = readLines(bytes, this.#recordBytesMax)
    }
    this.#open.delete(file)
    this.#open.set(file, lines)
    return lines
  }

  async #closeFile(file: string): Promise<void> {
    const lines = this.#open.get(file)
    this.#open.delete(file)
    this.#passed.delete(file)
    await lines?.return(undefined)
  }
}
