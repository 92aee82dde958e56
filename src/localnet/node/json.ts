/** A value that is already JSON text, inserted into an answer unchanged. */
export class Rendered {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

/** Node.js reads and writes integers beyond 2^53 without loss; TypeScript's library does not declare it yet. */
interface ExactJson {
  rawJSON(text: string): unknown
  parse(text: string, revive: (key: string, value: unknown, context: { source?: string }) => unknown): unknown
}

const exact = JSON as unknown as ExactJson

/** Wraps a u64 or i64 for JSON.stringify, which then writes it exactly. */
export function integer(value: bigint): unknown {
  const number = Number(value)
  return Number.isSafeInteger(number) ? number : exact.rawJSON(value.toString())
}

const LONG_NUMBER = /\d{16}/
const INTEGER = /^-?\d+$/

/** Parses JSON; integers that a double cannot hold become bigint. Throws a SyntaxError. */
export function parseJson(text: string): unknown {
  if (!LONG_NUMBER.test(text)) return JSON.parse(text)
  return exact.parse(text, (_key, value, { source }) =>
    typeof value === 'number' && !Number.isSafeInteger(value) && INTEGER.test(source ?? '')
      ? BigInt(source!)
      : value
  )
}

/** Writes a value as JSON. A bigint in it is a bug: writers pass it through `integer`. */
export function writeJson(value: unknown): string {
  return value instanceof Rendered ? value.text : JSON.stringify(value)
}
