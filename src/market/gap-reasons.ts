/** Reason of gaps whose blocks are stored, but of which a repair could not recover all rows. */
export const DAMAGED = 'damaged'
/** Reason of the gap that a repair leaves instead of all blocks, so that the source fetches them again. */
export const READ_AGAIN = 'read_again'

/** Reason of gaps whose blocks are stored, but are of a lost fork and cannot be rolled back. */
export const LOST_FORK = 'lost-fork'
