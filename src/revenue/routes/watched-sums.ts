import PQueue from 'p-queue'
import type { LedgerReader, SlotWindow, WindowSums } from '../ledger-reader.ts'
import type { WatchedAddress } from '../watched-address.ts'

/** Ledgers that an answer reads at once. A tenant's 200 addresses then leave the store to other requests too. */
const LEDGERS_AT_ONCE = 16

/**
 * Deadline in milliseconds of an answer with sums. 200 addresses with 20 mints each take 0.6 s on 2 cores, and a tenant can
 * have more mints.
 */
export const SUMS_DEADLINE_MS = 10_000

/** A watched address, and the sums of a window of its ledger. */
export interface WatchedSums extends WindowSums {
  readonly watched: WatchedAddress
}

/** Sums up a window of the ledgers of addresses, in their order. Rejects with the store's error, or the signal's reason. */
export async function watchedSums(
  reader: LedgerReader,
  watched: readonly WatchedAddress[],
  window: SlotWindow,
  signal: AbortSignal
): Promise<readonly WatchedSums[]> {
  const reads = new PQueue({ concurrency: LEDGERS_AT_ONCE })
  return Promise.all(
    watched.map((each) =>
      reads.add(async () => ({ watched: each, ...(await reader.sums(each, window)) }), { signal })
    )
  )
}
