import { ByteWriter } from './byte-writer.ts'

/** Writes an item relative to the previous one, which is null for the first. */
type WriteItem<T> = (out: ByteWriter, item: T, before: T | null) => void

/** The first items of a list with their bytes, a character each. */
interface Written<T> {
  readonly items: readonly T[]
  readonly count: number
  readonly bytes: string
}

const scratch = new ByteWriter()

/**
 * Encodes lists that grow or change at their end, block after block. Earlier items stay the same objects, because items are
 * never changed. Their bytes are cached while the first item is in memory. So each encoding costs about one item, for
 * example of an hour's sixty minutes.
 */
export class GrowingLists<T extends object> {
  readonly #written = new WeakMap<T, Written<T>>()

  write(out: ByteWriter, items: readonly T[], writeItem: WriteItem<T>): void {
    const [first] = items
    if (first === undefined) return
    const newest = items.length - 1
    if (newest > 0) out.fixedLatin1(this.#bytesOf(first, items, newest, writeItem))
    writeItem(out, items[newest]!, items[newest - 1] ?? null)
  }

  #bytesOf(first: T, items: readonly T[], count: number, writeItem: WriteItem<T>): string {
    const known = this.#written.get(first)
    const isStart = known !== undefined && beginsWith(items, known, count)
    if (isStart && known.count === count) return known.bytes
    scratch.clear()
    for (let i = isStart ? known.count : 0; i < count; i++)
      writeItem(scratch, items[i]!, items[i - 1] ?? null)
    const bytes = (isStart ? known.bytes : '') + scratch.latin1()
    this.#written.set(first, { items, count, bytes })
    return bytes
  }
}

function beginsWith<T>(items: readonly T[], known: Written<T>, count: number): boolean {
  if (known.count > count) return false
  for (let i = 0; i < known.count; i++) if (items[i] !== known.items[i]) return false
  return true
}
