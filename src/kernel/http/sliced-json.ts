import type { Slices } from '../work/slices.ts'
import { LateRows } from './list/late-rows.ts'
import { GatheredText } from './gathered-text.ts'
import { Rendering } from './rendering.ts'

/** Maximum elements of a list that is rendered in one piece with its surroundings: the largest take 10 µs each. */
const SHORT_LIST = 20
/** Levels of objects that are searched for long lists; the lists of answers are in the first two. */
const LEVELS = 3
/** Characters of the rows that are rendered together: alone, a trade takes a seventh longer and a candle a third. */
const TOGETHER_CHARACTERS = 16 * 1024
/** Maximum rows that are rendered together: more take no less time each. */
const TOGETHER_MAX = 32

/**
 * Returns JSON of a value, identical to `JSON.stringify`. Long lists, at the top or in fields of objects, are rendered in
 * slices. Rejects as `Slices.map` does.
 */
export async function slicedJson(value: unknown, slices: Slices): Promise<string> {
  if (!hasLongList(value)) return JSON.stringify(value)
  const texts: string[] = []
  await writeTo((text) => void texts.push(text), value, slices, LEVELS)
  return texts.join('')
}

/** Renders the JSON of a value, as `slicedJson` does. The text of a long list never is one string. */
export async function slicedRendering(value: unknown, slices: Slices): Promise<Rendering> {
  if (!hasLongList(value)) return new Rendering(JSON.stringify(value))
  const text = new GatheredText()
  try {
    await writeTo((part) => text.add(part), value, slices, LEVELS)
  } catch (error) {
    text.close()
    throw error
  }
  return Rendering.ofGathered(text)
}

/** Tells whether a value has a list that `slicedJson` renders in slices: a long one, or one that is made late. */
export function hasLongList(value: unknown, levels = LEVELS): boolean {
  if (Array.isArray(value)) return value.length > SHORT_LIST
  if (value instanceof LateRows) return true
  return levels > 0 && isPlain(value) && Object.values(value).some((each) => hasLongList(each, levels - 1))
}

/** Writes the JSON of a value with a long list. */
async function writeTo(
  write: (text: string) => void,
  value: unknown,
  slices: Slices,
  levels: number
): Promise<void> {
  if (Array.isArray(value) || value instanceof LateRows) {
    write('[')
    await writeElements(write, LateRows.in<unknown>(value), slices)
    return write(']')
  }
  let isFirst = true
  const begin = (name: string): void => {
    write(`${isFirst ? '{' : ','}${JSON.stringify(name)}:`)
    isFirst = false
  }
  for (const [name, each] of Object.entries(value as object)) {
    if (hasLongList(each, levels - 1)) {
      begin(name)
      await writeTo(write, each, slices, levels - 1)
      continue
    }
    // A value that JSON lacks is left out of an object.
    const text = jsonOf(each)
    if (text === undefined) continue
    begin(name)
    write(text)
  }
  write('}')
}

/** Writes the elements of a list in groups of about `TOGETHER_CHARACTERS`, estimated from the group before. */
function writeElements(
  write: (text: string) => void,
  elements: LateRows<unknown>,
  slices: Slices
): Promise<void> {
  const last = elements.length - 1
  let together: unknown[] = []
  let count = 1
  return elements.each(slices, (each, at) => {
    together.push(each)
    if (together.length < count && at < last) return 0
    // In a list, JSON has null for a value that it lacks.
    const text = JSON.stringify(together)
    if (at >= together.length) write(',')
    write(text.slice(1, -1))
    const fitting = Math.floor((TOGETHER_CHARACTERS * together.length) / text.length)
    count = Math.min(Math.max(fitting, 1), TOGETHER_MAX)
    together = []
    return text.length
  })
}

const jsonOf = (value: unknown): string | undefined => JSON.stringify(value)

/** Tells whether a value is an object whose fields are its JSON. */
function isPlain(value: unknown): value is object {
  if (typeof value !== 'object' || value === null || 'toJSON' in value) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}
