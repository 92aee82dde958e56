import { formatOf, openBytes, readText } from './files.ts'
import { readRecordText, type TextOutcome } from './loader.ts'

/** A record of a file or of standard input, with its name and line. */
export interface InputRecord {
  readonly name: string
  readonly outcome: TextOutcome | { readonly kind: 'unreadable'; readonly reason: string }
}

/** Maximum bytes of an input, as for a record of a folder. */
const INPUT_BYTES_MAX = 256 * 1024 * 1024

/** Reads the records of files in order: one document, or one per line. `-` is standard input. */
export async function* readInputs(
  files: readonly string[],
  stdin: AsyncIterable<string | Buffer>
): AsyncGenerator<InputRecord> {
  for (const file of files) {
    const text = await textOf(file, stdin).catch((error: unknown) => (error as Error).message)
    if (typeof text === 'string') yield { name: file, outcome: { kind: 'unreadable', reason: text } }
    else if (text === null) {
      yield {
        name: file,
        outcome: { kind: 'unreadable', reason: `it has more than ${INPUT_BYTES_MAX} bytes` }
      }
    } else yield* recordsOf(file, text.text)
  }
}

async function textOf(
  file: string,
  stdin: AsyncIterable<string | Buffer>
): Promise<{ readonly text: string } | null> {
  const bytes = file === '-' ? buffersOf(stdin) : openBytes(file, formatOf(file)?.compression ?? null)
  const text = await readText(bytes, INPUT_BYTES_MAX)
  return text === null ? null : { text }
}

async function* buffersOf(chunks: AsyncIterable<string | Buffer>): AsyncGenerator<Buffer> {
  for await (const chunk of chunks) yield typeof chunk === 'string' ? Buffer.from(chunk) : chunk
}

/** Reads a text as one document, or else line by line. */
function* recordsOf(name: string, text: string): Generator<InputRecord> {
  const whole = readRecordText(text, name)
  const lines = text.split('\n')
  if (whole.kind !== 'not-json' || lines.filter((line) => line.trim() !== '').length < 2) {
    yield { name, outcome: whole }
    return
  }
  const first = lines.findIndex((line) => line.trim() !== '')
  // A broken pretty-printed document has no record on its first line.
  if (readRecordText(lines[first]!, name).kind === 'not-json' && formatOf(name)?.lines !== true) {
    yield { name, outcome: whole }
    return
  }
  for (const [index, line] of lines.entries()) {
    if (line.trim() !== '') yield { name: `${name}:${index + 1}`, outcome: readRecordText(line, name) }
  }
}
