import type { Pubkey } from './pubkey.ts'

/** A transfer fee of a Token-2022 mint, in force from an epoch on. */
export interface TransferFee {
  readonly epoch: bigint
  /** Largest fee of one transfer, in base units. */
  readonly maximum: bigint
  readonly basisPoints: number
}

/** Returns the fee of a mint in the epoch of the block that is decoded; null if unknown. */
export type TransferFeeLookup = (mint: Pubkey) => TransferFee | null

/** The fee of a mint without a transfer fee. */
export const NO_FEE: TransferFee = { epoch: 0n, maximum: 0n, basisPoints: 0 }

/** Returns the fee withheld from a transfer of `amount` base units: rounded up, at most the maximum. */
export function withheldOf({ basisPoints, maximum }: TransferFee, amount: bigint): bigint {
  const fee = (amount * BigInt(basisPoints) + 9_999n) / 10_000n
  return fee < maximum ? fee : maximum
}
