/**
 * Time limits that lie inside each other, in milliseconds. A step must end before the steps around it, because only
 * its error can name the component that did not answer. So an inner limit is not a separate number, but derived from
 * the outer one by `stepMs`.
 */

/** Time between the end of a step and the end of the steps around it. Far more than a busy event loop delays a timer. */
const MARGIN_MS = 200

/**
 * Returns the limit of one of `tries` consecutive steps, such that all of them end before the outer limit. Below 400
 * ms, half of the outer limit is margin.
 */
export const stepMs = (outerMs: number, tries = 1): number =>
  Math.floor((outerMs - Math.min(MARGIN_MS, outerMs / 2)) / tries)

/** Time of an answer from this service's own data. */
export const ANSWER_LIMIT_MS = 2_000
/** One attempt to read the cluster: a second node can still answer. */
export const CQL_TRY_MS = stepMs(ANSWER_LIMIT_MS, 2)
/** A step of a request to the cluster that has no limit of its own, such as preparing a statement. */
export const CQL_STEP_MS = stepMs(ANSWER_LIMIT_MS)

/** Time of an answer from accounts, which need the node. */
export const ACCOUNTS_ANSWER_MS = 5_000
/** Wait of such an answer for its accounts, including the time in a queue. */
export const ACCOUNTS_WAIT_MS = stepMs(ACCOUNTS_ANSWER_MS)
/** Read of a batch of accounts. */
export const ACCOUNTS_READ_MS = stepMs(ACCOUNTS_WAIT_MS)
/** One request for accounts: a second node can still answer. */
export const ACCOUNTS_REQUEST_MS = stepMs(ACCOUNTS_READ_MS, 2)

/** Time of an answer with the status of a transaction. An archive of history may take some seconds. */
export const STATUS_ANSWER_MS = 8_000
/** Wait of such an answer for the newest height, which it states if a node answers in time. */
export const HEIGHT_WAIT_MS = 1_000
/** Wait of such an answer for the status itself, afterwards. */
export const STATUS_WAIT_MS = stepMs(STATUS_ANSWER_MS - HEIGHT_WAIT_MS)
/** One request about a transaction: after a node without history, recent signatures can still be requested. */
export const TRANSACTION_REQUEST_MS = stepMs(STATUS_WAIT_MS, 2)

/** Time of accepting a transaction or a bundle. A simulation, or the tip accounts, may take some seconds. */
export const SEND_ANSWER_MS = 10_000
/** Wait of a send for its simulation. */
export const SIMULATION_WAIT_MS = stepMs(SEND_ANSWER_MS)

/** Wait of a client for its subscription at a node. */
export const SUBSCRIPTION_WAIT_MS = 10_000
/** Time of a node's answer to a subscription: a second node can still accept it. */
export const SUBSCRIPTION_ANSWER_MS = stepMs(SUBSCRIPTION_WAIT_MS, 2)
