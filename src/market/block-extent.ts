import type { BlockCommit } from './records.ts'

/** How much of a block can be read, each with all before it. */
const EXTENTS = ['slot', 'digest', 'rows'] as const

/**
 * How much of a committed block this process has read: its slot alone, its digest too (`block-digest.ts`), or all rows. A
 * process that ingests has all of its blocks. One that follows reads as much as its readers need.
 */
export type BlockExtent = (typeof EXTENTS)[number]

const extents = new WeakMap<BlockCommit, BlockExtent>()

/** Returns how much of a block was read. More may be read later. */
export const extentOf = (block: BlockCommit): BlockExtent => extents.get(block) ?? 'rows'

export function setExtent(block: BlockCommit, extent: BlockExtent): void {
  extents.set(block, extent)
}

/** Tells whether as much of a block was read as is needed. */
export const hasExtent = (block: BlockCommit, needed: BlockExtent): boolean =>
  EXTENTS.indexOf(extentOf(block)) >= EXTENTS.indexOf(needed)

export const widerExtent = (one: BlockExtent, other: BlockExtent): BlockExtent =>
  EXTENTS.indexOf(one) >= EXTENTS.indexOf(other) ? one : other
