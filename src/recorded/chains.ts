/** A slot of a folder, as far as its place in a chain is known. Hashes are in base58. */
export interface ChainedSlot {
  /** Null for single transactions and for blocks that do not state it; likewise the hashes. */
  readonly parentSlot: number | null
  readonly blockhash: string | null
  readonly parentBlockhash: string | null
  /** Place of the recorded block; null for single transactions. */
  readonly block: object | null
}

/** A block that cannot be on one chain with a kept block. */
export interface StrayBlock {
  readonly slot: number
  /** The slot of the kept block that this block, or a block of its run, contradicts. */
  readonly contradicts: number
}

/** A block of the folder with its parent and children. */
interface Link {
  readonly slot: number
  readonly block: ChainedSlot
  /** Its parent, if the folder has it under the hash that this block names, or if one of the hashes is unknown. */
  readonly parent: Link | null
  /** Number of blocks that descend from it, including itself. */
  descendants: number
  /** The child with the most descendants; the earliest if several have as many. */
  heir: Link | null
  run: Run
}

/** A run of blocks, each the parent of the next. */
interface Run {
  length: number
  /** The slot of a kept block that a block of this run contradicts; null while the run is kept. */
  contradicts: number | null
}

/**
 * Finds the blocks of a folder that are not of its chain, in time linear in the number of blocks. Blocks are joined
 * into runs. Of two runs that contradict each other the longer one is kept; if they are equally long, the earlier
 * one. Two runs of different chains whose slots do not overlap do not contradict each other, so both are kept.
 *
 * @param slots Ascending.
 */
export function strayBlocks(
  slots: readonly number[],
  bySlot: ReadonlyMap<number, ChainedSlot>
): readonly StrayBlock[] {
  const links = joined(slots, bySlot)
  // Blocks kept so far. A block that contradicts an earlier one also contradicts the last: a parent below an earlier
  // slot is also below the last one.
  const chain: Link[] = []
  for (const link of links) {
    const lost = link.parent?.run.contradicts ?? null
    // A block is dropped with its parent.
    if (lost !== null) link.run.contradicts ??= lost
    for (let top = chain.at(-1); link.run.contradicts === null && top !== undefined; top = chain.at(-1)) {
      if (top.run.contradicts === null) {
        if (!contradicts(link, top)) break
        if (top.run.length >= link.run.length) {
          link.run.contradicts = top.slot
          break
        }
        top.run.contradicts = link.slot
      }
      chain.pop()
    }
    if (link.run.contradicts === null) chain.push(link)
  }
  return links.flatMap(({ slot, run: { contradicts } }) =>
    contradicts === null ? [] : [{ slot, contradicts }]
  )
}

/** Joins blocks to their parents; a run continues with the child that has the most descendants. */
function joined(slots: readonly number[], bySlot: ReadonlyMap<number, ChainedSlot>): readonly Link[] {
  const links: Link[] = []
  const linkOf = new Map<number, Link>()
  for (const slot of slots) {
    const block = bySlot.get(slot)!
    if (block.block === null) continue
    const before = block.parentSlot === null ? undefined : linkOf.get(block.parentSlot)
    const parent = before !== undefined && !isOtherParent(block, before) ? before : null
    const link = { slot, block, parent, descendants: 1, heir: null, run: { length: 0, contradicts: null } }
    links.push(link)
    linkOf.set(slot, link)
  }
  for (const link of links.toReversed()) {
    const { parent } = link
    if (parent === null) continue
    parent.descendants += link.descendants
    if (parent.heir === null || link.descendants >= parent.heir.descendants) parent.heir = link
  }
  for (const link of links) {
    if (link.parent?.heir === link) link.run = link.parent.run
    link.run.length++
  }
  return links
}

/** Returns whether a block and an earlier one cannot both be on one chain. */
function contradicts({ block }: Link, earlier: Link): boolean {
  const { parentSlot } = block
  if (parentSlot === null) return false
  return parentSlot < earlier.slot || (parentSlot === earlier.slot && isOtherParent(block, earlier))
}

/** Returns whether a block names a hash for its parent that differs from that of the parent slot's block. */
function isOtherParent({ parentBlockhash }: ChainedSlot, { block: { blockhash } }: Link): boolean {
  return parentBlockhash !== null && blockhash !== null && parentBlockhash !== blockhash
}
