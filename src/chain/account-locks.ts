import type { MessageHeader } from './wire.ts'

/** Key counts in a message's header and lookups, which determine the accounts that it locks for writing. */
export interface AccountLocks extends MessageHeader {
  /** Number of static keys; the loaded keys follow, writable ones first. */
  readonly statics: number
  readonly loadedWritable: number
}

/**
 * Tells whether a message requests a write lock on the account at an index. The runtime demotes some of these accounts:
 * see `writeWritable`.
 */
export function isLockedForWriting(locks: AccountLocks, index: number): boolean {
  const { signatures, readonlySigned, readonlyUnsigned, statics, loadedWritable } = locks
  if (index >= statics) return index - statics < loadedWritable
  return index < (index < signatures ? signatures - readonlySigned : statics - readonlyUnsigned)
}
