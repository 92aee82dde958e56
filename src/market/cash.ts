import { PubkeyTable, pubkeyFromBase58, pubkeyToBase58, samePubkey } from '../chain/pubkey.ts'
import type { Pubkey } from '../chain/pubkey.ts'
import type { Fill, Side } from './legs.ts'

/** A currency in which pairs are priced (spec choices, section 12). */
export interface CashMint {
  readonly mint: Pubkey
  /** Null each for an operator's mint: its names are metadata of the chain. */
  readonly symbol: string | null
  readonly name: string | null
  readonly decimals: number | null
  /** Between two cash mints, the lower rank is the token. */
  readonly rank: number
  /** Worth 1 USD by definition; wrapped SOL is not. */
  readonly pegged: boolean
}

export const WSOL = 'So11111111111111111111111111111111111111112'
export const USDC = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v'
export const USDT = 'Es9vMFrzaCERmJfrF4H2FYD4KCoNkY11McCe8BenwNYB'

/** Of wrapped SOL, set by the token program. */
export const SOL_DECIMALS = 9

/** Names and decimals are those of the mints' metadata on the chain. */
const DEFAULTS = [
  { text: WSOL, symbol: 'SOL', name: 'Wrapped SOL', decimals: SOL_DECIMALS, pegged: false },
  { text: USDC, symbol: 'USDC', name: 'USD Coin', decimals: 6, pegged: true },
  { text: USDT, symbol: 'USDT', name: 'USDT', decimals: 6, pegged: true }
]

const WRAPPED_SOL = pubkeyFromBase58(WSOL)

export function isWrappedSol(mint: Pubkey): boolean {
  return samePubkey(mint, WRAPPED_SOL)
}

export class CashList {
  readonly #table: PubkeyTable<CashMint>

  /** The three default mints, and an operator's USD-pegged ones ranked after them in the order given. */
  constructor(usdMints: readonly Pubkey[] = []) {
    const extra = usdMints
      .map((mint) => ({
        text: pubkeyToBase58(mint),
        symbol: null,
        name: null,
        decimals: null,
        pegged: true
      }))
      .filter(({ text }) => !DEFAULTS.some((known) => known.text === text))
    this.#table = new PubkeyTable(
      [...DEFAULTS, ...extra].map(({ text, ...facts }, rank) => [
        text,
        { mint: pubkeyFromBase58(text), ...facts, rank }
      ])
    )
  }

  of(mint: Pubkey): CashMint | undefined {
    return this.#table.ofBytes(mint)
  }

  /** What one unit of a mint is worth in USD by definition or as the price of SOL; null of others and while unknown. */
  usdOf(mint: Pubkey, solUsd: number | null): number | null {
    const cash = this.of(mint)
    return cash === undefined ? null : cash.pegged ? 1 : solUsd
  }

  /** Which side of a trade is cash: `in` is a buy, `out` a sell, null when neither mint is cash. */
  sideOf(fill: Pick<Fill, 'inMint' | 'outMint'>): Side | null {
    const paid = this.of(fill.inMint)
    const received = this.of(fill.outMint)
    if (paid === undefined) return received === undefined ? null : 'out'
    if (received === undefined) return 'in'
    return paid.rank > received.rank ? 'in' : 'out'
  }
}
