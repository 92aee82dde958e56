/**
 * A full buffer is merged with most of the level below it, so a buffer of twice the size halves the merges. That saves 0.45
 * ms of CPU time a block compared with 16 MiB. One buffer is read again after a crash, in 0.2 s. At most two of them exist.
 */
const WRITE_BUFFER_BYTES = 32 * 2 ** 20
/** Small: tables are read through the system's page cache, and decoded records are cached in memory. */
const BLOCK_CACHE_BYTES = 8 * 2 ** 20
const FILE_BYTES_MAX = 8 * 2 ** 20
/** Tables whose index is in memory, about 30 KB each with blocks of this size: 8 GB of store before one is opened again. */
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
  // Pages are packed already: compression would save a twentieth, and double the time of each compaction.
  compression: false
} as const

/**
 * Options of an archive's engine. Its tables are written once and read seldom, and rows of many owners repeat addresses and
 * prices: Snappy saves a third. Each commit rewrites the newest rows of most owners. A buffer that holds several commits
 * writes these rows to a table once.
 */
export const ARCHIVE_ENGINE = { ...ENGINE, compression: true, writeBufferSize: 64 * 2 ** 20 } as const

/** Memory for the engine below which it keeps fewer tables open: a localnet's by default is 4 MiB. */
const FEW_TABLES_BYTES = 8 * 2 ** 20

/**
 * Tables are mapped into memory, and the parts read are resident. Of a localnet's store of 350 MiB that was 55 MiB after a
 * third of its first day's slots, and it grows each day. The engine keeps at least 64 tables open (it counts ten other
 * files), so the size of the tables bounds that memory. With tables of 1 MiB it is 20 MiB, and a slot takes no more CPU
 * time.
 */
const FEW_TABLES = { maxFileSize: 2 ** 20, maxOpenFiles: 74 } as const

/**
 * Returns the options for a number of bytes of memory: an eighth for the block cache, and the rest for two write buffers.
 * Smaller buffers are merged more often; buffers above the default size bring nothing.
 */
export function engineWithin(bytes: number, isArchive = false) {
  const engine = isArchive ? ARCHIVE_ENGINE : ENGINE
  const cacheSize = Math.min(Math.floor(bytes / 8), BLOCK_CACHE_BYTES)
  const writeBufferSize = Math.min(Math.floor((bytes - cacheSize) / 2), engine.writeBufferSize)
  return { ...engine, ...(bytes < FEW_TABLES_BYTES && FEW_TABLES), cacheSize, writeBufferSize }
}
