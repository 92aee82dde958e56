/** Blocks after that of its blockhash in which a transaction can land (Agave's MAX_PROCESSING_AGE). */
const VALID_BLOCKS = 150
/**
 * Blocks whose hashes are cached: twice the blocks of a valid hash, so that a hash is still known when its
 * transactions expire.
 */
const BLOCKHASHES_MAX = 300

interface HashedBlock {
  readonly slot: number
  readonly height: number
  readonly blockhash: string
}

/** Heights of the newest blocks by their hashes. */
export class RecentBlockhashes {
  /** Ascending by slot. */
  readonly #blocks: HashedBlock[] = []
  readonly #heights = new Map<string, number>()

  get newest(): HashedBlock | null {
    return this.#blocks.at(-1) ?? null
  }

  /** Adds a block, which replaces a block in its slot. The lowest slot is evicted. */
  add({ slot, height, blockhash }: HashedBlock): void {
    const at = this.#blocks.findLastIndex((each) => each.slot <= slot)
    const isReplaced = this.#blocks[at]?.slot === slot
    if (isReplaced) this.#heights.delete(this.#blocks[at]!.blockhash)
    this.#blocks.splice(isReplaced ? at : at + 1, isReplaced ? 1 : 0, { slot, height, blockhash })
    this.#heights.set(blockhash, height)
    if (this.#blocks.length > BLOCKHASHES_MAX) this.#heights.delete(this.#blocks.shift()!.blockhash)
  }

  /** Removes the blocks after a slot. */
  forget(afterSlot: number): void {
    while (this.#blocks.length > 0 && this.#blocks.at(-1)!.slot > afterSlot)
      this.#heights.delete(this.#blocks.pop()!.blockhash)
  }

  /** First and last height of the newest gapless run of blocks, both inclusive; null before the first block. */
  get heights(): { readonly first: number; readonly last: number } | null {
    const run = this.#run
    return run && { first: run.first.height, last: run.last.height }
  }

  /** First and last slot of the run that `heights` describes, both inclusive; null before the first block. */
  get slots(): { readonly first: number; readonly last: number } | null {
    const run = this.#run
    return run && { first: run.first.slot, last: run.last.slot }
  }

  get #run(): { readonly first: HashedBlock; readonly last: HashedBlock } | null {
    const last = this.newest
    if (last === null) return null
    let first = last
    for (let at = this.#blocks.length - 2; at >= 0; at--) {
      const before = this.#blocks[at]!
      if (before.height !== first.height - 1) break
      first = before
    }
    return { first, last }
  }

  /** Returns the last block height at which a transaction with this blockhash can land; null for an unknown blockhash. */
  lastValidBlockHeight(blockhash: string): number | null {
    const height = this.#heights.get(blockhash)
    return height === undefined ? null : height + VALID_BLOCKS
  }
}
