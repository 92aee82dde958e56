/** Scopes of keys (src/docs/operations.md). */
export const SCOPES = [
  'data:read',
  'rpc:read',
  'rpc:send',
  'stream',
  'webhooks',
  'tx:send',
  'revenue',
  'admin'
] as const
export type Scope = (typeof SCOPES)[number]

/** Scopes of a key that is created without a list of scopes. */
export const DEFAULT_SCOPES: readonly Scope[] = SCOPES.filter((scope) => scope !== 'admin')
