import { POSITIONS_PER_SLOT } from '../market/cursor.ts'

/**
 * Number of slots that a process waits for a cursor ahead of its head, which another process of the cluster may have
 * sent: 120 s in slots of 0.4 s. A process that is further behind reports 503 as its health, so load balancers send
 * it no clients.
 */
export const AWAITED_SLOTS = 300

/**
 * Returns the cursor after which the events of a subscription are sent: `since`, or the head if `since` is more than
 * AWAITED_SLOTS ahead of it. `head` ends the newest published slot; -1 before the first.
 */
export const startOfSubscription = (since: number, head: number): number =>
  since - head > AWAITED_SLOTS * POSITIONS_PER_SLOT ? head : since
