/** Milliseconds for an answer that needs the node: the reads end before. */
export const NODE_DEADLINE_MS = 5_000
/** Milliseconds for which an answer from accounts is repeated: its age is in whole seconds. */
export const ANSWER_MS = 1_000
