/** KiB of a client's message at most, for the documents. */
export const MESSAGE_KIB_MAX = 64
/**
 * Bytes of a client's message at most: as many as those of a request body. Fifty channel names take 4 KB. A longer
 * message is refused with an error, and closes the connection with 1009.
 */
export const MESSAGE_BYTES_MAX = MESSAGE_KIB_MAX * 1024
