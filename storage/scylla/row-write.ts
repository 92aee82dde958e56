/** A write of one row: an idempotent statement with its values. */
export interface RowWrite {
  readonly statement: string
  readonly params: readonly unknown[]
  /** Bytes of the values on the wire, estimated. */
  readonly bytes: number
}

/** Rows of one batch, and their estimated bytes: a server warns from 5 KB on and refuses from 50 KB. */
const BATCH_ROWS_MAX = 100
const BATCH_BYTES_MAX = 40_000

/** Rows of one partition as batches of bounded size; a row that is larger goes alone. */
export function batchesOf(rows: readonly RowWrite[]): (readonly RowWrite[])[] {
  if (rows.length <= 1) return rows.length === 0 ? [] : [rows]
  const batches: RowWrite[][] = []
  let batch: RowWrite[] = []
  let bytes = 0
  for (const row of rows) {
    const isFull = batch.length === BATCH_ROWS_MAX || bytes + row.bytes > BATCH_BYTES_MAX
    if (isFull && batch.length > 0) {
      batches.push(batch)
      batch = []
      bytes = 0
    }
    batch.push(row)
    bytes += row.bytes
  }
  batches.push(batch)
  return batches
}
