import { ERRORS, ServiceError } from '../../src/kernel/errors.ts'
import type { KeptBlock } from '../../src/market/kept-block.ts'
import { isStored } from '../block-order.ts'
import type { BlockBytes } from '../codec/packed-block.ts'
import type { BlockCommit } from '../port.ts'
import type { RowWrite } from './row-write.ts'
import type { Version } from './version.ts'

/**
 * Maximum blocks that share a watermark, and their packed bytes. Further blocks wait for the next one, so that a batch stays
 * within the server's bounds. The blocks of a group (`commitAll`) may have more bytes: they go in several batches.
 */
export const BLOCKS_TOGETHER_MAX = 16
const BYTES_TOGETHER_MAX = 4 * 2 ** 20
/**
 * Maximum blocks of a group of an archive. Rows that grow are in the journal once a group: with 16 blocks the server takes a fifth
 * more processor time a trade. Fewer than commits may wait (`writer.ts`), because a group is never divided.
 */
export const ARCHIVE_GROUP_BLOCKS_MAX = 48

/** A block whose commit was requested and is not answered. */
export interface GivenBlock extends PromiseWithResolvers<boolean> {
  readonly block: BlockCommit
  readonly kept: KeptBlock | undefined
  /** The slot that it must follow; undefined for any head. */
  readonly after: number | undefined
  /** Whether it must become visible together with the next one. */
  readonly isWithNext: boolean
}

/** A block as it is in the journal. */
export interface PackedBlock {
  readonly version: Version
  readonly block: BlockCommit
  readonly bytes: BlockBytes
  /** Pieces of the kept block. */
  readonly kept: readonly RowWrite[]
}

/** Returns the number of blocks that must become visible together, of which the first is the first one given (W6). */
export const groupSizeOf = (given: readonly GivenBlock[]): number =>
  Math.max(given.findIndex(({ isWithNext }) => !isWithNext) + 1, 1)

/**
 * Packs the first blocks that can share a watermark: at most `room`, or those that must become visible together. `pack` packs
 * a block at its place among them. Throws if that fails for the first one, or if blocks that belong together cannot be.
 */
export function packedGroup(
  given: readonly GivenBlock[],
  room: number,
  pack: (given: GivenBlock, place: number) => PackedBlock
): PackedBlock[] {
  const [first] = given
  const size = groupSizeOf(given)
  const group = [pack(first!, 0)]
  let bytes = bytesOf(group[0]!)
  for (const next of given.slice(1, Math.max(Math.min(BLOCKS_TOGETHER_MAX, room), size))) {
    const { slot } = group.at(-1)!.block
    // A block that will be refused, or found stored, is handled alone.
    if (isStored(next.block, slot) || (next.after ?? slot.slot) !== slot.slot) break
    const packed = tryTo(() => pack(next, group.length))
    if (packed === null) break
    bytes += bytesOf(packed)
    if (bytes > BYTES_TOGETHER_MAX && group.length >= size) break
    group.push(packed)
  }
  while (group.length > 0 && given[group.length - 1]!.isWithNext) group.pop()
  if (group.length === 0) throw brokenGroup(first!.block)
  return group
}

/** Returns the bytes of a block in the journal. */
export const bytesOf = ({ bytes }: Pick<PackedBlock, 'bytes'>): number =>
  bytes.packed.length + bytes.digest.length

function tryTo<T>(run: () => T): T | null {
  try {
    return run()
  } catch {
    return null
  }
}

const brokenGroup = ({ slot: { slot } }: BlockCommit): ServiceError =>
  new ServiceError(
    ERRORS.STORAGE_UNAVAILABLE,
    `a block that must become visible together with block ${slot} cannot be stored, or does not follow it`
  )
