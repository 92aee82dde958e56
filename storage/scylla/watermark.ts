import type { SlotRow } from '../../src/market/rows.ts'
import { slotKind } from '../codec/kinds.ts'
import { packRecord, unpackRecord } from '../codec/record.ts'
import type { CqlRow, CqlStatement } from './client.ts'
import type { Version } from './version.ts'
import { Snapshot } from './visibility.ts'
import type { Forgotten, Watermarks } from './visibility.ts'

/**
 * The rows of the table of writers. Each epoch has one, with its two watermarks. Shared columns say which epoch may write,
 * who claimed it, and the greatest lease token that has claimed. They also have the newest committed slot, the newest slot
 * of the tables, the newest amendment, and the forgotten kept blocks. All are in one partition, so that a conditional write
 * sees all of them.
 */
const CHAIN = 'solana'
const HEAD_KEY = Buffer.from('head', 'latin1')

const ALL_COLUMNS =
  'epoch, last_commit, flushed, current_epoch, claim, head, flushed_head, amended, forgotten, forgotten_epoch, forgotten_commit'
const SELECT_CLAIM = 'SELECT DISTINCT chain, current_epoch, claim, lease_token FROM writers WHERE chain = ?'
const SELECT_EPOCHS = `SELECT ${ALL_COLUMNS} FROM writers WHERE chain = ? AND epoch >= ?`
const CLAIM =
  'UPDATE writers SET current_epoch = ?, claim = ?, lease_token = ? WHERE chain = ? IF current_epoch = ?'
const NEW_EPOCH = 'INSERT INTO writers (chain, epoch, last_commit, flushed) VALUES (?, ?, ?, ?)'
const COMMIT =
  'UPDATE writers SET last_commit = ?, head = ? WHERE chain = ? AND epoch = ? IF current_epoch = ? AND last_commit = ?'
const FLUSH =
  'UPDATE writers SET flushed = ?, flushed_head = ? WHERE chain = ? AND epoch = ? IF current_epoch = ? AND flushed = ?'
const AMEND =
  'UPDATE writers SET last_commit = ?, flushed = ?, head = ?, flushed_head = ?, amended = ? WHERE chain = ? AND epoch = ? IF current_epoch = ? AND last_commit = ? AND flushed = ?'
const FORGET =
  'UPDATE writers SET forgotten = ?, forgotten_epoch = ?, forgotten_commit = ? WHERE chain = ? IF current_epoch = ?'

/** The epoch that may write, as stored. */
export interface ClaimRow {
  /** Null before the first claim. */
  readonly epoch: number | null
  /** The id that the claimant chose. */
  readonly claim: string | null
  /** The greatest token that has claimed, or null. */
  readonly token: bigint | null
}

export const selectClaim: CqlStatement = { statement: SELECT_CLAIM, params: [CHAIN] }

export function claimOf([row]: readonly CqlRow[]): ClaimRow {
  return {
    epoch: (row?.['current_epoch'] as number | null | undefined) ?? null,
    claim: (row?.['claim'] as string | null | undefined) ?? null,
    token: (row?.['lease_token'] as bigint | null | undefined) ?? null
  }
}

/** Gives the right to write to a new epoch. Not applied if another process has claimed an epoch since. */
export function claimStatement(
  before: ClaimRow,
  epoch: number,
  claim: string,
  token: bigint | null
): CqlStatement[] {
  return [
    { statement: CLAIM, params: [epoch, claim, token, CHAIN, before.epoch] },
    { statement: NEW_EPOCH, params: [CHAIN, epoch, 0, 0] }
  ]
}

/** Publishes a block. Not applied if another epoch holds the claim, or if `last` is not this epoch's last commit. */
export const commitStatement = (version: Version, head: SlotRow, last: number): CqlStatement =>
  moving(COMMIT, version, head, last)

/**
 * Publishes the rows of the tables up to a commit. Not applied if another epoch holds the claim, or if the commit published
 * before is not `last`.
 */
export const flushStatement = (version: Version, head: SlotRow, last: number): CqlStatement =>
  moving(FLUSH, version, head, last)

function moving(statement: string, { epoch, number }: Version, head: SlotRow, last: number): CqlStatement {
  return { statement, params: [number, packed(head), CHAIN, epoch, epoch, last] }
}

/** Publishes an amendment, the first commit of its epoch, with the head after it. */
export function amendmentStatement({ epoch, number }: Version, head: SlotRow | null): CqlStatement {
  const bytes = packed(head)
  return {
    statement: AMEND,
    params: [number, number, bytes, bytes, number, CHAIN, epoch, epoch, 0, 0]
  }
}

/** Forgets kept blocks. Not applied if another epoch holds the claim. */
export const forgetStatement = ({ until, epoch, number }: Forgotten): CqlStatement => ({
  statement: FORGET,
  params: [BigInt(until), epoch, number, CHAIN, epoch]
})

const packed = (head: SlotRow | null): Buffer | null =>
  head === null ? null : Buffer.from(packRecord(slotKind, HEAD_KEY, head))

/** The watermarks from an epoch on. */
export const selectEpochs = (epoch: number): CqlStatement => ({
  statement: SELECT_EPOCHS,
  params: [CHAIN, epoch]
})

/** The state given by the watermarks from the newest known epoch on, added to the known state. */
export function watermarksOf(rows: readonly CqlRow[], known: Watermarks): Watermarks {
  const [first] = rows
  if (first === undefined) return known
  const head = headOf(first, 'head')
  // A store from before there were flushes has all in its tables.
  const isOld = first['flushed_head'] === null && rows.some((row) => row['flushed'] === null)
  const amended = (first['amended'] as number | null) ?? 0
  // An amendment states the head after it, which may be null.
  const flushedHead = headOf(first, 'flushed_head') ?? (amended === 0 ? known.flushed.head : null)
  return {
    committed: snapshotOf(rows, (row) => row['last_commit'] as number, head, known.committed.ended),
    flushed: snapshotOf(
      rows,
      (row) => (row['flushed'] ?? row['last_commit']) as number,
      isOld ? head : flushedHead,
      known.flushed.ended
    ),
    amended,
    forgotten: forgottenOf(first)
  }
}

function forgottenOf(row: CqlRow): Forgotten | null {
  const until = row['forgotten'] as bigint | null
  if (until === null) return null
  const [epoch, number] = [row['forgotten_epoch'] as number, row['forgotten_commit'] as number]
  return { until: Number(until), epoch, number }
}

function snapshotOf(
  rows: readonly CqlRow[],
  lastOf: (row: CqlRow) => number,
  head: SlotRow | null,
  known: ReadonlyMap<number, number>
): Snapshot {
  const epoch = rows[0]!['current_epoch'] as number
  const ended = new Map(known)
  let number = 0
  for (const row of rows) {
    const last = lastOf(row)
    if (row['epoch'] === epoch) number = last
    else if (last > 0) ended.set(row['epoch'] as number, last)
  }
  return new Snapshot({ epoch, number }, head, ended.size === known.size ? known : ended)
}

function headOf(row: CqlRow, column: string): SlotRow | null {
  const head = row[column] as Buffer | null
  return head === null ? null : unpackRecord(slotKind, HEAD_KEY, head)
}
