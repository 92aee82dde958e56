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
  'amend.staged': 'An amendment is packed and none of it written: what was stored is there as it was.',
  'amend.writing': 'The engine has the amendment and has not answered: it is there whole or not at all.',
  'amend.durable': 'An amendment is on disk and no reader has seen it: all of it is there.',
  'kept.forgotten': 'Kept blocks are forgotten and the caller has no answer: none of them is there.',
  'documents.staged': 'A group of documents is packed and none of it written: all are there as they were.',
  'documents.writing':
    'The engine has a group of documents and has not answered: all of it is there or nothing.',
  'documents.durable':
    'A group of documents is on disk and its callers have no answer: all of it is there, with its indexes.',
  'coverage.durable': 'A genesis or a gap is on disk and the caller has no answer: it is there, and once.',
  'horizon.durable':
    'The horizon of the retention is on disk and readers have not seen it move: it has moved, and the next sweep deletes what is below.',
  'close.drained': 'Every accepted write is on disk and the engine is open: the next open finds all of them.'
} as const

export type CrashPoint = keyof typeof CRASH_POINTS

/**
 * The crash points of the store on a cluster, which makes many writes. All of a block's writes count once its watermark
 * includes it, and all of a flush's once the other watermark does. Blocks that share a watermark share each point of the
 * commit.
 */
export const SCYLLA_CRASH_POINTS = {
  'schema.applying': 'Some statements of a schema file are done: the next start does all of them again.',
  'claim.taken': 'The claim is stored and its taker has no answer: the next claim takes it over.',
  'commit.staged': 'A block is packed and none of it sent: it is absent, and is committed again.',
  'commit.journalling': 'Part of a block is in the journal: it is absent, and is committed again.',
  'commit.journalled': 'Only the watermark is missing: the block is absent, and is committed again.',
  'commit.deciding':
    'The watermark was sent and not answered: the block is there whole or not at all, and a claim finds out.',
  'commit.visible':
    'The block is there for every reader, and its writer has not noticed: committing it again returns false.',
  'commit.published': 'The block is there and the caller has no answer: committing it again returns false.',
  'flush.staged':
    'What blocks write to the tables is known and none of it sent: the journal has them, and the next claim flushes them.',
  'flush.writing':
    'Some rows of a flush are written: none counts, the journal has the blocks, and the next claim flushes them.',
  'flush.written':
    'All rows of a flush are written and none counts: the journal has the blocks, and the next claim flushes them.',
  'flush.deciding':
    'The watermark of a flush was sent and not answered: all of its rows count or none, and a claim finds out.',
  'flush.visible': 'The rows of a flush count, and its writer has not noticed: the next claim does.',
  'flush.published': 'The rows of a flush count, and what it tidies up is left: readers pass over it.',
  'amend.claimed':
    'An amendment has an epoch of its own and is not staged: what was stored is there as it was.',
  'amend.staged': 'An amendment is staged and none of it sent: what was stored is there as it was.',
  'amend.writing':
    'Some rows of an amendment are written: none counts, and what was stored is there as it was.',
  'amend.written':
    'All rows of an amendment are written and none counts: what was stored is there as it was.',
  'amend.deciding': 'The watermark of an amendment was sent and not answered: all of it counts or nothing.',
  'amend.visible':
    'All of an amendment counts, and its writer has not noticed: writing it again changes nothing.',
  'amend.published': 'All of an amendment counts, and what it tidies up is left: readers pass over it.',
  'kept.forgotten':
    'Kept blocks are forgotten and not deleted: readers pass over them, and the next deletes them.',
  'close.drained': 'Every accepted commit is done and the connections are open: the next start finds all.'
} as const

export type ScyllaCrashPoint = keyof typeof SCYLLA_CRASH_POINTS
