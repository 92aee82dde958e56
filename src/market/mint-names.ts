import type { CashMint } from './cash.ts'
import type { LaunchRow } from './rows.ts'

/** Names and decimals of a mint, each null if unknown. */
export interface MintNames {
  readonly name: string | null
  readonly symbol: string | null
  /** Address of its metadata. */
  readonly uri: string | null
  readonly decimals: number | null
}

/** Returns the names of a mint: those of the cash list, which no launch can override, else those of its launch. */
export function mintNames(
  cash: CashMint | undefined,
  launch: Pick<LaunchRow, 'name' | 'symbol' | 'uri' | 'decimals'> | null
): MintNames {
  const stated = cash === undefined ? launch : { ...cash, uri: null }
  return {
    name: stated?.name ?? null,
    symbol: stated?.symbol ?? null,
    uri: stated?.uri ?? null,
    decimals: stated?.decimals ?? null
  }
}
