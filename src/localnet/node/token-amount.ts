/** A raw token amount as nodes write it: exact as text, and as a double. */
export interface UiTokenAmount {
  readonly amount: string
  readonly decimals: number
  readonly uiAmount: number | null
  readonly uiAmountString: string
}

/** Decimals beyond which a node writes no double: ten to their power exceeds a u64. */
const DIVIDED_DECIMALS_MAX = 19

export function uiTokenAmount(amount: bigint, decimals: number): UiTokenAmount {
  const digits = amount.toString()
  const uiAmountString = decimals === 0 ? digits : withPoint(digits, decimals)
  // As a node divides: for a long amount the quotient is not the double nearest to the text.
  const uiAmount = decimals > DIVIDED_DECIMALS_MAX ? null : Number(amount) / 10 ** decimals
  return { amount: digits, decimals, uiAmount, uiAmountString }
}

function withPoint(digits: string, decimals: number): string {
  const padded = digits.padStart(decimals + 1, '0')
  const whole = padded.slice(0, -decimals)
  const fraction = padded.slice(-decimals).replace(/0+$/, '')
  return fraction === '' ? whole : `${whole}.${fraction}`
}
