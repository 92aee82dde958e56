import fc from 'fast-check'

/** Values that may stand in a record where a number belongs, as JSON. */
const ABSURD = [
  ...['-1', '-0', '0.5', '256', '65536', '4294967296', '8589934592', '1790000000000', '9007199254740992'],
  ...['9223372036854775808', '18446744073709551616', '1e20', '1e308', '1e400', '-1e400', '-9e15'],
  ...['"-1"', '"0.5"', '"0"', '"18446744073709551616"', '"99999999999999999999"', '"1e5"', '" 5"', '""'],
  ...['"NaN"', 'null', 'true', '[]', '{}', '{"toString":1,"valueOf":1}']
]
const LAMPORTS = ['0', '1', '9007199254740991', '18446744073709551615']
/** The bounds of each field, as JSON. */
const BOUNDS: Readonly<Record<string, readonly string[]>> = {
  slot: ['0', '8589934591'],
  parentSlot: ['0', '8589934590'],
  blockTime: ['0', '4294967295'],
  transactionIndex: ['0', '4294967295'],
  fee: ['0', '9007199254740991'],
  decimals: ['0', '1', '255'],
  amount: ['"0"', '"1"', '"999"', '"18446744073709551615"'],
  preBalances: LAMPORTS,
  postBalances: LAMPORTS
}

type Path = readonly (string | number)[]

/** The place of a number and its replacement: a bound of the field or an absurd value. Places are counted per record. */
export interface AbsurdChange {
  readonly place: number
  readonly value: number
  readonly isAbsurd: boolean
}

const draw = fc.noBias(fc.nat())
const change = (isAbsurd: boolean) => fc.record({ place: draw, value: draw, isAbsurd: fc.constant(isAbsurd) })

/** Changes of some numbers to their bounds; half of the records also get one absurd value. */
export const absurdChanges: fc.Arbitrary<readonly AbsurdChange[]> = fc
  .tuple(fc.array(change(false), { maxLength: 4 }), fc.array(change(true), { maxLength: 1 }))
  .map((changes) => changes.flat())

/** Returns a record as JSON with some numbers replaced. Half of the absurd values are put into fields with bounds. */
export function withAbsurdNumbers(record: unknown, changes: readonly AbsurdChange[]): string {
  const places = numberPaths(record)
  const bounded = places.filter((path) => boundsAt(path) !== undefined)
  const copy = structuredClone(record)
  for (const each of changes) {
    const { place, isAbsurd } = each
    const among = isAbsurd && place % 2 === 0 ? places : bounded
    put(copy, among[(place >> 1) % among.length]!, each)
  }
  return JSON.stringify(copy).replace(/"@([^@]*)@"/g, (_, json: string) =>
    Buffer.from(json, 'hex').toString()
  )
}

const boundsAt = (path: Path): readonly string[] | undefined =>
  BOUNDS[path.findLast((key) => typeof key === 'string')!]

function numberPaths(value: unknown, path: Path = []): Path[] {
  const isNumber = typeof value === 'number' || (typeof value === 'string' && /^\d{1,20}$/.test(value))
  if (isNumber) return [path]
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, each]) =>
    numberPaths(each, [...path, Array.isArray(value) ? Number(key) : key])
  )
}

/** Values are inserted as text, because JSON.stringify would change 1e400 and -0. */
function put(root: unknown, path: Path, { value, isAbsurd }: AbsurdChange): void {
  const values = isAbsurd ? ABSURD : boundsAt(path)!
  const holder = path
    .slice(0, -1)
    .reduce((inner, key) => (inner as Record<string | number, unknown>)[key], root)
  const json = Buffer.from(values[value % values.length]!).toString('hex')
  ;(holder as Record<string | number, unknown>)[path.at(-1)!] = `@${json}@`
}

const U64_MAX = 2n ** 64n - 1n

/** Unsigned 64-bit numbers, most of them next to a power of two. */
export const wholeNumbers: fc.Arbitrary<bigint> = fc.oneof(
  fc.bigInt({ min: 0n, max: U64_MAX }),
  fc.tuple(fc.bigInt({ min: 0n, max: 63n }), fc.bigInt({ min: -2n, max: 2n })).map(([bit, near]) => {
    const value = 2n ** bit + near
    return value < 0n ? 0n : value
  }),
  fc.constant(U64_MAX)
)
