/** A line of a file: its text, or null if it exceeds the limit. */
export interface Line {
  /** 1-based. */
  readonly number: number
  /** Offset and length in the decompressed bytes. */
  readonly start: number
  readonly length: number
  readonly text: string | null
}

const NEWLINE = 10

/**
 * Yields the lines of a byte stream that are not blank, one by one. A line longer than `bytesMax` is skipped without buffering
 * it. An error of the stream is thrown after the lines before it.
 */
export async function* readLines(bytes: AsyncIterable<Buffer>, bytesMax: number): AsyncGenerator<Line> {
  for await (const lines of readManyLines(bytes, bytesMax)) yield* lines
}

/** Yields the lines as `readLines` does, those that end in one piece of the stream together. */
export async function* readManyLines(
  bytes: AsyncIterable<Buffer>,
  bytesMax: number
): AsyncGenerator<readonly Line[]> {
  let number = 1
  let start = 0
  let length = 0
  let kept: Buffer[] = []
  const finish = (): Line => {
    const [only] = kept
    const bytes = kept.length === 1 ? only! : Buffer.concat(kept)
    const text = length > bytesMax ? null : bytes.toString('utf8')
    const line = { number, start, length, text }
    number++
    start += length + 1
    length = 0
    kept = []
    return line
  }
  const keep = (part: Buffer): void => {
    length += part.length
    if (length <= bytesMax) kept.push(part)
    else kept = []
  }
  for await (const chunk of bytes) {
    const lines: Line[] = []
    let from = 0
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, from)) {
      keep(chunk.subarray(from, end))
      from = end + 1
      const line = finish()
      if (line.text?.trim() !== '') lines.push(line)
    }
    keep(chunk.subarray(from))
    if (lines.length > 0) yield lines
  }
  const last = finish()
  if (last.length > 0 && last.text?.trim() !== '') yield [last]
}
