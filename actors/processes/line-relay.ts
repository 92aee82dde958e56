import { StringDecoder } from 'node:string_decoder'

/** Maximum characters of a line. Longer lines are passed on in pieces: those of the service have a few kilobytes. */
export const LINE_LENGTH_MAX = 65_536

/**
 * Passes on the lines of a stream, each as a whole, so that lines of several processes do not mix. The last line counts even
 * without its end: a killed process leaves one.
 */
export function relayLines(stream: NodeJS.ReadableStream, write: (line: string) => void): void {
  const decoder = new StringDecoder('utf8')
  let held = ''
  const pass = (line: string): void => {
    for (let from = 0; from === 0 || from < line.length; from += LINE_LENGTH_MAX)
      write(line.slice(from, from + LINE_LENGTH_MAX))
  }
  const take = (text: string): void => {
    const lines = (held + text).split('\n')
    held = lines.pop()!
    lines.forEach(pass)
    if (held.length < LINE_LENGTH_MAX) return
    write(held.slice(0, LINE_LENGTH_MAX))
    held = held.slice(LINE_LENGTH_MAX)
  }
  stream.on('data', (bytes: Buffer) => take(decoder.write(bytes)))
  stream.on('end', () => {
    take(decoder.end())
    if (held !== '') pass(held)
    held = ''
  })
  // The end of the process is its fault.
  stream.on('error', () => undefined)
}
