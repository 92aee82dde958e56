/** Reason of gaps whose blocks are stored, and of which a repair could not get back all rows. */
export const DAMAGED = 'damaged'
/** Reason of the gap that a repair leaves in place of all blocks, for the source to be asked for them again. */
export const READ_AGAIN = 'read_again'

/** Reason of gaps whose blocks are stored, but are of a lost fork and cannot be taken back. */
export const LOST_FORK = 'lost-fork'
