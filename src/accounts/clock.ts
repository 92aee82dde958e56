import { pubkeyFromBase58, samePubkey } from '../chain/pubkey.ts'
import { i64At, u64At } from './account-fields.ts'
import type { Account } from './ports.ts'

/** The clock sysvar, with slot, epoch and time, and the program that owns sysvars. */
export const CLOCK_SYSVAR = pubkeyFromBase58('SysvarC1ock11111111111111111111111111111111')
export const SYSVAR_OWNER = pubkeyFromBase58('Sysvar1111111111111111111111111111111111111')
/** Slot, start of the epoch, epoch @16, epoch of the leader schedule, time @32 in Unix seconds. */
export const CLOCK_BYTES = 40

/** Epoch and time of the chain at a slot. */
export interface ChainClock {
  readonly epoch: bigint
  /** Unix seconds. */
  readonly seconds: number
}

/** Reads the clock account; null for any other account. */
export function readClock(clock: Account | null): ChainClock | null {
  if (clock === null || !samePubkey(clock.owner, SYSVAR_OWNER) || clock.data.length !== CLOCK_BYTES)
    return null
  return { epoch: u64At(clock.data, 16), seconds: Number(i64At(clock.data, 32)) }
}
