import { ByteWriter } from './byte-writer.ts'

/** Writes an item behind the one before it; null before the first. */
type WriteItem<T> = (out: ByteWriter, item: T, before: T | null) => void

/** The first items of a list, and their bytes, a character each. */
interface Written<T> {
  readonly items: readonly T[]
  readonly count: number
  readonly bytes: string
}

const scratch = new ByteWriter()

/**
 * Writes lists of one kind that change at their end, block after block, while the items before it stay the objects that
 * they are, as none is ever changed. Their bytes are kept for as long as the first of them is in memory: a list is
 * written anew at the price of one item, as the sixty minutes of an hour are by each block.
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
