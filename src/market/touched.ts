import type { DecodedBlock } from './block.ts'
import type { CashList } from './cash.ts'
import { byName, LATEST, RECORDS } from './records.ts'
import type { AddressOf, LatestName, LatestRecord } from './records.ts'

/** The addresses whose rows must be known before a block can be folded: each once, in the order of their first event. */
export type TouchedAddresses = {
  readonly [Name in LatestName]: ReadonlyMap<string, AddressOf<Name>>
}

export interface Touched extends TouchedAddresses {
  /** Unix seconds: the buckets and hours that the block falls into are those of this time. */
  readonly blockTime: number
}

export function touchedBy(block: DecodedBlock, cash: CashList): Touched {
  const { blockTime, entries } = block
  const addresses = byName<TouchedAddresses>(LATEST, (name) => {
    const { textOf, touchedBy } = RECORDS[name] as LatestRecord<unknown, unknown>
    const touched = new Map<string, never>()
    for (const { event } of entries)
      for (const address of touchedBy(event, cash)) touched.set(textOf(address), address as never)
    return touched
  })
  return { blockTime, ...addresses }
}
