import { keyAfter, type KeyRange } from '../../codec/keys.ts'
import { maskedChecksum } from './checksum.ts'
import { FileReader } from './file-reader.ts'
import { userKey } from './manifest.ts'
import { snappyDecompressed } from './snappy.ts'

const FOOTER_BYTES = 48
const MAGIC = Buffer.from('57fb808b247547db', 'hex')
/** A block is followed by its type and its checksum. */
const TRAILER_BYTES = 5
const UNCOMPRESSED = 0
const SNAPPY = 1
/** Maximum bytes of a decompressed index: eighty times that of the largest table, which has 32 MiB. */
const INDEX_BYTES_MAX = 16 * 2 ** 20
/** No type that the engine knows. */
const REFUSED = 0xff
/** The tag of a key that was shortened to stand between two blocks, and that neither block holds. */
const SHORTENED_TAG = Buffer.from('01ffffffffffffff', 'hex')

interface Block {
  readonly offset: number
  /** Length in bytes without the trailer. */
  readonly length: number
}

/**
 * A part of a table that fails its checksum. Keys of a damaged `block` are lost, and those of the whole table with its
 * `index`. The engine does without a `filter`.
 */
export interface TableDamage extends Block {
  readonly part: 'block' | 'index' | 'filter'
  /** The keys that cannot be read; null if all can be read. */
  readonly keys: KeyRange | null
}

/** Verifies the checksums of all blocks of a table, whose keys the manifest says. Runs no code of the engine. */
export function tableDamage(table: Buffer, keys: KeyRange): TableDamage[] {
  const whole: TableDamage = { part: 'index', offset: 0, length: table.length, keys }
  const footer = footerOf(table)
  if (footer === null || !isSound(table, footer.index)) return [whole]
  // Written by another engine: the blocks that an index in another format names are not checked.
  if (!isReadable(table, footer.index)) return []
  const damaged: TableDamage[] = []
  let gte = keys.gte
  try {
    for (const [last, block] of handlesIn(table, footer.index)) {
      const isShortened = last.subarray(-8).equals(SHORTENED_TAG)
      const beyond = isShortened ? userKey(last) : keyAfter(userKey(last))
      const lt = Buffer.compare(beyond, keys.lt) < 0 ? beyond : keys.lt
      if (!isSound(table, block)) damaged.push({ part: 'block', ...block, keys: { gte, lt } })
      gte = beyond
    }
  } catch (error) {
    if (error instanceof RangeError) return [whole]
    throw error
  }
  return [...damaged, ...filterDamage(table, footer.metaindex)]
}

/**
 * A copy of a table whose damaged parts are empty, with valid checksums. The engine finds no key there, and reads and merges
 * all other blocks as before.
 */
export function withoutDamage(table: Buffer, damage: readonly TableDamage[]): Buffer<ArrayBuffer> {
  if (damage.some(({ part }) => part === 'index')) return emptyTable(table.length)
  const sound = Buffer.from(table)
  for (const { part, offset, length } of damage) {
    sound.fill(0, offset, offset + length)
    seal(sound, { offset, length }, part === 'block' ? UNCOMPRESSED : REFUSED)
  }
  return sound
}

/** A table of a size without a key. */
function emptyTable(length: number): Buffer<ArrayBuffer> {
  // A block without entries: the number of its restart points, which is 0.
  const block = { offset: 0, length: 4 }
  const table = Buffer.alloc(Math.max(length, block.length + TRAILER_BYTES + FOOTER_BYTES))
  seal(table, block, UNCOMPRESSED)
  // Both handles of the footer, metaindex and index, name that block.
  Buffer.of(block.offset, block.length, block.offset, block.length).copy(table, table.length - FOOTER_BYTES)
  MAGIC.copy(table, table.length - MAGIC.length)
  return table
}

function footerOf(table: Buffer): { readonly metaindex: Block; readonly index: Block } | null {
  if (table.length < FOOTER_BYTES || !table.subarray(-MAGIC.length).equals(MAGIC)) return null
  try {
    const source = new FileReader(table.subarray(-FOOTER_BYTES))
    const [metaindex, index] = [handle(source), handle(source)]
    return isWithin(table, metaindex) && isWithin(table, index) ? { metaindex, index } : null
  } catch (error) {
    if (error instanceof RangeError) return null
    throw error
  }
}

function handle(source: FileReader): Block {
  const [offset, length] = [source.count(), source.count()]
  return { offset, length }
}

/** A damaged filter denies keys that exist; without the metaindex there is no filter. */
function filterDamage(table: Buffer, metaindex: Block): TableDamage[] {
  const damaged = (block: Block): TableDamage[] => [{ part: 'filter', ...block, keys: null }]
  if (!isSound(table, metaindex)) return damaged(metaindex)
  if (!isReadable(table, metaindex)) return []
  for (const [, filter] of handlesIn(table, metaindex)) if (!isSound(table, filter)) return damaged(filter)
  return []
}

/** The entries of a block whose values name other blocks. Throws a RangeError where it does not follow the format. */
function* handlesIn(table: Buffer, block: Block): Generator<[Buffer, Block]> {
  const contents = contentsOf(table, block)
  const restarts = contents.readUInt32LE(contents.length - 4)
  const entries = contents.subarray(0, contents.length - 4 * (restarts + 1))
  const source = new FileReader(entries)
  let key: Buffer = Buffer.alloc(0)
  while (!source.atEnd) {
    const [shared, own, valueLength] = [source.count(), source.count(), source.count()]
    key = Buffer.concat([key.subarray(0, shared), source.bytes(own)])
    yield [key, handle(new FileReader(source.bytes(valueLength)))]
  }
}

/** The bytes of a block as they were before compression. Throws a RangeError where they do not follow the format. */
function contentsOf(table: Buffer, block: Block): Buffer {
  const stored = table.subarray(block.offset, block.offset + block.length)
  return typeOf(table, block) === UNCOMPRESSED ? stored : snappyDecompressed(stored, INDEX_BYTES_MAX)
}

const isReadable = (table: Buffer, block: Block): boolean =>
  [UNCOMPRESSED, SNAPPY].includes(typeOf(table, block))

const typeOf = (table: Buffer, { offset, length }: Block): number => table[offset + length]!

function isWithin(table: Buffer, { offset, length }: Block): boolean {
  return length >= 4 && offset + length + TRAILER_BYTES <= table.length - FOOTER_BYTES
}

function isSound(table: Buffer, block: Block): boolean {
  if (!isWithin(table, block)) return false
  const { offset } = block
  const end = offset + block.length
  return table.readUInt32LE(end + 1) === maskedChecksum(table.subarray(offset, end + 1))
}

function seal(table: Buffer, { offset, length }: Block, type: number): void {
  const end = offset + length
  table[end] = type
  table.writeUInt32LE(maskedChecksum(table.subarray(offset, end + 1)), end + 1)
}
