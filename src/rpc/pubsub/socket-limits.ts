/** Maximum subscriptions of one connection, as at nodes (agave and providers: 1,000). */
export const SUBSCRIPTIONS_PER_SOCKET_MAX = 1_000
/**
 * Maximum elements of requests in progress on one connection (src/docs/rpc.md). Further elements are read
 * when some are answered.
 */
export const IN_PROGRESS_MAX = 32
/** Maximum messages queued behind those in progress. One read of a socket has 64 KB, and the shortest request 40 bytes. */
export const MESSAGES_WAITING_MAX = 2_000
/**
 * Maximum bytes of notifications queued for a client, as on the stream. A slower reader is closed, because no
 * notification may be left out.
 */
export const UNREAD_NOTIFICATION_BYTES_MAX = 16 * 2 ** 20
/** Maximum bytes of all messages queued for a client: the longest answer (32 MiB) in addition to the notifications. */
export const UNREAD_BYTES_MAX = 48 * 2 ** 20
/**
 * Maximum bytes queued for all clients together: an eighth of a machine with 4 GB. Beyond it, the client with the
 * most queued bytes is closed. Bytes that clients share count for each.
 */
export const UNREAD_BYTES_OF_ALL_MAX = 512 * 2 ** 20
/** Maximum notifications of new subscriptions that are held until the answer to the subscribing batch is sent. */
export const HELD_MAX = 1_000
/** Messages in half a second that cost no quota. web3.js sends one in 5 s, and at most ends all subscriptions at once. */
export const FREE_MESSAGES_MAX = 1_500
/** Milliseconds without a message in either direction after which a connection is closed (src/docs/rpc.md). */
export const IDLE_MS = 600_000
/**
 * Ping interval in milliseconds (src/docs/rpc.md), and unanswered pings after which the client counts as
 * disconnected.
 */
export const PING_MS = 30_000
export const PINGS_MISSED_MAX = 2
