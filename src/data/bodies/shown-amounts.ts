import type { MintAccount } from '../../accounts/mint-account.ts'
import type { TokenProgramName } from '../../accounts/token-program.ts'
import { multiplierAt, uiAmount } from '../../accounts/ui-scale.ts'

/** Converts amounts of a token to human units. */
export interface ShownAmounts {
  /** Null if unknown. */
  readonly of: (raw: bigint) => number | null
  /** Factor of displayed amounts; null if amounts are not scaled. */
  readonly multiplier: number | null
}

const UNKNOWN: ShownAmounts = { of: () => null, multiplier: null }

/**
 * Returns how to display amounts of a token at a time of the chain, in Unix seconds. A mint of Token-2022 may scale them, so
 * no amount is displayed until its account is read.
 */
export function shownAmounts(
  token: { readonly decimals: number | null; readonly tokenProgram: TokenProgramName | null },
  account: MintAccount | null,
  atSeconds: number
): ShownAmounts {
  const { decimals } = token
  if (decimals === null || (token.tokenProgram === 'token-2022' && account === null)) return UNKNOWN
  const scale = account?.features.scale ?? null
  return {
    of: (raw) => uiAmount(raw, { decimals, scale }, atSeconds),
    multiplier: scale === null ? null : multiplierAt(scale, atSeconds)
  }
}
