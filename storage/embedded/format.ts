import { ERRORS, ServiceError } from '../../src/kernel/errors.ts'
import { formatKey } from '../codec/keys.ts'
import { formatKind } from '../codec/kinds.ts'
import { packRecord } from '../codec/record.ts'
import { formatRefusal } from '../../src/kernel/format-refusal.ts'
import type { Level } from './level.ts'

/**
 * The format of the whole store: its keys, and the meaning of keys and values. It is raised by every change that an earlier
 * version would misread, a field at the end of a record included. Format 4 has tenants and API keys as documents,
 * price-forming prices of pools, stated starts of curves, trades without a price, and the active hours of tokens. Format 6
 * has pages of the revenue ledger, format 7 the first pages of candles. Format 5 was that of archives alone
 * (src/docs/upgrade.md).
 */
export const FORMAT = 7
/** The format of an archive: trades without what follows from the row before, and lists of wallets that refer to trades. */
export const ARCHIVE_FORMAT = 7
/** The oldest format that this version reads, and raises to its own. */
export const OLDEST_FORMAT = 3

/** Throws STORAGE_UNAVAILABLE unless this version reads a format. */
export function refuseFormat(directory: string, format: number): void {
  if (format > ARCHIVE_FORMAT)
    throw new ServiceError(
      ERRORS.STORAGE_UNAVAILABLE,
      formatRefusal(`the store in ${directory}`, format, ARCHIVE_FORMAT, OLDEST_FORMAT)
    )
  if (format < OLDEST_FORMAT)
    throw new ServiceError(
      ERRORS.STORAGE_UNAVAILABLE,
      `the store in ${directory} has format ${format}, which this version no longer reads (it reads ${OLDEST_FORMAT} to ${ARCHIVE_FORMAT}): start with an empty directory and reindex`
    )
}

/** Stores a format of this version durably. Earlier versions refuse the store from then on. */
export async function writeFormat(level: Level, format: number): Promise<void> {
  await level.put(formatKey(), packRecord(formatKind, formatKey(), format), { sync: true })
}
