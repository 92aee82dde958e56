/** A raw token amount as nodes write it: exact as text, and as a double. */
export interface UiTokenAmount {
  readonly amount: string
  readonly decimals: number
  readonly uiAmount: number | null
  readonly uiAmountString: string
}

export function uiTokenAmount(amount: bigint, decimals: number): UiTokenAmount {
  const digits = amount.toString()
  const uiAmountString = decimals === 0 ? digits : withPoint(digits, decimals)
  return { amount: digits, decimals, uiAmount: Number(uiAmountString), uiAmountString }
}

function withPoint(digits: string, decimals: number): string {
  const padded = digits.padStart(decimals + 1, '0')
  const whole = padded.slice(0, -decimals)
  const fraction = padded.slice(-decimals).replace(/0+$/, '')
  return fraction === '' ? whole : `${whole}.${fraction}`
}
