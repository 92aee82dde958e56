import type { Row } from '../../kernel/cli/command.ts'
import { archivedRow, faultIn, type ArchivedRow } from '../routes/archived-row.ts'
import { placeOfCursor } from '../routes/ledger-cursor.ts'
import { ARCHIVED_ROWS_MAX } from '../routes/revenue-archive.ts'
import type { SlotRange } from '../slot-ranges.ts'
import { readLedgerFile } from './ledger-file.ts'

/** Refused rows that are named; further ones are counted. */
const NAMED_MAX = 5

/** A row as it is sent, and as it was read. */
interface CheckedRow {
  readonly sent: Readonly<Record<string, unknown>>
  readonly row: ArchivedRow
}

/** Checks rows of files, and sends those of an address in batches of whole transactions. */
export class ImportedRows {
  readonly #address: string
  readonly #send: (rows: readonly Readonly<Record<string, unknown>>[]) => Promise<Row>
  readonly #complain: (line: string) => void
  #batch: CheckedRow[] = []
  /** The rows of the transaction that is being read. */
  #transaction: CheckedRow[] = []
  readonly counts = { stored: 0, repeated: 0, refused: 0, others: 0 }

  constructor(
    address: string,
    send: (rows: readonly Readonly<Record<string, unknown>>[]) => Promise<Row>,
    complain: (line: string) => void
  ) {
    this.#address = address
    this.#send = send
    this.#complain = complain
  }

  /** Sends the rows of a ledger file. Resolves with the slots from its first to its last row. */
  async readFile(path: string, signal: AbortSignal): Promise<readonly SlotRange[]> {
    let [from, to] = [Infinity, -Infinity]
    for await (const { line, row, fault } of readLedgerFile(path)) {
      signal.throwIfAborted()
      if (row === null) this.#refuse(`${path}:${line}: ${fault}`)
      else if (row['address'] !== undefined && row['address'] !== this.#address) this.counts.others++
      else {
        const slot = await this.add(withPlace(row), `${path}:${line}`)
        if (slot !== null) [from, to] = [Math.min(from, slot), Math.max(to, slot)]
      }
    }
    return from <= to ? [{ from, to }] : []
  }

  /** Adds a row; the rows of a transaction follow each other. Resolves with its slot; null if it is refused. */
  async add(sent: Readonly<Record<string, unknown>>, place: string): Promise<number | null> {
    const outcome = archivedRow.safeParse(sent)
    if (!outcome.success) {
      const [issue] = outcome.error.issues
      this.#refuse(`${place}: ${issue?.path.join('.') ?? 'row'}: ${issue?.message ?? 'cannot be read'}`)
      return null
    }
    const row = outcome.data
    const [before] = this.#transaction
    if (before !== undefined && (before.row.slot !== row.slot || before.row.tx_index !== row.tx_index))
      await this.#endTransaction()
    this.#transaction.push({ sent, row })
    return row.slot
  }

  /** Sends the rows that wait. */
  async flush(): Promise<void> {
    await this.#endTransaction()
    await this.#sendBatch()
  }

  async #endTransaction(): Promise<void> {
    const rows = this.#transaction
    this.#transaction = []
    if (rows.length === 0) return
    const fault = faultIn(
      rows.map(({ row }) => row),
      Date.now()
    )
    if (fault !== null) {
      this.counts.refused += rows.length - 1
      return this.#refuse(`slot ${rows[0]!.row.slot}: ${fault}`)
    }
    const key = keyOf(rows[0]!)
    // Files overlap: a transaction that comes again is sent in another batch.
    const isRepeated = this.#batch.some((each) => each.row.index === 0 && keyOf(each) === key)
    if (isRepeated || this.#batch.length + rows.length > ARCHIVED_ROWS_MAX) await this.#sendBatch()
    this.#batch.push(...rows)
  }

  async #sendBatch(): Promise<void> {
    const batch = this.#batch
    this.#batch = []
    if (batch.length === 0) return
    const { stored, repeated } = await this.#send(batch.map(({ sent }) => sent))
    this.counts.stored += Number(stored)
    this.counts.repeated += Number(repeated)
  }

  #refuse(line: string): void {
    this.counts.refused++
    if (this.counts.refused <= NAMED_MAX) this.#complain(line)
  }
}

const keyOf = ({ row: { slot, tx_index } }: CheckedRow): string => `${slot} ${tx_index}`

/** Adds the place in the block that the cursor of an exported row has. */
function withPlace(row: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const { cursor } = row
  const place = row['tx_index'] === undefined && typeof cursor === 'string' ? placeOfCursor(cursor) : null
  return place === null ? row : { ...row, tx_index: place.txIndex, index: place.index }
}
