import { RecycledBuffers } from '../memory/recycled-buffers.ts'

/** Bytes of unused memory that is kept for further answers: those of 40 pages of trades. */
const RECYCLED_BYTES_MAX = 8 * 2 ** 20

/** The memory of long answers, in the making and made. */
export const renderingMemory = new RecycledBuffers(RECYCLED_BYTES_MAX)
