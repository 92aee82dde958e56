import type { Pubkey } from '../../chain/pubkey.ts'
import { NATIVE_MINT } from '../../chain/token-accounts.ts'
import type { VenueId } from '../../chain/venue-id.ts'
import type { LocalAccount } from '../chain.ts'
import type { Ledger } from './ledger.ts'
import { keepsWrapped, type People } from './people.ts'
import type { ListedToken, ReferencePrices } from './prices.ts'
import { METADATA_PROGRAM, TOKEN, USDC, VOTE } from '../programs.ts'
import { programAddress } from '../../signing/program-address.ts'
import { seededRandom } from './random.ts'
import { metadataOf, newMint, rentExempt } from './token-layouts.ts'

/** Creates the accounts before the first slot: mints, and people with lamports and tokens. Returns all of them. */
export function foundMarket(
  ledger: Ledger,
  seed: string,
  { people, prices }: { readonly people: People; readonly prices: ReferencePrices }
): readonly LocalAccount[] {
  const random = seededRandom(`${seed}/genesis`)
  const authority = people.makers[0]!
  ledger.begin()
  // The native mint exists already; it is returned with the rest.
  ledger.addLamports(NATIVE_MINT, 0n)
  const dollar = { mint: USDC, symbol: 'USDC', name: 'USD Coin', decimals: 6, usd: 1, makerUsd: 400_000_000 }
  const tokens: readonly ListedToken[] = [dollar, ...prices.listed]
  for (const { mint, decimals, name, symbol } of tokens) {
    ledger.create(mint, TOKEN, newMint(decimals, authority))
    ledger.addLamports(mint, rentExempt(82))
    const uri = `https://tokens.example.org/${symbol.toLowerCase()}.json`
    const metadata = metadataOf(mint, authority, { name, symbol, uri })
    const place = programAddress(['metadata', METADATA_PROGRAM, mint], METADATA_PROGRAM)
    ledger.create(place, METADATA_PROGRAM, metadata)
    ledger.addLamports(place, rentExempt(metadata.length))
  }
  const give = (owner: Pubkey, mint: Pubkey, amount: bigint): void => {
    const account = ledger.tokenAccountOf(owner, mint)
    ledger.createTokenAccount(account, owner, mint, false)
    ledger.addLamports(account, rentExempt(165))
    ledger.addTokens(account, mint, amount)
    if (mint !== NATIVE_MINT) ledger.addSupply(mint, amount)
  }
  const sol = (amount: number): bigint => BigInt(Math.round(amount * 1e9))
  const worth = (token: { decimals: number; usd: number }, usd: number): bigint =>
    BigInt(Math.round((usd / token.usd) * 10 ** token.decimals))
  for (const maker of [...people.makers, ...people.arbitrageurs]) {
    ledger.addLamports(maker, sol(2_000_000))
    give(maker, NATIVE_MINT, sol(2_000_000))
    for (const token of tokens) give(maker, token.mint, worth(token, token.makerUsd))
  }
  for (const [number, trader] of people.traders.entries()) {
    ledger.addLamports(trader, sol(200 + 4_000 * random.next() ** 3))
    if (keepsWrapped(trader)) give(trader, NATIVE_MINT, sol(200 + 4_000 * random.next() ** 3))
    for (const [at, token] of tokens.entries()) {
      if (at > 0 && (number + at) % 3 !== 0) continue
      give(trader, token.mint, worth(token, 20_000 + 400_000 * random.next() ** 3))
    }
  }
  for (const wallet of [...people.creators, people.operator]) ledger.addLamports(wallet, sol(5_000))
  for (const { identity, account } of people.voters) {
    ledger.addLamports(identity, sol(1_000))
    ledger.create(account, VOTE, new Uint8Array(3762))
    ledger.addLamports(account, rentExempt(3762))
  }
  return ledger.commit()
}

/** A pool that exists from the start of a market. */
export interface FirstPool {
  readonly venue: VenueId
  readonly base: Pubkey
  readonly quote: Pubkey
  /** Worth of each side, in dollars. */
  readonly usd: number
}

/** Returns the first pools: SOL against dollars on most venues, so that SOL has a price, and listed tokens on each. */
export function firstPools(venues: readonly VenueId[], prices: ReferencePrices): FirstPool[] {
  const { listed } = prices
  const [dollar, ...tokens] = listed
  const pools: FirstPool[] = []
  for (const [at, venue] of venues.entries()) {
    if (venue === 'raydium-stable') {
      pools.push({ venue, base: dollar!.mint, quote: USDC, usd: 4_000_000 })
      continue
    }
    // Bins around the price are as deep as twelve times as much over all prices.
    const depth = venue === 'meteora-dlmm' ? 1 / 12 : 1
    if (venue !== 'pumpswap') pools.push({ venue, base: NATIVE_MINT, quote: USDC, usd: 6_000_000 * depth })
    const token = tokens[at % tokens.length]!
    pools.push({ venue, base: token.mint, quote: NATIVE_MINT, usd: 1_200_000 * depth })
    const other = tokens[(at + 3) % tokens.length]!
    if (at % 2 === 0) pools.push({ venue, base: other.mint, quote: USDC, usd: 900_000 * depth })
  }
  return pools
}
