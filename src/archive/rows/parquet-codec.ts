import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from 'node:zlib'
import { snappyUncompress, type Compressors } from 'hyparquet'

/** Maximum bytes of a decompressed page: writers make pages of 1 MiB, and dictionaries of a few. */
const PAGE_BYTES_MAX = 256 * 1024 * 1024

function checked(length: number): number {
  if (length > PAGE_BYTES_MAX) throw new Error(`a page has ${length} bytes; the limit is ${PAGE_BYTES_MAX}`)
  return length
}

/** Decompresses pages. LZ4 is missing: writers of trades do not use it, and Node has no decoder of it. */
export const PARQUET_CODECS: Compressors = {
  SNAPPY: (input, length) => {
    const output = new Uint8Array(checked(length))
    snappyUncompress(input, output)
    return output
  },
  GZIP: (input, length) => gunzipSync(input, { maxOutputLength: checked(length) || 1 }),
  BROTLI: (input, length) => brotliDecompressSync(input, { maxOutputLength: checked(length) || 1 }),
  ZSTD: (input, length) => zstdDecompressSync(input, { maxOutputLength: checked(length) || 1 })
}
