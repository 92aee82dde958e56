import { ServiceError } from '../../src/kernel/errors.ts'
import type { Edit } from '../../src/market/amendment.ts'
import type { KeptBlock } from '../../src/market/kept-block.ts'
import { keptBlockKind } from '../codec/kept-block.ts'
import { keptBlockKey } from '../codec/keys.ts'
import { packRecord, unpackRecord } from '../codec/record.ts'
import type { ScyllaBase } from './base.ts'
import type { CqlRow } from './client.ts'
import { versionTimestamp } from './version.ts'
import type { RowWrite } from './row-write.ts'
import type { Version } from './version.ts'
import { PIECES_PER_READ, piecesOf } from './pieces.ts'
import type { Piece } from './pieces.ts'
import type { Forgotten, Snapshot } from './visibility.ts'

/** The only list of parts. */
const CHAIN = 'solana'
/** Slots of a partition: about 32 MB at most. */
const SLOTS_PER_PART = 64
/** Bytes on the wire of the columns beside the piece, estimated. */
const COLUMN_BYTES = 60

const INSERT =
  'INSERT INTO kept_blocks (part, slot, epoch, piece, pieces, commit, block) VALUES (?, ?, ?, ?, ?, ?, ?) USING TIMESTAMP ?'
const INSERT_PART = 'INSERT INTO kept_parts (chain, part) VALUES (?, ?) USING TIMESTAMP ?'
const SELECT_PARTS = 'SELECT part FROM kept_parts WHERE chain = ? AND part >= ?'
const SELECT =
  'SELECT slot, epoch, piece, pieces, commit, block FROM kept_blocks WHERE part = ? AND slot >= ?'
const DELETE = 'DELETE FROM kept_blocks USING TIMESTAMP ? WHERE part = ? AND slot <= ?'
const DELETE_PART = 'DELETE FROM kept_parts USING TIMESTAMP ? WHERE chain = ? AND part = ?'

/** The rows of a kept block and of its part; each is a write of its own. */
export function keptRows(version: Version, kept: KeptBlock): RowWrite[] {
  const { slot } = kept.block
  const packed = Buffer.from(packRecord(keptBlockKind, keptBlockKey(slot), kept))
  const rows = piecesOf(packed).map((piece) => rowOf(version, slot, piece))
  const params = [CHAIN, partOf(slot), versionTimestamp(version)]
  return [{ statement: INSERT_PART, params, bytes: COLUMN_BYTES }, ...rows]
}

/** The rows of an amendment's kept blocks: those that it puts, and for each removed one a row of no pieces. */
export const amendedKeptRows = (version: Version, { put, remove }: Edit<KeptBlock, number>): RowWrite[] => [
  ...put.flatMap((kept) => keptRows(version, kept)),
  ...remove.map((slot) => rowOf(version, slot, { piece: 0, pieces: 0, bytes: Buffer.alloc(0) }))
]

function rowOf({ epoch, number }: Version, slot: number, { piece, pieces, bytes }: Piece): RowWrite {
  const key = [partOf(slot), BigInt(slot), epoch, piece]
  const params = [...key, pieces, number, bytes, versionTimestamp({ epoch, number })]
  return { statement: INSERT, params, bytes: bytes.length + COLUMN_BYTES }
}

/** Reads kept blocks, and deletes forgotten ones. */
export class KeptBlocks {
  readonly #base: ScyllaBase

  constructor(base: ScyllaBase) {
    this.#base = base
  }

  async after(slot: number | null, limit: number): Promise<KeptBlock[]> {
    const { client, visibility } = this.#base
    client.assertOpen()
    const found: KeptBlock[] = []
    if (limit <= 0) return found
    const first = slot === null ? 0 : Math.max(0, slot + 1)
    const { committed, forgotten } = visibility
    for (const part of await this.#parts(partOf(first))) {
      const pieces = new KeptPieces(committed, forgotten)
      const params = [part, BigInt(first)]
      const pageRows = Math.min(limit - found.length + 1, PIECES_PER_READ)
      for await (const rows of client.pages(SELECT, params, pageRows))
        for (const row of rows) {
          const kept = pieces.take(row)
          if (kept === null) continue
          found.push(kept)
          if (found.length === limit) return found
        }
      pieces.end()
    }
    return found
  }

  /** Tells whether there may be blocks up to a slot. */
  async hasUntil(slot: number): Promise<boolean> {
    const [first] = await this.#parts(0)
    return first !== undefined && first <= partOf(slot)
  }

  /** Deletes forgotten blocks. Readers skip them from the time that they are known to be forgotten, deleted or not. */
  async delete(forgotten: Forgotten): Promise<void> {
    const { client } = this.#base
    const timestamp = versionTimestamp(forgotten)
    const { until } = forgotten
    const last = partOf(until)
    for (const part of (await this.#parts(0)).filter((part) => part <= last)) {
      await client.write([
        { statement: DELETE, params: [timestamp, part, BigInt(until)], bytes: COLUMN_BYTES }
      ])
      if (part === last) continue
      await client.write([{ statement: DELETE_PART, params: [timestamp, CHAIN, part], bytes: COLUMN_BYTES }])
    }
  }

  async #parts(first: number): Promise<number[]> {
    const rows = await this.#base.client.read(SELECT_PARTS, [CHAIN, first])
    return rows.map((row) => row['part'] as number)
  }
}

const partOf = (slot: number): number => Math.floor(slot / SLOTS_PER_PART)

/** Assembles blocks of the rows of a part in their order: for each slot, the rows of the newest visible epoch. */
class KeptPieces {
  readonly #committed: Snapshot
  readonly #forgotten: Forgotten | null
  /** The slot that is already assembled or removed; rows of older epochs for it are ignored. */
  #decided = -1
  #pieces: CqlRow[] = []

  constructor(committed: Snapshot, forgotten: Forgotten | null) {
    this.#committed = committed
    this.#forgotten = forgotten
  }

  /** Returns the block that a row completes. */
  take(row: CqlRow): KeptBlock | null {
    const slot = Number(row['slot'])
    const version = { epoch: row['epoch'] as number, number: row['commit'] as number }
    if (slot === this.#decided || !this.#counts(slot, version)) return null
    const pieces = row['pieces'] as number
    if (pieces > 0) {
      this.#take(row)
      if (this.#pieces.length < pieces) return null
    }
    this.#decided = slot
    if (pieces === 0) return null
    const packed = Buffer.concat(this.#pieces.map((piece) => piece['block'] as Buffer))
    this.#pieces = []
    return unpackRecord(keptBlockKind, keptBlockKey(slot), packed)
  }

  /** After the last row. */
  end(): void {
    const [piece] = this.#pieces
    if (piece !== undefined) throw lacking(Number(piece['slot']))
  }

  #take(row: CqlRow): void {
    const [first] = this.#pieces
    const isNext = row['piece'] === this.#pieces.length
    if (!isNext || (first !== undefined && first['slot'] !== row['slot'])) throw lacking(Number(row['slot']))
    this.#pieces.push(row)
  }

  #counts(slot: number, { epoch, number }: Version): boolean {
    if (!this.#committed.isVisible(epoch, number)) return false
    const forgotten = this.#forgotten
    if (forgotten === null || slot > forgotten.until) return true
    return epoch > forgotten.epoch || (epoch === forgotten.epoch && number > forgotten.number)
  }
}

const lacking = (slot: number): ServiceError =>
  new ServiceError('STORAGE_UNAVAILABLE', `the store lacks some of the undo data of block ${slot}`)
