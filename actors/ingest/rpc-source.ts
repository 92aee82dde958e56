import PQueue from 'p-queue'
import type { BlockSource } from '../../src/node/block-source.ts'
import type { Commitment } from '../../src/market/rows.ts'
import { BlockFinder } from '../../src/node/block-finder.ts'
import { BlockSequence } from '../../src/node/block-sequence.ts'
import type { SlotGap } from '../../src/node/chain-node.ts'
import { RollbackFinder, type StoredChain } from '../../src/node/rollback.ts'
import type { Ports } from '../../src/ports.ts'
import type { SourceStatus } from '../../src/node/source-status.ts'
import type { Logger } from '../../src/kernel/telemetry/logger.ts'
import { AutoResetEvent } from '../supervision/auto-reset-event.ts'
import { LostForkWatch } from './lost-fork-watch.ts'
import type { Run } from '../supervision/process.ts'
import { Upstreams, UPSTREAMS_TUNING, type UpstreamsTuning } from './upstreams.ts'

export interface RpcSourceOptions {
  /** URLs of nodes, in order of preference. */
  readonly urls: readonly string[]
  /** URLs of nodes that keep all blocks, used for blocks that the others do not have. */
  readonly archiveUrls: readonly string[]
  readonly commitment: Commitment
  /**
   * Returns the genesis of the cluster that the store was filled from; null for an empty store. Called until it is
   * known.
   */
  readonly expectedGenesis: () => Promise<string | null>
  /** Called, before any block is yielded, with the genesis of the first accepted node, if none was expected. */
  readonly onGenesis: (genesis: string) => Promise<void>
  /** Called with missing slots before any later block is yielded. A slot may be reported repeatedly. */
  readonly onGap: (gap: SlotGap) => void | Promise<void>
  /** The stored chain, which is compared with that of the nodes to find forks; null if nothing can be removed. */
  readonly stored?: StoredChain | null
  /** Describes, in one line, stored slots of a lost fork that could not be removed; null if all were removed. */
  readonly lostFork?: () => Promise<string | null>
  /**
   * Calls a listener with each head of the only node, the one in this process. The slot of a head has a block, so probes
   * need not search for heads. Returns a function that ends it.
   */
  readonly ownHeads?: (listener: (slot: number) => void) => () => void
  readonly tuning?: Partial<RpcSourceTuning>
}

export interface RpcSourceTuning extends UpstreamsTuning {
  /** Blocks in flight or waiting for their turn. */
  readonly prefetch: number
  /** Milliseconds for which a missing block is searched before it becomes a gap. */
  readonly giveUpMs: number
}

/** Health fails when the head is 120 s old; 30 s for a missing block do not make it fail. */
export const RPC_SOURCE_TUNING: RpcSourceTuning = { ...UPSTREAMS_TUNING, prefetch: 12, giveUpMs: 30_000 }

export interface RpcSource extends BlockSource {
  /** Current status of the source and its nodes. */
  readonly status: SourceStatus
}

/**
 * Polls nodes with getBlock. The process is ready at once, so that stored data is served while no node is up; readers
 * wait for a node. An empty store begins with the newest block.
 */
export function rpcSource(
  options: RpcSourceOptions,
  { clock, random, logger }: Ports & { readonly logger: Logger }
): Run<unknown, RpcSource> {
  return async ({ draining, ready, gauge, show }) => {
    const tuning = { ...RPC_SOURCE_TUNING, ...options.tuning }
    const { prefetch, giveUpMs } = tuning
    const commitment = options.commitment === 'finalized' ? 'finalized' : 'confirmed'
    if (options.commitment === 'processed')
      logger.warn(
        'getBlock returns blocks at confirmed at the earliest, so blocks are indexed at confirmed, not at processed'
      )
    const { urls, archiveUrls } = options
    const nodes = { urls, archiveUrls, commitment, admit: admission(options), tuning } as const
    const upstreams = new Upstreams(nodes, { clock, random }, logger)
    const finder = new BlockFinder(upstreams.nodes, { giveUpMs, clock, random })
    const counts = { blocks: 0, gaps: 0, slotsGivenUp: 0 }
    let forkThatStays: () => string | null = () => null

    const onGap = async (gap: SlotGap): Promise<void> => {
      const { from, to, reason, detail } = gap
      counts.gaps++
      counts.slotsGivenUp += to - from + 1
      logger.error({ from, to, reason }, `slots ${from} to ${to} are abandoned as ${reason}: ${detail}`)
      await options.onGap(gap)
    }
    const onOddity = (slot: number, detail: string): void => logger.error({ slot }, `slot ${slot}: ${detail}`)

    async function* blocks({ after, signal }: Parameters<BlockSource['blocks']>[0]) {
      const wakeUp = new AutoResetEvent()
      const headMoved = (ms: number, end: AbortSignal): Promise<void> => wakeUp.wait(clock, ms, end)
      const silence = upstreams.onNewer(() => wakeUp.set())
      if (after !== null) upstreams.reached(after)
      const { stored = null } = options
      const blockhash = after === null ? null : ((await stored?.at(after))?.blockhash ?? null)
      const lostFork = new LostForkWatch(options.lostFork)
      await lostFork.look()
      forkThatStays = () => lostFork.line
      try {
        const sequence = new BlockSequence(finder, {
          commitment,
          prefetch,
          trustsHeads: options.ownHeads !== undefined,
          clock,
          headMoved,
          rollbacks:
            stored === null
              ? null
              : new RollbackFinder({ finder, stored, commitment, isSettled: true, clock }),
          onDoubt: (reason) => upstreams.doubt(reason),
          onGap,
          onOddity
        })
        for await (const block of sequence.after(after, AbortSignal.any([signal, draining]), blockhash)) {
          counts.blocks++
          upstreams.reached(block.block.slot)
          yield block
          await lostFork.passed(block)
        }
      } finally {
        silence()
      }
    }

    upstreams.nameGauges(gauge)
    const status = (): SourceStatus => {
      const now = upstreams.status
      return { ...now, fork: now.fork ?? forkThatStays() }
    }
    show(status)
    gauge('blocks', () => counts.blocks)
    gauge('gaps', () => counts.gaps)
    gauge('slots_given_up', () => counts.slotsGivenUp)
    gauge('answers_without_block', () => finder.counts.refused)
    gauge('blocks_from_another_node', () => finder.counts.elsewhere)
    ready({
      blocks,
      get status() {
        return status()
      }
    })
    const silence = options.ownHeads?.((slot) => {
      if (!draining.aborted) upstreams.announced(slot)
    })
    try {
      await upstreams.run(draining)
    } finally {
      silence?.()
    }
  }
}

/**
 * Returns a check that compares a node's genesis with the expected one. Without an expectation, the first node sets
 * it.
 */
function admission({ expectedGenesis, onGenesis }: RpcSourceOptions) {
  let expected: string | null = null
  // One at a time, so that two nodes that answer at once are not both the first.
  const decisions = new PQueue({ concurrency: 1 })
  const decide = async (genesis: string): Promise<string | null> => {
    const known = expected ?? (await expectedGenesis())
    if (known === null) await onGenesis(genesis)
    expected = known ?? genesis
    if (expected === genesis) return null
    return `it is of another cluster: its genesis is ${genesis}, the stored one is ${expected}`
  }
  return (genesis: string): Promise<string | null> => decisions.add(() => decide(genesis))
}
