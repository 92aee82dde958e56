/**
 * Each one that is full is merged with most of the level below it, so that twice as large is half as often: 0.45 ms of
 * the processor a block less than with 16 MiB. One is read again after a crash, in 0.2 s. Two of them exist at most.
 */
const WRITE_BUFFER_BYTES = 32 * 2 ** 20
/** Little: tables are read through the system's page cache, and what was decoded is kept in memory. */
const BLOCK_CACHE_BYTES = 8 * 2 ** 20
const FILE_BYTES_MAX = 8 * 2 ** 20
/** Tables whose index is in memory, some 30 KB each with blocks of this size: 8 GB of store before one is opened again. */
const OPEN_FILES_MAX = 1_000
const BLOCK_BYTES = 16 * 2 ** 10

/** Options of the engine where memory is not scarce. */
export const ENGINE = {
  keyEncoding: 'buffer',
  valueEncoding: 'view',
  writeBufferSize: WRITE_BUFFER_BYTES,
  cacheSize: BLOCK_CACHE_BYTES,
  maxFileSize: FILE_BYTES_MAX,
  maxOpenFiles: OPEN_FILES_MAX,
  blockSize: BLOCK_BYTES,
  // Pages are packed already: it would save a twentieth, and cost each compaction its time twice.
  compression: false
} as const

/** Memory for the engine below which it keeps fewer tables open: a localnet's by default is 4 MiB. */
const FEW_TABLES_BYTES = 8 * 2 ** 20

/**
 * Tables are mapped into memory, and what was read of them is resident: 55 MiB of a localnet's store of 350, after a third of
 * its first day's slots, and more with each day. The engine keeps at least 64 tables open (it counts ten other files), so their
 * size is what bounds that. With tables of 1 MiB it is 20 MiB, and a slot takes no more of the processor.
 */
const FEW_TABLES = { maxFileSize: 2 ** 20, maxOpenFiles: 74 } as const

/**
 * Returns the options for so many bytes of memory: two buffers for what is being written, and an eighth for blocks that are
 * read again. Smaller buffers are merged more often, and larger ones than the usual bring nothing.
 */
export function engineWithin(bytes: number) {
  const cacheSize = Math.min(Math.floor(bytes / 8), BLOCK_CACHE_BYTES)
  const writeBufferSize = Math.min(Math.floor((bytes - cacheSize) / 2), WRITE_BUFFER_BYTES)
  return { ...ENGINE, ...(bytes < FEW_TABLES_BYTES && FEW_TABLES), cacheSize, writeBufferSize }
}
