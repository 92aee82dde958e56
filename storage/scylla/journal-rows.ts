import { ERRORS, ServiceError } from '../../src/kernel/errors.ts'
import type { SlotRow } from '../../src/market/rows.ts'
import {
  addDigest,
  addRows,
  packBlock,
  unpackBlock,
  unreadBlock,
  type BlockBytes,
  type StoredBytes
} from '../codec/packed-block.ts'
import type { BlockCommit } from '../port.ts'
import type { CqlClient, CqlRow } from './client.ts'
import { batchesOf } from './row-write.ts'
import type { RowWrite } from './row-write.ts'
import type { Version } from './version.ts'
import { PIECES_PER_READ, piecesOf } from './pieces.ts'
import { MemtableBlock } from './memtable.ts'
import type { Snapshot } from './visibility.ts'

/** Commits of a partition: about 5 MB, and half a minute. */
export const COMMITS_PER_PART = 64
/** Retained partitions: 9,216 blocks, an hour of the chain. A follower that is behind by more reads the rows. */
const PARTS_RETAINED = 144
/** Earlier partitions that are deleted again with each one, because a failed deletion is not noticed. */
const DELETED_AGAIN = 8

const INSERT = 'INSERT INTO journal (part, number, epoch, piece, pieces, block) VALUES (?, ?, ?, ?, ?, ?)'
/** For the first piece of a block, which has its digest. */
const INSERT_FIRST =
  'INSERT INTO journal (part, number, epoch, piece, pieces, block, digest) VALUES (?, ?, ?, ?, ?, ?, ?)'
const SELECT = 'SELECT number, epoch, piece, pieces, block, digest FROM journal WHERE part = ? AND number'
const SELECT_ONE = `${SELECT} = ?`
const SELECT_SPAN = `${SELECT} >= ? AND number <= ?`
const SELECT_DIGEST = 'SELECT digest FROM journal WHERE part = ? AND number = ? AND epoch = ? AND piece = 0'
const DELETE_PART = 'DELETE FROM journal WHERE part = ?'

/** A block as bytes; throws a RangeError if one of its values cannot be stored. */
export const packedBlock = (number: number, block: BlockCommit): BlockBytes => packBlock(keyOf(number), block)

/** The rows of packed blocks in batches of one partition: small ones together, others alone. */
export function journalBatches(
  blocks: readonly { readonly version: Version; readonly bytes: BlockBytes }[]
): (readonly RowWrite[])[] {
  const parts = Map.groupBy(blocks, ({ version }) => partOf(version.number))
  return [...parts.values()].flatMap((blocks) => batchesOf(blocks.flatMap(rowsOf)))
}

function rowsOf({ version, bytes }: { readonly version: Version; readonly bytes: BlockBytes }): RowWrite[] {
  const { epoch, number } = version
  const { digest } = bytes
  return piecesOf(bytes.packed).map(({ piece, pieces, bytes }): RowWrite => {
    const params = [partOf(number), number, epoch, piece, pieces, bytes]
    return piece > 0
      ? { statement: INSERT, params, bytes: bytes.length }
      : { statement: INSERT_FIRST, params: [...params, digest], bytes: bytes.length + digest.length }
  })
}

/** Blocks of given numbers that are committed, in their order. Rejects where the journal lacks one. */
export async function readJournal(
  numbers: readonly number[],
  committed: Snapshot,
  readEach: CqlClient['readEach']
): Promise<MemtableBlock[]> {
  return (await readStored(numbers, committed, readEach)).map(unpacked)
}

/**
 * A block of which only the slot is known: more of it is read from the journal when something needs it. `committed` is a
 * state in which it is visible.
 */
export function unreadMemtableBlock(
  version: Version,
  slot: SlotRow,
  committed: Snapshot,
  client: Pick<CqlClient, 'readEach'>
): MemtableBlock {
  const { epoch, number } = version
  const block = unreadBlock(slot)
  const key = keyOf(number)
  const limitedEach: CqlClient['readEach'] = (...read) => client.readEach(...read)
  return new MemtableBlock(version, block, 0, async (extent, readEach = limitedEach) => {
    if (extent === 'digest') {
      const [rows] = await readEach(SELECT_DIGEST, [[partOf(number), number, epoch]])
      const digest = rows?.[0]?.['digest'] as Buffer | null | undefined
      // Another version may have written the digest, or none: it follows from the rows.
      if (digest !== undefined && digest !== null && addDigest(block, key, digest)) return 0
    }
    const [stored] = await readStored([number], committed, readEach)
    addRows(block, key, stored!)
    return bytesOf(stored!)
  })
}

/** A block of the journal. */
interface JournalBlock extends Version, StoredBytes {}

/** Rejects where the journal lacks a block. */
async function readStored(
  numbers: readonly number[],
  committed: Snapshot,
  readEach: CqlClient['readEach']
): Promise<JournalBlock[]> {
  const answers = await readEach(
    SELECT_ONE,
    numbers.map((number) => [partOf(number), number])
  )
  return numbers.map((number, i) => {
    const [block] = new Pieces(number, committed).take(answers[i]!)
    if (block === undefined) throw lacking(number)
    return block
  })
}

const unpacked = (stored: JournalBlock): MemtableBlock =>
  new MemtableBlock(stored, unpackBlock(keyOf(stored.number), stored), bytesOf(stored))

const bytesOf = ({ packed, digest }: StoredBytes): number => packed.length + (digest?.length ?? 0)

/** Committed blocks from one number to another, up to the first that is missing. */
export async function readSpan(
  client: CqlClient,
  first: number,
  last: number,
  committed: Snapshot
): Promise<MemtableBlock[]> {
  const blocks: MemtableBlock[] = []
  for (let next = first; next <= last;) {
    const end = Math.min(last, (partOf(next) + 1) * COMMITS_PER_PART - 1)
    const pieces = new Pieces(next, committed)
    for await (const rows of client.pages(SELECT_SPAN, [partOf(next), next, end], PIECES_PER_READ))
      blocks.push(...pieces.take(rows).map(unpacked))
    if (pieces.next <= end) break
    next = end + 1
  }
  return blocks
}

/** Deletes partitions that are no longer needed once all blocks up to a number are in the tables. */
export function journalDeletions(flushed: number): RowWrite[] {
  const newest = partOf(flushed) - PARTS_RETAINED - 1
  const parts = Array.from({ length: 1 + DELETED_AGAIN }, (_, i) => newest - i).filter((part) => part >= 0)
  return parts.map((part) => ({ statement: DELETE_PART, params: [part], bytes: 4 }))
}

export const partOf = (number: number): number => Math.floor(number / COMMITS_PER_PART)
const keyOf = (number: number): Buffer => Buffer.from(`j${number}`, 'latin1')

/** Assembles blocks of rows in their order, from a number on without a hole; uncommitted rows are skipped. */
class Pieces {
  next: number
  readonly #committed: Snapshot
  #pieces: CqlRow[] = []
  #isBroken = false

  constructor(first: number, committed: Snapshot) {
    this.next = first
    this.#committed = committed
  }

  /** The blocks that are whole with these rows. */
  take(rows: readonly CqlRow[]): JournalBlock[] {
    const blocks: JournalBlock[] = []
    for (const row of rows) {
      const [epoch, number] = [row['epoch'] as number, row['number'] as number]
      if (this.#isBroken || !this.#committed.isVisible(epoch, number)) continue
      if (number !== this.next || row['piece'] !== this.#pieces.length) {
        this.#isBroken = true
        continue
      }
      this.#pieces.push(row)
      if (this.#pieces.length < (row['pieces'] as number)) continue
      const [first] = this.#pieces
      const digest = first!['digest'] as Buffer | null
      blocks.push({ epoch, number, packed: joined(this.#pieces), digest })
      this.#pieces = []
      this.next++
    }
    return blocks
  }
}

/** The pieces as one buffer. A single piece shares the memory of its answer, which is hardly larger. */
function joined(rows: readonly CqlRow[]): Buffer {
  const pieces = rows.map((row) => row['block'] as Buffer)
  return pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces)
}

const lacking = (number: number): ServiceError =>
  new ServiceError(ERRORS.STORAGE_UNAVAILABLE, `the journal lacks block ${number}, which is committed`)
