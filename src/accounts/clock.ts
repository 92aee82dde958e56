import { pubkeyFromBase58, samePubkey } from '../chain/pubkey.ts'
import { u64At } from './account-fields.ts'
import type { Account } from './ports.ts'

/** The clock sysvar, with slot, epoch and time, and the program that owns sysvars. */
export const CLOCK_SYSVAR = pubkeyFromBase58('SysvarC1ock11111111111111111111111111111111')
export const SYSVAR_OWNER = pubkeyFromBase58('Sysvar1111111111111111111111111111111111111')
/** Slot, start of the epoch, epoch @16, epoch of the leader schedule, time @32 in Unix seconds. */
export const CLOCK_BYTES = 40

/** Returns the epoch in the clock account; null for any other account. */
export function epochOfClock(clock: Account | null): bigint | null {
  if (clock === null || !samePubkey(clock.owner, SYSVAR_OWNER) || clock.data.length !== CLOCK_BYTES)
    return null
  return u64At(clock.data, 16)
}
