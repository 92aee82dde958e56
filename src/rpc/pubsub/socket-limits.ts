/** Subscriptions of one connection. As many as nodes allow one (agave and providers: 1,000). */
export const SUBSCRIPTIONS_PER_SOCKET_MAX = 1_000
/** Elements of requests in progress on one connection (spec choices, section 5). More are read when some are answered. */
export const IN_PROGRESS_MAX = 32
/**
 * Messages that were read with those in progress and wait for them. Chosen: one read of a socket has 64 KB, and the shortest
 * request 40 bytes.
 */
export const MESSAGES_WAITING_MAX = 2_000
/** Bytes of notifications that wait for a client. A slower reader is closed: none is left out. As much as on the stream. */
export const UNREAD_NOTIFICATION_BYTES_MAX = 16 * 2 ** 20
/** Bytes of everything that waits for a client. Chosen: the longest answer (32 MiB) beside the notifications. */
export const UNREAD_BYTES_MAX = 48 * 2 ** 20
/**
 * Bytes that wait for all clients together; beyond it the client with most of them is closed. Chosen: an eighth of a machine
 * with 4 GB. Bytes that clients share count for each.
 */
export const UNREAD_BYTES_OF_ALL_MAX = 512 * 2 ** 20
/** Notifications that wait for the answer to the batch that has made their subscription. */
export const HELD_MAX = 1_000
/** Messages that cost no quota, in half a second: web3.js sends one in 5 s, and ends at most all subscriptions at once. */
export const FREE_MESSAGES_MAX = 1_500
/** Milliseconds without a message in either direction after which a connection is closed (spec choices, section 5). */
export const IDLE_MS = 600_000
/** Milliseconds between two pings (spec choices, section 5), and pings without an answer until the client counts as gone. */
export const PING_MS = 30_000
export const PINGS_MISSED_MAX = 2
