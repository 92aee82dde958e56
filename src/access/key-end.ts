import { keyState, type Caller } from './caller.ts'
import type { KeyDirectory } from './key-directory.ts'
import type { Scope } from './scopes.ts'

/** The reason why an open connection loses its key, with the close code. */
export interface KeyEnd {
  readonly code: 4401 | 4403
  readonly reason: string
}

/**
 * Returns the current key of an open connection, or why the connection is closed: the key is no longer valid, or the key
 * lacks the scope of the connection.
 */
export function presentCaller(
  keys: Pick<KeyDirectory, 'caller'>,
  { keyId }: Pick<Caller, 'keyId'>,
  scope: Scope,
  nowMs: number
): Caller | KeyEnd {
  const caller = keys.caller(keyId)
  if (caller === undefined) return { code: 4401, reason: 'this API key is not known' }
  const state = keyState(caller.row, nowMs)
  if (state !== 'active') return { code: 4401, reason: `this API key is ${state}` }
  return caller.scopes.includes(scope)
    ? caller
    : { code: 4403, reason: `this API key no longer has the scope ${scope}` }
}
