/** Subscriptions of one connection. Chosen: nodes allow one connection as many (agave and providers: 1,000). */
export const SUBSCRIPTIONS_PER_SOCKET_MAX = 1_000
/**
 * Elements of requests in progress on one connection (spec choices, section 5). More are read after some are
 * answered.
 */
export const IN_PROGRESS_MAX = 32
/**
 * Messages that wait for those in progress. Chosen: one read of a socket has 64 KB, and the shortest request 40
 * bytes.
 */
export const MESSAGES_WAITING_MAX = 2_000
/**
 * Bytes of notifications queued for a client. A slower reader is closed, because no notification may be left out.
 * Same as on the stream.
 */
export const UNREAD_NOTIFICATION_BYTES_MAX = 16 * 2 ** 20
/** Bytes of all messages queued for a client. Chosen: the longest answer (32 MiB) in addition to the notifications. */
export const UNREAD_BYTES_MAX = 48 * 2 ** 20
/**
 * Bytes queued for all clients together. Beyond it, the client with the most queued bytes is closed. Bytes that
 * clients share count for each. Chosen: an eighth of a machine with 4 GB.
 */
export const UNREAD_BYTES_OF_ALL_MAX = 512 * 2 ** 20
/** Notifications of new subscriptions that wait until the answer to the subscribing batch is sent. */
export const HELD_MAX = 1_000
/**
 * Messages in half a second that cost no quota. web3.js sends one in 5 s, and at most ends all subscriptions at once.
 */
export const FREE_MESSAGES_MAX = 1_500
/** Milliseconds without a message in either direction after which a connection is closed (spec choices, section 5). */
export const IDLE_MS = 600_000
/**
 * Milliseconds between two pings (spec choices, section 5), and unanswered pings after which the client counts as
 * disconnected.
 */
export const PING_MS = 30_000
export const PINGS_MISSED_MAX = 2
