import type { DecodedBlock } from './block.ts'
import type { CashList } from './cash.ts'
import { byName, LATEST, RECORDS } from './records.ts'
import type { AddressOf, LatestName, LatestRecord } from './records.ts'

/** The addresses whose rows are needed to fold a block: each once, in the order of their first event. */
export type AffectedAddresses = {
  readonly [Name in LatestName]: ReadonlyMap<string, AddressOf<Name>>
}

export interface AffectedKeys extends AffectedAddresses {
  /** Block time in Unix seconds; determines the buckets and hours of the block. */
  readonly blockTime: number
}

export function affectedKeys(block: DecodedBlock, cash: CashList): AffectedKeys {
  const { blockTime, entries } = block
  const addresses = byName<AffectedAddresses>(LATEST, (name) => {
    const { textOf, affectedBy } = RECORDS[name] as LatestRecord<unknown, unknown>
    const affected = new Map<string, never>()
    for (const { event } of entries)
      for (const address of affectedBy(event, cash)) affected.set(textOf(address), address as never)
    return affected
  })
  return { blockTime, ...addresses }
}
