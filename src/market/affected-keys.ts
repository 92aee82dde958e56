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

export function affectedKeys(
  { blockTime, entries }: Pick<DecodedBlock, 'blockTime' | 'entries'>,
  cash: CashList
): AffectedKeys {
  const addresses = byName<AffectedAddresses>(LATEST, () => new Map())
  const kinds = LATEST.map((name) => {
    const { textOf, affectedBy } = RECORDS[name] as LatestRecord<unknown, unknown>
    return { textOf, affectedBy, affected: addresses[name] as Map<string, unknown> }
  })
  // Event by event: the texts of its few addresses are cached, those of a whole minute are not.
  for (const { event } of entries)
    for (const { textOf, affectedBy, affected } of kinds)
      for (const address of affectedBy(event, cash)) affected.set(textOf(address), address)
  return { blockTime, ...addresses }
}
