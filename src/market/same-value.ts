/** Returns whether two values of plain objects, lists, bytes and primitives are deeply equal. */
export function sameValue(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false
  if (isList(a) || isList(b))
    return (
      isList(a) &&
      isList(b) &&
      Array.isArray(a) === Array.isArray(b) &&
      a.length === b.length &&
      a.every((item, i) => sameValue(item, b[i]))
    )
  const [one, other] = [a as Fields, b as Fields]
  const names = Object.keys(one)
  return (
    names.length === Object.keys(other).length &&
    names.every((name) => name in other && sameValue(one[name], other[name]))
  )
}

type Fields = Readonly<Record<string, unknown>>
type List = { readonly length: number; every(test: (item: unknown, i: number) => boolean): boolean } & {
  readonly [i: number]: unknown
}

const isList = (value: object): value is List => Array.isArray(value) || value instanceof Uint8Array
