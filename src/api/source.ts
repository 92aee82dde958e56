import { z } from 'zod'
import type { SlotRow } from '../market/rows.ts'

/** The newest block of the archive; null without one. */
export type ArchiveEnd = Pick<SlotRow, 'slot' | 'blockTime'> | null

/** Documentation of lists that go on into an archive. */
export const ROWS_OF_ARCHIVE = 'If an archive was imported, older rows come from it, with `source: archive`.'

/** The field of a body that says where it is from. */
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

/** Returns the mark of something that a slot's block made: all blocks up to the end of the archive are in it. */
export const sourceOfSlot = (slot: number | undefined, end: ArchiveEnd): SourceMark =>
  end !== null && slot !== undefined && slot <= end.slot ? ARCHIVED : LIVE

/**
 * Returns the mark of a bucket by its start, Unix seconds: one that begins up to the last block of the archive has data of the
 * archive.
 */
export const sourceOfBucket = (start: number, end: ArchiveEnd): SourceMark =>
  end !== null && start <= end.blockTime ? ARCHIVED : LIVE

/** Returns the mark of a record that only the archive has, or not. */
export const sourceOfRecord = (isArchived: boolean): SourceMark => (isArchived ? ARCHIVED : LIVE)
