/**
 * Time limits that lie inside each other, in milliseconds. A step must end before the steps around it: its error says
 * what did not answer, and an outer limit cannot know that. So an inner limit is never a number of its own, but derived
 * from the outer one by `stepMs`.
 */

/** Time between the end of a step and that of the steps around it. Far more than a busy event loop delays a timer. */
const MARGIN_MS = 200

/**
 * Returns the limit of one of `tries` consecutive steps, such that all of them end before the limit around them. A
 * limit below 400 ms keeps half of itself as margin.
 */
export const stepMs = (outerMs: number, tries = 1): number =>
  Math.floor((outerMs - Math.min(MARGIN_MS, outerMs / 2)) / tries)

/** An answer from this service's own data. */
export const ANSWER_LIMIT_MS = 2_000
/** A try of a read of the cluster: a second node can still answer. */
export const CQL_TRY_MS = stepMs(ANSWER_LIMIT_MS, 2)
/** A step of a request to the cluster that has no limit of its own, such as preparing a statement. */
export const CQL_STEP_MS = stepMs(ANSWER_LIMIT_MS)

/** An answer from accounts, which need the node. */
export const ACCOUNTS_ANSWER_MS = 5_000
/** The wait of such an answer for its accounts, the time in a queue included. */
export const ACCOUNTS_WAIT_MS = stepMs(ACCOUNTS_ANSWER_MS)
/** The read of a batch of accounts. */
export const ACCOUNTS_READ_MS = stepMs(ACCOUNTS_WAIT_MS)
/** One request for accounts: a second node can still answer. */
export const ACCOUNTS_REQUEST_MS = stepMs(ACCOUNTS_READ_MS, 2)

/** An answer with the status of a transaction. An archive of history may take some seconds. */
export const STATUS_ANSWER_MS = 8_000
/** The wait of such an answer for the newest height, which it states if a node answers in time. */
export const HEIGHT_WAIT_MS = 1_000
/** Its wait for the status itself, which follows. */
export const STATUS_WAIT_MS = stepMs(STATUS_ANSWER_MS - HEIGHT_WAIT_MS)
/** One request about a transaction: after a node without history, recent signatures can still be requested. */
export const TRANSACTION_REQUEST_MS = stepMs(STATUS_WAIT_MS, 2)

/** Taking a transaction or a bundle. A simulation, or the tip accounts, may take some seconds. */
export const SEND_ANSWER_MS = 10_000
/** The wait of a send for its simulation. */
export const SIMULATION_WAIT_MS = stepMs(SEND_ANSWER_MS)

/** The wait of a client for its subscription at a node. */
export const SUBSCRIPTION_WAIT_MS = 10_000
/** A node's answer to a subscription: a second node can still take it. */
export const SUBSCRIPTION_ANSWER_MS = stepMs(SUBSCRIPTION_WAIT_MS, 2)
