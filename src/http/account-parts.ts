import type { AccountParts } from '../accounts/parts.ts'
import { ServiceError } from '../errors.ts'
import type { AppDeps } from './deps.ts'

/** Milliseconds for an answer that needs the node: the reads end before. */
export const NODE_DEADLINE_MS = 5_000
/** Milliseconds for which an answer from accounts is repeated: its age is in whole seconds. */
export const ANSWER_MS = 1_000

/** Returns the account side. Throws UPSTREAM_ERROR in a process without a node. */
export function accountsOf({ accounts }: Pick<AppDeps, 'accounts'>): AccountParts {
  if (accounts === null)
    throw new ServiceError('UPSTREAM_ERROR', 'no node is configured to read accounts from (MILLRACE_RPC_URL)')
  return accounts
}
