import type { Slices } from '../work/slices.ts'

/** Maximum elements of a list that is rendered in one piece with its surroundings: the largest take 10 µs each. */
const SHORT_LIST = 20
/** Levels of objects that are searched for long lists; the lists of answers are in the first two. */
const LEVELS = 3

/**
 * Returns JSON of a value, identical to `JSON.stringify`. Long lists, at the top or in fields of objects, are rendered in
 * slices. Rejects as `Slices.map` does.
 */
export async function slicedJson(value: unknown, slices: Slices): Promise<string> {
  return (await textOf(value, slices, LEVELS)) ?? JSON.stringify(value)
}

/** Tells whether a value has a list that `slicedJson` renders in slices. */
export function hasLongList(value: unknown, levels = LEVELS): boolean {
  if (Array.isArray(value)) return value.length > SHORT_LIST
  return levels > 0 && isPlain(value) && Object.values(value).some((each) => hasLongList(each, levels - 1))
}

/** Returns the JSON of a value with a long list; null for any other. */
async function textOf(value: unknown, slices: Slices, levels: number): Promise<string | null> {
  if (!hasLongList(value, levels)) return null
  if (Array.isArray(value)) {
    // A value that JSON lacks is null in a list, and left out of an object.
    const texts = await slices.map(value, (each) => jsonOf(each) ?? 'null')
    return `[${texts.join(',')}]`
  }
  const fields: string[] = []
  for (const [name, each] of Object.entries(value as object)) {
    const text = (await textOf(each, slices, levels - 1)) ?? jsonOf(each)
    if (text !== undefined) fields.push(`${JSON.stringify(name)}:${text}`)
  }
  return `{${fields.join(',')}}`
}

const jsonOf = (value: unknown): string | undefined => JSON.stringify(value)

/** Tells whether a value is an object whose fields are its JSON. */
function isPlain(value: unknown): value is object {
  if (typeof value !== 'object' || value === null || 'toJSON' in value) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}
