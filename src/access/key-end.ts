import { keyState, type Caller } from './caller.ts'
import type { KeyDirectory } from './key-directory.ts'

/** Returns why the key of an open connection is no longer valid; null while it is. */
export function endOfKey(
  keys: Pick<KeyDirectory, 'row'>,
  { keyId }: Pick<Caller, 'keyId'>,
  nowMs: number
): string | null {
  const row = keys.row(keyId)
  if (row === undefined) return 'this API key is not known'
  const state = keyState(row, nowMs)
  return state === 'active' ? null : `this API key is ${state}`
}
