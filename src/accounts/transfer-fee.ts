import type { Pubkey } from '../chain/pubkey.ts'
import type { TransferFee } from '../chain/transfer-fee.ts'
import { keyOrNull } from './optional-key.ts'

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

/** Returns the fee in force at an epoch that has `older` or `newer`. */
export const transferFeeAt = ({ older, newer }: TransferFeeConfig, epoch: bigint): TransferFee =>
  epoch >= newer.epoch ? newer : older

/**
 * Returns the fee in force at an epoch, from a configuration read in `readEpoch`. Null if the configuration does not
 * determine it:
 * - before `older`;
 * - in the epoch after the reading, if `newer` begins then, because a further change may still replace it;
 * - later, because a change comes into force two epochs after it is made.
 */
export function knownFeeAt(config: TransferFeeConfig, epoch: bigint, readEpoch: bigint): TransferFee | null {
  const { older, newer } = config
  const fixedTo = newer.epoch === readEpoch + 1n ? readEpoch : readEpoch + 1n
  return epoch < older.epoch || epoch > fixedTo ? null : transferFeeAt(config, epoch)
}
