/**
 * Where a process may die in the middle of the store's work, and what recovery must do about it. The store calls
 * out at each point; only tests listen, and kill the process there.
 */
export const CRASH_POINTS = {
  'open.created': 'The directory exists without a format record: the next open starts it as an empty store.',
  'open.ready': 'Nothing is under way: the next open finds the same head and the same rows.',
  'commit.staged':
    'A block is packed and none of it written: it is absent, and committing it again writes all of it.',
  'commit.writing': 'The engine has the batch and has not answered: the block is there whole or not at all.',
  'commit.durable':
    'The block is on disk and no reader has seen it: it is there, and committing it again returns false.',
  'commit.published':
    'Readers have seen the block and the caller has no answer: it is there, with all its rows.',
  'tenant.durable':
    'A tenant is on disk and the caller has no answer: it is there, and creating it again returns false.',
  'key.durable': 'An API key is on disk and the caller has no answer: it is found by its hash, and once.',
  'close.drained': 'Every accepted write is on disk and the engine is open: the next open finds all of them.'
} as const

export type CrashPoint = keyof typeof CRASH_POINTS
