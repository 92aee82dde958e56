import { readManyLines, type Line } from '../../recorded/lines.ts'
import { ROW_BYTES_MAX } from './row-item.ts'

/** The text of one record, with the line on which it begins; null if the line is too long. */
export interface CsvRecordText {
  readonly line: number
  readonly text: string | null
  /** The lines of the record; more than one if a quoted cell has line breaks. */
  readonly lines: readonly Line[]
}

/** Maximum lines of a record. Names of tokens have line breaks; a quote that is never closed must end somewhere. */
const RECORD_LINES_MAX = 100

const QUOTES = /"/g
const quotesIn = (text: string): number => (text.includes('"') ? text.match(QUOTES)!.length : 0)

/**
 * Splits CSV text into records: a line, and the lines after it while a quote is open. If a quote is not closed within the
 * limit, its line is a record of its own, and the lines after it are read anew.
 */
export class CsvRecords {
  readonly #lines: AsyncIterator<readonly Line[]>
  /** Lines that were read and not taken yet, and lines to read again, in order. */
  #ahead: Line[] = []
  /** The fault that ended the file; null before a fault. */
  #fault: Error | null = null

  constructor(bytes: AsyncIterable<Buffer>) {
    this.#lines = readManyLines(bytes, ROW_BYTES_MAX)
  }

  /** Takes the next record if it is a line that was read; undefined if more must be read (`next`). */
  taken(): CsvRecordText | undefined {
    const [line] = this.#ahead
    if (line === undefined || (line.text !== null && quotesIn(line.text) % 2 === 1)) return undefined
    this.#ahead.shift()
    const { number, text } = line
    return { line: number, text: text === null ? null : withoutReturn(text), lines: [line] }
  }

  /** Reads the next record; null at the end. Rejects with the fault of the file, after the records before. */
  async next(): Promise<CsvRecordText | null> {
    const first = await this.#nextLine()
    if (first === null) {
      if (this.#fault !== null) throw this.#fault
      return null
    }
    if (first.text === null) return { line: first.number, text: null, lines: [first] }
    const lines = [first]
    let quotes = quotesIn(first.text)
    let size = first.length
    while (quotes % 2 === 1) {
      const more = await this.#nextLine()
      if (more !== null) {
        lines.push(more)
        size += more.length
        quotes += more.text === null ? 0 : quotesIn(more.text)
      }
      if (more === null || more.text === null || lines.length > RECORD_LINES_MAX || size > ROW_BYTES_MAX) {
        this.readAgain(lines.slice(1))
        return { line: first.number, text: withoutReturn(first.text), lines: [first] }
      }
    }
    return { line: first.number, text: lines.map(({ text }) => withoutReturn(text!)).join('\n'), lines }
  }

  /** Puts lines back, to be read next. */
  readAgain(lines: readonly Line[]): void {
    this.#ahead = [...lines, ...this.#ahead]
  }

  async close(): Promise<void> {
    await this.#lines.return?.()
  }

  async #nextLine(): Promise<Line | null> {
    const ahead = this.#ahead.shift()
    if (ahead !== undefined) return ahead
    try {
      const next = await this.#lines.next()
      if (next.done === true) return null
      this.#ahead = [...next.value]
      return this.#ahead.shift() ?? null
    } catch (error) {
      // Lines of a record whose quote is still open are read again, one by one.
      this.#fault = error as Error
      return null
    }
  }
}

const withoutReturn = (text: string): string => (text.endsWith('\r') ? text.slice(0, -1) : text)
