import type { SourceGap, Rollback, SourcedBlock } from './block-source.ts'
import type { SlotRow } from '../market/rows.ts'
import { sleep, type Clock } from '../ports.ts'
import type { BlockFinder } from './block-finder.ts'
import type { BlockCommitment, BlockHeader, ChainNode } from './chain-node.ts'
import { NodeError } from './node-fault.ts'

/** Reads of the stored chain for finding a fork. */
export interface StoredChain {
  /** Returns a committed slot; null if it is not stored. */
  at(slot: number): Promise<SlotRow | null>
  /** Returns the newest committed slot; null for an empty store. */
  head(): Promise<SlotRow | null>
  /** Returns the oldest committed slot; null for an empty store. */
  oldest(): Promise<number | null>
  /** Returns the genesis of the cluster that the store was filled from; null while unknown. */
  genesis(): Promise<string | null>
}

export interface RollbackDeps {
  readonly finder: BlockFinder
  readonly stored: StoredChain
  readonly commitment: BlockCommitment
  /** Whether a slot has only one block on a chain; false at `processed`. */
  readonly isSettled: boolean
  readonly clock: Clock
}

/** A block that does not follow the one delivered before it. */
export interface StrangeBlock {
  readonly slot: number
  readonly parentSlot: number
  readonly parentBlockhash: string | null
  /** The slot of the block delivered before it. */
  readonly head: number
  /** Whether the slots in between were abandoned, so that the block may follow despite the gap. */
  readonly isAfterGap?: true
}

/** The result of a search. With `unproven` no block is rolled back; the reason names the obstacle or the missing fact. */
export type RollbackSearch =
  /** The parent is stored, so only the blocks after it are lost, as in forks at `processed`. */
  | { readonly kind: 'fork' }
  /** After a gap: no evidence that the stored head is of a lost fork. */
  | { readonly kind: 'follows' }
  | { readonly kind: 'rollback'; readonly rollback: Rollback }
  | { readonly kind: 'unproven'; readonly reason: string }

/**
 * Maximum number of parents followed; beyond it the result is in doubt. As many blocks as the undo history stores of
 * a chain without events (`UNDO_WEIGHT_MAX`), and about two minutes of requests to a near node.
 */
const WALK_MAX = 100_000
/** Time for which nodes are queried for a block from a stream, because they may lag behind the stream. */
const HEADER_MS = 5_000
const HEADER_RETRY_MS = 250
const COMMIT_RETRY_MS = 50

interface ChainSlot {
  readonly slot: number
  readonly blockhash: string
}

/**
 * Finds the last block that a node's chain has in common with the store.
 *
 * K1. Only nodes with the store's genesis count; it is requested again each time.
 * K2. No fork counts as lost while one of these nodes has the block of the stored head.
 * K3. From a block that does not follow, parents are traced by slot and hash, until one is stored under its hash. A
 *     slot stored without a hash is matched by its time and parent.
 * K4. A block after a gap follows, unless a node has another block, or no block, at the slot of the stored head. If
 *     it has no block there, the block after the gap still follows if its parents do not lead below the head: the
 *     node may lack blocks.
 */
export class RollbackFinder {
  readonly #deps: RollbackDeps

  constructor(deps: RollbackDeps) {
    this.#deps = deps
  }

  /**
   * Finds why a block does not follow the stored head. Waits until the delivered blocks are stored. Rejects with the
   * signal's reason, or as the store does.
   */
  async find(block: StrangeBlock, signal: AbortSignal): Promise<RollbackSearch> {
    const { stored, isSettled, clock } = this.#deps
    let head = await stored.head()
    // Blocks that were delivered may not be committed yet.
    for (; head === null || head.slot < block.head; head = await stored.head()) {
      await sleep(clock, COMMIT_RETRY_MS, signal)
      signal.throwIfAborted()
    }
    if (!isSettled) {
      const parent = await stored.at(block.parentSlot)
      if (parent !== null && (parent.blockhash ?? block.parentBlockhash) === block.parentBlockhash)
        return { kind: 'fork' }
    }
    const { nodes, reason } = await this.#ofOurCluster(signal)
    const { isAfterGap = false } = block
    if (nodes.length === 0) return isAfterGap ? FOLLOWS : unproven(reason)
    let [isReplaced, isSkipped] = [false, false]
    for (const node of nodes) {
      const answer = await node.header(head.slot, signal)
      if (answer.kind === 'absent') isSkipped ||= answer.why === 'skipped'
      else if (!isStored(answer, head)) isReplaced = true
      else if (isAfterGap) return FOLLOWS
      else
        return unproven(
          `${node.name} still has the stored block of slot ${head.slot}: the nodes do not agree`
        )
    }
    if (isAfterGap && !isReplaced && !isSkipped) return FOLLOWS
    const search = await this.#searched(block, nodes, signal)
    if (!isAfterGap || (search.kind === 'rollback' && search.rollback.after < head.slot)) return search
    if (!isReplaced) return FOLLOWS
    return search.kind === 'rollback' ? unproven(search.rollback.doubt ?? 'the nodes do not agree') : search
  }

  async #searched(
    block: StrangeBlock,
    nodes: readonly ChainNode[],
    signal: AbortSignal
  ): Promise<RollbackSearch> {
    if (block.parentBlockhash === null)
      return unproven(`the block of slot ${block.slot} does not name the hash of its parent`)
    return this.#walk({ slot: block.parentSlot, blockhash: block.parentBlockhash }, nodes, signal)
  }

  async #walk(from: ChainSlot, nodes: readonly ChainNode[], signal: AbortSignal): Promise<RollbackSearch> {
    const { stored } = this.#deps
    const oldest = (await stored.oldest()) ?? 0
    const chain: ChainSlot[] = []
    let at = from
    for (let step = 0; step < WALK_MAX; step++) {
      // All stored blocks are on the fork.
      if (at.slot < oldest) return this.#found(oldest - 1, null, chain, signal)
      const row = await stored.at(at.slot)
      if (row !== null && row.blockhash === at.blockhash) return this.#found(at.slot, null, chain, signal)
      const header = await this.#headerWith(at, nodes, signal)
      if (typeof header === 'string') return unproven(header)
      if (header === null) {
        const doubt = `no node still has the block of slot ${at.slot}, so the point where the chain left the stored blocks is unknown`
        return this.#found(at.slot, doubt, chain, signal)
      }
      if (row !== null && isStored(header, row)) return this.#found(at.slot, null, chain, signal)
      chain.push(at)
      if (header.parentSlot >= at.slot) break
      at = { slot: header.parentSlot, blockhash: header.parentBlockhash }
    }
    return this.#found(at.slot, `the last common block lies more than ${WALK_MAX} blocks back`, chain, signal)
  }

  #found(
    after: number,
    doubt: string | null,
    chain: readonly ChainSlot[],
    signal: AbortSignal
  ): RollbackSearch {
    return { kind: 'rollback', rollback: { after, doubt, blocks: this.#blocks(chain.toReversed(), signal) } }
  }

  async *#blocks(chain: readonly ChainSlot[], signal: AbortSignal): AsyncGenerator<SourcedBlock | SourceGap> {
    const { finder, commitment, clock } = this.#deps
    for (const { slot, blockhash } of chain) {
      const found = await finder.find(slot, signal, (each) => each.blockhash === blockhash)
      if (found.kind === 'block') yield { block: found.block, commitment, receivedAtMs: clock.now() }
      else yield { from: slot, to: slot, reason: found.reason, detail: found.detail }
    }
  }

  /** Returns the nodes with the store's genesis (K1). */
  async #ofOurCluster(signal: AbortSignal): Promise<{ nodes: ChainNode[]; reason: string }> {
    const { finder, stored } = this.#deps
    const expected = await stored.genesis()
    const nodes: ChainNode[] = []
    let reason = 'no node is available'
    for (const node of finder.usable()) {
      try {
        const genesis = await node.genesis(signal)
        if (expected === null || genesis === expected) nodes.push(node)
        else reason = `${node.name} is of another cluster: its genesis is ${genesis}, not ${expected}`
      } catch (error) {
        signal.throwIfAborted()
        if (!(error instanceof NodeError)) throw error
        reason = error.message
      }
    }
    return { nodes, reason }
  }

  /**
   * Fetches the header of a slot with a hash. Returns null if no node stores it, and a reason if the header is not
   * available now.
   */
  async #headerWith(
    { slot, blockhash }: ChainSlot,
    nodes: readonly ChainNode[],
    signal: AbortSignal
  ): Promise<BlockHeader | null | string> {
    const { clock } = this.#deps
    const untilMs = clock.now() + HEADER_MS
    for (;;) {
      const said: string[] = []
      let pruned = 0
      for (const node of nodes) {
        const answer = await node.header(slot, signal)
        if (answer.kind === 'header' && answer.blockhash === blockhash) return answer
        if (answer.kind === 'absent' && answer.why === 'pruned') pruned++
        said.push(`${node.name}: ${answer.kind === 'header' ? 'another block' : answer.detail}`)
      }
      if (pruned === nodes.length) return null
      if (clock.now() >= untilMs) return `no node returns the block of slot ${slot}: ${said.join('; ')}`
      await sleep(clock, HEADER_RETRY_MS, signal)
      signal.throwIfAborted()
    }
  }
}

const FOLLOWS: RollbackSearch = { kind: 'follows' }
const unproven = (reason: string): RollbackSearch => ({ kind: 'unproven', reason })

/** Returns whether a node's block is the stored one. Compares time and parent if the stored one has no hash. */
function isStored(header: BlockHeader, row: SlotRow): boolean {
  if (row.blockhash !== null) return row.blockhash === header.blockhash
  return row.blockTime === header.blockTime && (row.parentSlot ?? header.parentSlot) === header.parentSlot
}
