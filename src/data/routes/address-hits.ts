import { searchHit, type SearchHit } from '../bodies/search.ts'
import type { Pubkey } from '../../chain/pubkey.ts'
import type { SlotRow } from '../../market/rows.ts'
import { windowHours, windowOf, type MintWindow } from '../../market/windows.ts'
import type { MarketStores } from '../../archive/market-stores.ts'
import type { DataNeeds } from './needs.ts'

const DAY_SECONDS = 86_400
const NEWEST = { order: 'desc', limit: 1 } as const

interface SearchedParts extends Pick<DataNeeds, 'accounts' | 'cash' | 'names'> {
  readonly market: MarketStores
  /** Reads the 24-hour window of a mint. */
  readonly dayOf: (mint: Pubkey) => Promise<MintWindow>
}

/** Returns all hits of an address: at most one of each kind, in the order token, pool, wallet. */
export async function addressHits(
  { market, accounts, cash, names, dayOf }: SearchedParts,
  { address, head }: { readonly address: Pubkey; readonly head: SlotRow | null }
): Promise<SearchHit[]> {
  const [token, launch, curve, pool, trades] = await Promise.all([
    market.tokens.get(address),
    market.launches.get(address),
    market.curves.get(address),
    market.pools.get(address),
    market.trades.ofWallet(address, NEWEST)
  ])
  const factsOf = async (mint: Pubkey) => {
    await accounts?.mints.recall([mint])
    const reading = accounts?.mints.peek(mint)?.reading
    return reading?.kind === 'facts' ? reading : null
  }
  const facts = await factsOf(address)
  const isToken = [token, launch, curve, facts, cash.of(address) ?? null].some((known) => known !== null)
  const hits: SearchHit[] = []
  if (isToken) {
    const named = names.namesOf(address) ?? facts?.names ?? launch
    hits.push(searchHit('token', address, { ...namesIn(named), day: await dayOf(address), match: 'address' }))
  }
  if (pool !== null) {
    const { venue, base } = pool
    const named = names.namesOf(base) ?? (await factsOf(base))?.names ?? (await market.launches.get(base))
    const now = head?.blockTime ?? 0
    const hours = await market.windows.hours('pool', address, windowHours(now, DAY_SECONDS))
    const day = windowOf(hours, now, DAY_SECONDS)
    hits.push(searchHit('pool', address, { ...namesIn(named), venue, day, match: 'address' }))
  }
  if (trades.length > 0) hits.push(searchHit('wallet', address, { match: 'address' }))
  return hits
}

const namesIn = (
  named: { readonly symbol: string; readonly name: string } | null
): Partial<Pick<SearchHit, 'symbol' | 'name'>> =>
  named === null ? {} : { symbol: named.symbol, name: named.name }
