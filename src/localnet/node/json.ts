/** JSON that is already written, to be put into an answer as it stands. */
export class Rendered {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

/** Node writes and reads integers beyond 2^53 without loss; TypeScript's library does not know of it yet. */
interface ExactJson {
  rawJSON(text: string): unknown
  parse(text: string, revive: (key: string, value: unknown, context: { source?: string }) => unknown): unknown
}

const exact = JSON as unknown as ExactJson

/** A u64 or i64 as JSON.stringify is to write it: exact whatever its size. */
export function integer(value: bigint): unknown {
  const number = Number(value)
  return Number.isSafeInteger(number) ? number : exact.rawJSON(value.toString())
}

const LONG_NUMBER = /\d{16}/
const INTEGER = /^-?\d+$/

/** Reads JSON; integers that a double does not hold become bigint. Throws a SyntaxError. */
export function parseJson(text: string): unknown {
  if (!LONG_NUMBER.test(text)) return JSON.parse(text)
  return exact.parse(text, (_key, value, { source }) =>
    typeof value === 'number' && !Number.isSafeInteger(value) && INTEGER.test(source ?? '')
      ? BigInt(source!)
      : value
  )
}

/** Writes a value. A bigint in it is a fault of ours: what writes one passes it through `integer`. */
export function writeJson(value: unknown): string {
  return value instanceof Rendered ? value.text : JSON.stringify(value)
}
