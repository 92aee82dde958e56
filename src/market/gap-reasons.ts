/** Reason of gaps whose blocks are stored, but whose rows a repair could not recover completely. */
export const DAMAGED = 'damaged'
/** Reason of the gap that a repair leaves in place of all blocks, so that the source fetches them again. */
export const READ_AGAIN = 'read_again'

/** Reason of gaps whose blocks are stored, but belong to a lost fork and cannot be rolled back. */
export const LOST_FORK = 'lost-fork'

/**
 * Reason of gaps whose blocks are stored, but whose node did not record inner instructions: events of transactions that name
 * a venue may be missing.
 */
export const INNER_ABSENT = 'inner-instructions-absent'
/**
 * Reason of gaps whose blocks are stored, but in which tokens left a known vault without a recorded call of the pool's program: a
 * trade may be missing.
 */
export const VAULT_MOVED = 'vault-moved'

/** Reasons of gaps whose blocks are stored with all their rows, except for events that the node does not show. */
export const UNSEEN_REASONS: ReadonlySet<string> = new Set([INNER_ABSENT, VAULT_MOVED])

/** Reasons of gaps whose blocks are stored, so that inserting them again would count them twice. */
export const STORED_REASONS: ReadonlySet<string> = new Set([DAMAGED, ...UNSEEN_REASONS])
