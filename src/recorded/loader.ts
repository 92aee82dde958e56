import { join } from 'node:path'
import { readRpcRecord, type RecordContext, type RecordOutcome } from '../chain/rpc/record.ts'
import { formatOf, openBytes, readText, slotOfName } from './files.ts'
import { readLines, type Line } from './lines.ts'

/** The place of a record: a whole file, or a line of one. */
export interface RecordPlace {
  /** Path below the folder. */
  readonly file: string
  readonly line: Omit<Line, 'text'> | null
}

export type TextOutcome = RecordOutcome | { readonly kind: 'not-json'; readonly detail: string }

/** Parses the record in a text; a record without a slot gets the one in the file's name. */
export function readRecordText(text: string, file: string, context: RecordContext = {}): TextOutcome {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    return { kind: 'not-json', detail: (error as Error).message }
  }
  return readRpcRecord(value, { slot: slotOfName(file), ...context })
}

// Limits memory: each open file holds a decompressor of 100 KiB to 8 MiB, and few files are interleaved by slot.
const OPEN_MAX = 8

/**
 * Reads records again by their place. Lines of a compressed file are read forward from the last one, so records in
 * order of their lines need one pass. An earlier line restarts at the beginning of the file.
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

  /** Reads a record; null if it no longer exists. Rejects when the file cannot be read. */
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
