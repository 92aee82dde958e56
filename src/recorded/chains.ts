/** A slot of a folder, as far as its place in a chain goes. Hashes are in base58. */
export interface ChainedSlot {
  /** Null of single transactions, and of blocks that do not say; so are the hashes. */
  readonly parentSlot: number | null
  readonly blockhash: string | null
  readonly parentBlockhash: string | null
  /** Where the block is recorded; null where there are single transactions alone. */
  readonly block: object | null
}

/** A block that cannot be of the same chain as one that stays. */
export interface StrayBlock {
  readonly slot: number
  /** The slot of the block that stays and that it, or a block of its run, contradicts. */
  readonly contradicts: number
}

/** A block of the folder with what it is joined to. */
interface Link {
  readonly slot: number
  readonly block: ChainedSlot
  /** Its parent, where the folder has it under the hash that this block names, or one of them names none. */
  readonly parent: Link | null
  /** Blocks that descend from it, itself among them. */
  descendants: number
  /** The child with the most descendants, the earliest of several. */
  heir: Link | null
  run: Run
}

/** Blocks of which each is the parent of the next. */
interface Run {
  length: number
  /** The slot of a block that stays and that a block of this run contradicts; null while the run stays. */
  contradicts: number | null
}

/**
 * Finds the blocks of a folder that are not of its chain, in time linear to its blocks. Blocks are joined into runs; of two
 * runs that contradict each other the longer one stays, the earlier one where they are as long. Two runs of different chains
 * whose slots do not overlap contradict each other nowhere, and both stay.
 *
 * @param slots Ascending.
 */
export function strayBlocks(
  slots: readonly number[],
  bySlot: ReadonlyMap<number, ChainedSlot>
): readonly StrayBlock[] {
  const links = joined(slots, bySlot)
  // Blocks that stay so far. One contradicts an earlier one only if it contradicts the last: a parent below an earlier slot is
  // below the last one as well.
  const chain: Link[] = []
  for (const link of links) {
    const lost = link.parent?.run.contradicts ?? null
    // A block goes with its parent.
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

/** Joins blocks to their parents; a run goes on with the child that has the most descendants. */
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

/** Whether a block and an earlier one cannot both be of one chain. */
function contradicts({ block }: Link, earlier: Link): boolean {
  const { parentSlot } = block
  if (parentSlot === null) return false
  return parentSlot < earlier.slot || (parentSlot === earlier.slot && isOtherParent(block, earlier))
}

/** Whether a block names another hash for its parent than the block of its parent's slot has. */
function isOtherParent({ parentBlockhash }: ChainedSlot, { block: { blockhash } }: Link): boolean {
  return parentBlockhash !== null && blockhash !== null && parentBlockhash !== blockhash
}
