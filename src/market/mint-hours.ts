import type { Pubkey } from '../chain/pubkey.ts'
import type { ActiveHours } from './active-hours.ts'
import type { ActivityHour, UsdPrice } from './activity-rows.ts'
import type { MinuteColumns } from './minute-columns.ts'

/** Hours of a mint, and the price from which later hours continue. */
export interface MintHours {
  /** Oldest first. */
  readonly hours: readonly ActivityHour[]
  /** The price before the live store, for live hours without a price before them. Null if no such hour can follow. */
  readonly earlierUsd: UsdPrice
}

/** A source of the hours that windows of mints are folded from. */
export interface MintHourSource {
  /** No row of an archive has a later time, Unix seconds; -Infinity if no row is archived. */
  readonly archivedUntil: number
  /** Hours of a mint with from ≤ hour < to: the newest `limit` of them. `active` are the live hours with an event. */
  mintHours(
    mint: Pubkey,
    range: { readonly from: number; readonly to: number; readonly limit: number },
    active?: ActiveHours
  ): Promise<MintHours>
  /**
   * Returns all of those hours as columns, which takes a fraction of the time; null if a sum does not fit. Absent in a source
   * that does not read columns.
   */
  readonly mintMinutes?:
    | ((
        mint: Pubkey,
        range: { readonly from: number; readonly to: number },
        active?: ActiveHours
      ) => Promise<MinuteColumns | null>)
    | undefined
}
