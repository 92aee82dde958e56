import type { Pubkey } from '../chain/pubkey.ts'
import { keyOrNull } from './optional-key.ts'

/** A transfer fee of a Token-2022 mint, in force from an epoch on. */
export interface TransferFee {
  readonly epoch: bigint
  /** Largest fee of one transfer, in base units. */
  readonly maximum: bigint
  readonly basisPoints: number
}

/** The fees of a mint: `newer` from its epoch on, `older` before. */
export interface TransferFeeConfig {
  readonly configAuthority: Pubkey | null
  readonly withdrawAuthority: Pubkey | null
  /** Base units that were withheld and moved to the mint. */
  readonly withheld: bigint
  readonly older: TransferFee
  readonly newer: TransferFee
}

/** Reads the 108 bytes of the extension. */
export function readTransferFeeConfig(value: Uint8Array): TransferFeeConfig {
  const view = new DataView(value.buffer, value.byteOffset, value.byteLength)
  const feeAt = (at: number): TransferFee => ({
    epoch: view.getBigUint64(at, true),
    maximum: view.getBigUint64(at + 8, true),
    basisPoints: view.getUint16(at + 16, true)
  })
  return {
    configAuthority: keyOrNull(value, 0),
    withdrawAuthority: keyOrNull(value, 32),
    withheld: view.getBigUint64(64, true),
    older: feeAt(72),
    newer: feeAt(90)
  }
}

/** Returns the fee in force at an epoch. */
export const transferFeeAt = ({ older, newer }: TransferFeeConfig, epoch: bigint): TransferFee =>
  epoch >= newer.epoch ? newer : older

/** Returns what a transfer of `amount` base units withholds: rounded up, at most the maximum. */
export function withheldOf({ basisPoints, maximum }: TransferFee, amount: bigint): bigint {
  const fee = (amount * BigInt(basisPoints) + 9_999n) / 10_000n
  return fee < maximum ? fee : maximum
}
