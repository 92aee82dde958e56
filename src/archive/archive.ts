import type { SlotRow } from '../market/rows.ts'
import type { Storage } from '../../storage/port.ts'

/** An imported archive: the blocks before the first live one, in a separate store. */
export interface Archive {
  /** Read only. */
  readonly storage: Storage
  readonly first: SlotRow
  readonly last: SlotRow
  /**
   * Whether the first live block follows `last`, and the archive has all venues of that block. Rolling windows continue only
   * into an adjacent archive.
   */
  readonly isAdjacent: boolean
}
