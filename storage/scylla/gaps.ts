import type { Edit } from '../../src/market/amendment.ts'
import { gapKind } from '../codec/gap.ts'
import { gapEditKind } from '../codec/gap-edit.ts'
import type { GapEdit } from '../codec/gap-edit.ts'
import { gapKey } from '../codec/keys.ts'
import { packRecord, unpackRecord } from '../codec/record.ts'
import type { CoverageStore, GapRow } from '../port.ts'
import type { ScyllaBase } from './base.ts'
import { versionTimestamp } from './version.ts'
import type { TableCommit } from './commit.ts'
import { RecordTable } from './records.ts'
import { readConsistently } from './read-consistently.ts'

const CHAIN = 'solana'
const INSERT = 'INSERT INTO coverage (chain, from_slot, gap) VALUES (?, ?, ?)'
const COLUMNS = 'from_slot, gap, WRITETIME(gap) AS added_at'
const SELECT = `SELECT ${COLUMNS} FROM coverage WHERE chain = ? AND from_slot > ? LIMIT ?`
const SELECT_ONE = `SELECT ${COLUMNS} FROM coverage WHERE chain = ? AND from_slot = ?`
const DELETE = 'DELETE FROM coverage USING TIMESTAMP ? WHERE chain = ? AND from_slot = ?'
const DELETE_EDIT = 'DELETE FROM gap_edits USING TIMESTAMP ? WHERE chain = ? AND from_slot = ?'
/** Gaps that are read at a time, and edits that are read to be deleted. */
const GAPS_PER_READ = 100
const EDITS_TIDIED_MAX = 1_000
/** Bytes of a deletion's values, estimated. */
const DELETION_BYTES = 40

interface Added {
  readonly gap: GapRow
  readonly addedAt: number
}

/**
 * Gaps as they were added, and separately the edits that amendments made of them. An edit counts from its amendment on. It
 * applies to the gap as it was added then; a gap that was added since stands.
 */
export class Gaps {
  readonly #base: ScyllaBase
  readonly #edits: RecordTable<number, GapEdit>

  constructor(base: ScyllaBase) {
    this.#base = base
    this.#edits = new RecordTable<number, GapEdit>(base, {
      table: 'gap_edits',
      partition: ['chain'],
      clustering: ['from_slot'],
      kind: gapEditKind,
      values: (from) => [CHAIN, BigInt(from)],
      storeKey: gapKey,
      keyOf: (row) => Number(row['from_slot'])
    })
  }

  async add(gap: GapRow): Promise<void> {
    const { client } = this.#base
    client.assertOpen()
    const value = Buffer.from(packRecord(gapKind, gapKey(gap.from), gap))
    const params = [CHAIN, BigInt(gap.from), value]
    await client.write([{ statement: INSERT, params, bytes: value.length }])
  }

  async page({ after, limit }: Parameters<CoverageStore['gaps']>[0]): Promise<GapRow[]> {
    return readConsistently(this.#base, () => this.#page(after ?? -1, limit))
  }

  /** Stages an amendment's edits of gaps, and the cleanup after earlier ones. */
  async amend(commit: TableCommit, { put, remove }: Edit<GapRow, number>): Promise<void> {
    const changes = [
      ...put.map((gap) => ({ from: gap.from, gap })),
      ...remove.map((from) => ({ from, gap: null }))
    ]
    if (changes.length === 0) return
    const added = await this.#added(changes.map(({ from }) => from))
    await this.#edits.stage(
      commit,
      changes.map(({ from, gap }) => ({ key: from, value: { addedAt: added.get(from) ?? 0, gap } }))
    )
    for (const from of remove) {
      const addedAt = added.get(from)
      if (addedAt === undefined) continue
      const params = [BigInt(addedAt), CHAIN, BigInt(from)]
      commit.afterwards({ statement: DELETE, params, bytes: DELETION_BYTES })
    }
    await this.#deleteEdits(commit, new Set(changes.map(({ from }) => from)))
  }

  async #page(after: number, limit: number): Promise<GapRow[]> {
    const found: GapRow[] = []
    for (let from = after; found.length < limit;) {
      const count = Math.min(limit, GAPS_PER_READ)
      const [rows, edits] = await Promise.all([
        this.#base.client.read(SELECT, [CHAIN, BigInt(from), count]),
        this.#edits.range({ within: [CHAIN], gt: BigInt(from), order: 'asc', limit: count })
      ])
      const added = new Map(rows.map((row) => [Number(row['from_slot']), addedIn(row)]))
      const edited = new Map(edits.map(({ key, value }) => [key, value]))
      // Both may have more rows than were read.
      const ends = [added, edited]
        .filter(({ size }) => size === count)
        .map((each) => Math.max(...each.keys()))
      const end = Math.min(...ends)
      for (const slot of [...new Set([...added.keys(), ...edited.keys()])].sort((a, b) => a - b)) {
        const gap = slot <= end ? standing(added.get(slot), edited.get(slot)) : null
        if (gap !== null) found.push(gap)
      }
      if (end === Infinity) break
      from = end
    }
    return found.slice(0, Math.max(0, limit))
  }

  /** The times at which existing gaps were added, by their slots. */
  async #added(slots: readonly number[]): Promise<Map<number, number>> {
    const keys = slots.map((slot) => [CHAIN, BigInt(slot)])
    const answers = await this.#base.client.readEachThrough(SELECT_ONE, keys)
    const rows = answers.flatMap(([row]) => (row === undefined || row['gap'] === null ? [] : [row]))
    return new Map(rows.map((row) => [Number(row['from_slot']), Number(row['added_at'])]))
  }

  /** Deletes edits of gaps that are closed and deleted by now. */
  async #deleteEdits(commit: TableCommit, changed: ReadonlySet<number>): Promise<void> {
    const edits = await this.#edits.range({ within: [CHAIN], order: 'asc', limit: EDITS_TIDIED_MAX })
    const old = edits
      .filter(({ key, value }) => value.gap === null && !changed.has(key))
      .map(({ key }) => key)
    const added = await this.#added(old)
    for (const from of old) {
      if (added.has(from)) continue
      const params = [versionTimestamp(commit), CHAIN, BigInt(from)]
      commit.afterwards({ statement: DELETE_EDIT, params, bytes: DELETION_BYTES })
    }
  }
}

const addedIn = (row: { readonly [column: string]: unknown }): Added => ({
  gap: unpackRecord(gapKind, gapKey(Number(row['from_slot'])), row['gap'] as Buffer),
  addedAt: Number(row['added_at'])
})

/** State of a gap: as an amendment has left it, unless it was added again since. */
function standing(added: Added | undefined, edit: GapEdit | undefined): GapRow | null {
  if (edit === undefined || (added !== undefined && added.addedAt > edit.addedAt)) return added?.gap ?? null
  return edit.gap
}
