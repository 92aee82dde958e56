/** Maximum KiB of a client's message, for the documents. */
export const MESSAGE_KIB_MAX = 64
/**
 * Maximum bytes of a client's message, as for a request body. Fifty channel names take 4 KB. A longer message is
 * refused with an error, and closes the connection with 1009.
 */
export const MESSAGE_BYTES_MAX = MESSAGE_KIB_MAX * 1024
