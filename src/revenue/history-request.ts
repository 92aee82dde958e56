import { united, without, type SlotRange, type TimedRange } from './slot-ranges.ts'
import { IMPORTED_MAX, NO_HISTORY, type LedgerSince } from './watch-history.ts'
import type { WatchedAddress } from './watched-address.ts'

/** Returns whether a request of this time, or a later one, is stored. */
export const isRequested = ({ history = NO_HISTORY }: WatchedAddress, requestedAtMs: number): boolean =>
  history.requestedAtMs >= requestedAtMs

/** Returns a watch with a new request for its history. */
export function requested(watched: WatchedAddress, since: LedgerSince, nowMs: number): WatchedAddress {
  const { history = NO_HISTORY } = watched
  // A request names itself by its time, which must be new.
  const requestedAtMs = Math.max(nowMs, history.requestedAtMs + 1)
  return { ...watched, history: { ...history, since, requestedAtMs } }
}

/**
 * Returns the change of a watch that requests its history with imported slots: their stored archived rows are all that there
 * are. Null if the watch would have too many ranges.
 */
export function withImported(
  { history: { imported, since } = NO_HISTORY }: WatchedAddress,
  ranges: readonly SlotRange[],
  requestedAtMs: number
): ((watched: WatchedAddress) => WatchedAddress) | null {
  const timed = ranges.map(untimed)
  const all = [...united([...imported, ...timed])]
  if (all.length > IMPORTED_MAX) return null
  const start = since ?? { slot: all[0]?.from ?? 0, ts: null }
  return (watched) => {
    const changed = requested(watched, start, requestedAtMs)
    const history = changed.history!
    const again = without(timed, without(timed, history.archived)).map(untimed)
    const restaged = [...united([...history.restaged, ...again])]
    return { ...changed, history: { ...history, imported: all, restaged } }
  }
}

const untimed = (range: SlotRange): TimedRange => ({ ...range, fromTs: null, toTs: null })
