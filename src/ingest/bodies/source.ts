import { z } from 'zod'
import type { SlotRow } from '../../market/rows.ts'

/** The newest block of the archive; null if there is no archive. */
export type ArchiveEnd = Pick<SlotRow, 'slot' | 'blockTime'> | null

/** Documentation of lists that continue into an archive. */
export const ROWS_OF_ARCHIVE = 'If an archive was imported, older rows come from it, with `source: archive`.'

/** The field of a body that states its source. */
export interface SourceMark {
  readonly source?: 'archive'
}

/** Schema of the field `source`; `what` names the object. */
export const sourceMark = (what: string) =>
  z
    .literal('archive')
    .optional()
    .describe(`\`archive\` if ${what} from an imported archive; absent otherwise`)

const ARCHIVED: SourceMark = { source: 'archive' }
const LIVE: SourceMark = {}

/** Returns the mark of something that a slot's block made. The archive has all blocks up to its end. */
export const sourceOfSlot = (slot: number | undefined, end: ArchiveEnd): SourceMark =>
  end !== null && slot !== undefined && slot <= end.slot ? ARCHIVED : LIVE

/**
 * Returns the mark of a bucket by its start, Unix seconds. A bucket that begins no later than the archive's last block has
 * data of the archive.
 */
export const sourceOfBucket = (start: number, end: ArchiveEnd): SourceMark =>
  end !== null && start <= end.blockTime ? ARCHIVED : LIVE

/** Returns the mark of a record, by whether only the archive has the record. */
export const sourceOfRecord = (isArchived: boolean): SourceMark => (isArchived ? ARCHIVED : LIVE)
