import { PubkeyTable, pubkeyFromBase58, pubkeyToBase58, samePubkey } from '../chain/pubkey.ts'
import type { Pubkey } from '../chain/pubkey.ts'
import type { Fill, Side } from './legs.ts'

/** A currency in which pairs are priced. */
export interface CashMint {
  readonly mint: Pubkey
  /** Null for an operator's mint, whose names are in on-chain metadata; likewise the next two fields. */
  readonly symbol: string | null
  readonly name: string | null
  readonly decimals: number | null
  /** Rank; of two cash mints, the one of lower rank is the token. */
  readonly rank: number
  /** Whether the mint is worth 1 USD by definition; wrapped SOL is not. */
  readonly pegged: boolean
}

export const WSOL = 'So11111111111111111111111111111111111111112'
export const USDC = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v'
export const USDT = 'Es9vMFrzaCERmJfrF4H2FYD4KCoNkY11McCe8BenwNYB'

/** Decimals of wrapped SOL, set by the token program. */
export const SOL_DECIMALS = 9

/** Names and decimals are those of the mints' on-chain metadata. */
const DEFAULTS = [
  { text: WSOL, symbol: 'SOL', name: 'Wrapped SOL', decimals: SOL_DECIMALS, pegged: false },
  { text: USDC, symbol: 'USDC', name: 'USD Coin', decimals: 6, pegged: true },
  { text: USDT, symbol: 'USDT', name: 'USDT', decimals: 6, pegged: true }
]

/** Returns the symbol of a currency that every service has, else the mint itself. */
export function symbolOrMint(mint: string): string {
  return DEFAULTS.find(({ text }) => text === mint)?.symbol ?? mint
}

const WRAPPED_SOL = pubkeyFromBase58(WSOL)

export function isWrappedSol(mint: Pubkey): boolean {
  return samePubkey(mint, WRAPPED_SOL)
}

export class CashList {
  /** All of them, by rank. */
  readonly mints: readonly CashMint[]
  readonly #table: PubkeyTable<CashMint>

  /** Takes an operator's USD-pegged mints, which rank after the three default ones in the order given. */
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
    const all = [...DEFAULTS, ...extra].map(({ text, ...facts }, rank): [string, CashMint] => [
      text,
      { mint: pubkeyFromBase58(text), ...facts, rank }
    ])
    this.#table = new PubkeyTable(all)
    this.mints = all.map(([, cash]) => cash)
  }

  of(mint: Pubkey): CashMint | undefined {
    return this.#table.ofBytes(mint)
  }

  /**
   * Returns the USD value of one unit of a mint: by definition, or the price of SOL. Null for other mints and while
   * unknown.
   */
  usdOf(mint: Pubkey, solUsd: number | null): number | null {
    const cash = this.of(mint)
    return cash === undefined ? null : cash.pegged ? 1 : solUsd
  }

  /** Returns the cash side of a trade: `in` is a buy, `out` a sell, null if neither mint is cash. */
  sideOf(fill: Pick<Fill, 'inMint' | 'outMint'>): Side | null {
    const paid = this.of(fill.inMint)
    const received = this.of(fill.outMint)
    if (paid === undefined) return received === undefined ? null : 'out'
    if (received === undefined) return 'in'
    return paid.rank > received.rank ? 'in' : 'out'
  }
}
