import type { Block } from '../chain/transaction.ts'
import { sleep, type Clock, type Random } from '../ports.ts'
import type { NodeStatus } from './source-status.ts'
import { BlockFinder } from './block-finder.ts'
import type { BlockCommitment } from './chain-node.ts'
import { nodeAddresses } from './node-address.ts'
import { NodeError } from './node-fault.ts'
import { RpcClient, type RpcClientOptions } from './rpc-client.ts'
import { RpcNode } from './rpc-node.ts'
import { RollbackFinder, type StoredChain } from './rollback.ts'
import { other, SAME, type Standing, type WitnessedBlock } from './standing.ts'

export interface MissingBlocksOptions {
  /** URLs of nodes, the preferred one first, and of archives, which store all blocks. */
  readonly urls: readonly string[]
  readonly archiveUrls: readonly string[]
  readonly commitment: BlockCommitment
  /** The genesis of the cluster that the store was filled from; null while unknown. */
  readonly expectedGenesis: () => Promise<string | null>
  /** Called with a node's genesis when a stream agrees with the node and no genesis was expected. */
  readonly onGenesis: (genesis: string) => Promise<void>
  /** Called once for each node that is not used, with the reason. */
  readonly onRefused: (line: string) => void
  readonly clock: Clock
  readonly client?: Partial<RpcClientOptions>
}

const GENESIS_TIMEOUT_MS = 5_000
/**
 * Time for which an admitted node counts as one of our cluster; then its genesis is requested again, because another
 * node may have replaced it.
 */
const ADMITTED_MS = 5_000
/** Time for which nodes are queried for a stream's block that they lack. A stream is usually ahead of them. */
const WITNESS_MS = 5_000
const WITNESS_RETRY_MS = 250
/** Equal to the time for which a source requests a missing block. */
const ROLLBACK_TIMEOUT_MS = 30_000
const NOT_YET = 'does not have its blocks yet'

/** Fetches single blocks from nodes, for a source that gets most blocks another way. */
export class MissingBlocks {
  readonly #nodes: readonly RpcNode[]
  readonly #options: MissingBlocksOptions
  /** Time until which a node counts as one of our cluster, by the clock. */
  readonly #admitted = new Map<RpcNode, number>()
  readonly #refused = new Set<RpcNode>()
  /** The last fault of each queried node; null if its last answer was good. */
  readonly #faults = new Map<RpcNode, string | null>()

  constructor(options: MissingBlocksOptions) {
    const { urls, archiveUrls, commitment, clock, client } = options
    const live = new Set(urls).size
    this.#options = options
    this.#nodes = nodeAddresses([...urls, ...archiveUrls]).map(
      (address, at) =>
        new RpcNode(new RpcClient(address, clock, client), clock, { commitment, isArchive: at >= live })
    )
  }

  /**
   * Queries the nodes one after another for the block of a slot. Returns `skipped` if every usable node reports that
   * the slot has no block, and null if no node has it now. Rejects only with the signal's reason. Callers decide how
   * long to retry.
   */
  async fetch(slot: number, signal: AbortSignal): Promise<Block | 'skipped' | null> {
    let skipped = 0
    for (const node of this.#nodes) {
      if (!(await this.#isAdmitted(node, signal))) continue
      const answer = await node.block(slot, signal)
      const isFault = answer.kind === 'absent' && (answer.why === 'fault' || answer.why === 'unavailable')
      this.#faults.set(node, isFault ? answer.detail : null)
      if (isFault) this.#admitted.delete(node)
      if (answer.kind === 'block') return answer.block
      if (answer.why === 'skipped') skipped++
    }
    return skipped > 0 && skipped === this.#nodes.length - this.#refused.size ? 'skipped' : null
  }

  /**
   * Returns whether a stream's block is of the store's cluster. Uses the first node that has a block of its slot, and
   * that node's genesis. Every genesis is requested again, because another node may have replaced the admitted one.
   * Rejects only with the signal's reason, or with a store error.
   */
  async standingOf(block: WitnessedBlock, signal: AbortSignal): Promise<Standing> {
    const { clock, expectedGenesis } = this.#options
    this.#admitted.clear()
    const expected = await expectedGenesis()
    const untilMs = clock.now() + WITNESS_MS
    for (;;) {
      const said = new Map<RpcNode, string>()
      for (const node of this.#nodes) {
        const standing = await this.#witness(node, block, expected, signal)
        if (typeof standing !== 'string') return standing
        said.set(node, standing)
      }
      const words = [...said.values()]
      if (!words.some((each) => each.endsWith(NOT_YET)) || clock.now() >= untilMs)
        return {
          kind: 'unknown',
          reason: `cannot be verified to be of the stored cluster: ${words.join('; ')}`
        }
      await sleep(clock, WITNESS_RETRY_MS, signal)
      signal.throwIfAborted()
    }
  }

  /** Returns a node's verdict on a stream's block; a text if it reached no verdict. */
  async #witness(
    node: RpcNode,
    { slot, blockhash, isSettled }: WitnessedBlock,
    expected: string | null,
    signal: AbortSignal
  ): Promise<Standing | string> {
    try {
      const genesis = await node.genesis(signal, GENESIS_TIMEOUT_MS)
      const theirs = await node.blockhash(slot, signal, GENESIS_TIMEOUT_MS)
      this.#faults.set(node, null)
      const isOurs = expected === null || genesis === expected
      if (theirs === blockhash) {
        if (!isOurs) return other(`its genesis is ${genesis}, the stored one is ${expected}`)
        if (expected === null) await this.#options.onGenesis(genesis)
        return SAME
      }
      if (!isOurs) return `${node.name} itself is of another cluster`
      if (theirs === null) return `${node.name} ${NOT_YET}`
      const difference = `its block of slot ${slot} differs from the one of ${node.name}`
      if (!isSettled) return `${node.name} is on another fork`
      if (expected === null) return other(difference)
      // The node is of our cluster, and the stream may be too: after a restore, two servers of one cluster differ.
      return `${difference}: the stream is of another cluster, or one of the two is behind or was restored to an older state; ingest waits until they agree`
    } catch (error) {
      signal.throwIfAborted()
      if (!(error instanceof NodeError)) throw error
      this.#faults.set(node, error.message)
      return error.message
    }
  }

  /** Builds a finder of rollbacks that queries these nodes. */
  rollbacks(stored: StoredChain, isSettled: boolean, random: Random): RollbackFinder {
    const { clock, commitment } = this.#options
    const finder = new BlockFinder(this.#nodes, { giveUpMs: ROLLBACK_TIMEOUT_MS, clock, random })
    return new RollbackFinder({ finder, stored, commitment, isSettled, clock })
  }

  /** Returns each node's state at its last request. */
  status(): NodeStatus[] {
    return this.#nodes.map((node) => {
      const reason = this.#faults.get(node)
      const asked = reason === null ? 'healthy' : 'down'
      const state = this.#refused.has(node) ? 'refused' : reason === undefined ? 'probing' : asked
      return { name: node.name, archive: node.isArchive, state, slot: null, lag: 0, reason: reason ?? null }
    })
  }

  async close(): Promise<void> {
    for (const node of this.#nodes) await node.close()
  }

  /** Returns whether a node is of the store's cluster. A node that does not answer is checked again next time. */
  async #isAdmitted(node: RpcNode, signal: AbortSignal): Promise<boolean> {
    if (this.#believes(node)) return true
    if (this.#refused.has(node)) return false
    try {
      const genesis = await node.genesis(signal, GENESIS_TIMEOUT_MS)
      const expected = await this.#options.expectedGenesis()
      if (expected === null || genesis === expected)
        this.#admitted.set(node, this.#options.clock.now() + ADMITTED_MS)
      else
        this.#refuse(node, `${node.name} is of another cluster: its genesis is ${genesis}, not ${expected}`)
    } catch (error) {
      signal.throwIfAborted()
      if (error instanceof NodeError) this.#faults.set(node, error.message)
      if (error instanceof NodeError && error.fault.kind === 'unauthorized') this.#refuse(node, error.message)
    }
    return this.#believes(node)
  }

  #believes(node: RpcNode): boolean {
    return this.#options.clock.now() < (this.#admitted.get(node) ?? 0)
  }

  #refuse(node: RpcNode, line: string): void {
    this.#faults.set(node, line)
    if (this.#refused.has(node)) return
    this.#refused.add(node)
    this.#options.onRefused(line)
  }
}
