import { RecycledBuffers } from '../memory/recycled-buffers.ts'

/** Bytes of unused memory that is kept for further answers, in a process without a limit: a test or a load test. */
const UNUSED_BYTES_MAX = 8 * 2 ** 20
/**
 * Part of the memory of answers in the making that is kept unused for further ones. With 8 MiB of 200 for all answers, wallet pages of
 * mixed lengths needed 10 MB of new memory a second; with 20, they need 1.
 */
const UNUSED_PART = 1 / 2

/** The memory of long answers, in the making and made. */
export const renderingMemory = new RecycledBuffers(UNUSED_BYTES_MAX)

/** Limits the memory of a process's answers in the making. */
export function limitRenderingMemory(bytes: number): void {
  renderingMemory.limit(Math.floor(bytes * UNUSED_PART))
}
