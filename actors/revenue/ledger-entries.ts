import { WSOL } from '../../src/market/cash.ts'
import type { LedgerBlock } from '../../src/revenue/ledger-blocks.ts'
import { valued } from '../../src/revenue/valued-entry.ts'
import { LedgerPrices } from '../../src/revenue/ledger-prices.ts'
import type { LedgerPart } from '../../src/revenue/packed-page.ts'
import type { Storage } from '../../storage/port.ts'
import type { LedgerDeps } from './ledger-deps.ts'

/** The sources of prices. */
interface EntryPrices extends Pick<LedgerDeps, 'cash'> {
  readonly storage: Pick<Storage, 'pairs' | 'candles' | 'solPrices'>
}

/** Returns the entries of a block for some addresses, with their values at the time of the block. */
export async function entriesOf(
  { slot, blockTime, blockhash, changes }: LedgerBlock,
  addresses: { has(address: string): boolean },
  { storage, cash }: EntryPrices
): Promise<readonly LedgerPart[]> {
  const watched = [...changes.byAddress].filter(
    ([address, list]) => list.length > 0 && addresses.has(address)
  )
  if (watched.length === 0) return []
  const mints = watched.flatMap(([, list]) => list.map(({ mint }) => mint))
  const prices = await new LedgerPrices(storage, cash).at([WSOL, ...mints], blockTime)
  return watched.map(([address, list]) => ({
    address,
    slot,
    blockTime,
    blockhash,
    entries: list.map((change) => valued(change, address, prices))
  }))
}
