import { RecycledBuffers } from '../memory/recycled-buffers.ts'

/** Bytes of unused memory that is kept for further answers, in a process that does not cache answers. */
const UNUSED_BYTES_MAX = 8 * 2 ** 20
/**
 * Part of the memory of cached answers that is kept unused for further ones. With 8 of 200 MiB, wallet pages of mixed lengths needed 10
 * MB of new memory a second; with a tenth, they need 1.
 */
const UNUSED_PART = 1 / 10

/** The memory of long answers, in the making and made. */
export const renderingMemory = new RecycledBuffers(UNUSED_BYTES_MAX)

/** Divides the memory of a process's answers. Returns the bytes that are left for cached ones. */
export function cachedAnswerBytes(bytes: number): number {
  const unused = Math.floor(bytes * UNUSED_PART)
  renderingMemory.limit(unused)
  return bytes - unused
}
