import type { BlockSource } from '../../src/node/block-source.ts'
import type { Commitment } from '../../src/market/rows.ts'
import type { RollbackFinder } from '../../src/node/rollback.ts'
import type { Ports } from '../../src/ports.ts'
import type { NodeStateName, NodeStatus, SourceStatus } from '../../src/node/source-status.ts'
import type { Logger } from '../../src/kernel/telemetry/logger.ts'
import {
  BlockStream,
  STREAM_STATES,
  type StreamState,
  type StreamStatus,
  type StreamTuning
} from '../../src/yellowstone/block-stream.ts'
import { ChainOrder } from '../../src/yellowstone/chain-order.ts'
import type {
  FetchMissing,
  OrderOptions,
  OrderTuning,
  StreamFork,
  StreamGap
} from '../../src/yellowstone/order-options.ts'
import { openStreams, type OpenStream } from '../../src/yellowstone/client.ts'
import { ClusterCheck, type ClusterCheckOptions } from '../../src/yellowstone/cluster-check.ts'
import { HeldBlocks, type HeldLimits } from '../../src/yellowstone/held-blocks.ts'
import { aborted } from '../supervision/aborted.ts'
import { AutoResetEvent } from '../supervision/auto-reset-event.ts'
import { LostForkWatch } from './lost-fork-watch.ts'
import type { Run } from '../supervision/process.ts'

export interface YellowstoneSourceOptions extends Pick<ClusterCheckOptions, 'head' | 'at' | 'askNodes'> {
  /** `http://` or `https://`, with host and port. Only its host and port are ever logged. */
  readonly url: string
  readonly token: string | undefined
  readonly commitment: Commitment
  /** Requests a block that the stream did not send from a node; null if no node is configured. */
  readonly fetchMissing: FetchMissing | null
  /** Finds the point where the chain left the stored one; null if no node is configured. */
  readonly rollbacks?: Pick<RollbackFinder, 'find'> | null
  /** Describes, in one line, stored slots of a lost fork that could not be removed; null if all were removed. */
  readonly lostFork?: () => Promise<string | null>
  /** Status of the nodes that are used besides the stream. */
  readonly nodes?: () => readonly NodeStatus[]
  /** Called with missing slots before any later block is yielded. */
  readonly onGap: (gap: StreamGap) => void | Promise<void>
  /** Called, before a block is yielded, if it does not follow the last yielded one. */
  readonly onFork?: (fork: StreamFork) => void | Promise<void>
  readonly tuning?: Partial<YellowstoneTuning>
  /** Replaced by tests. */
  readonly open?: OpenStream
}

export interface YellowstoneTuning extends StreamTuning, OrderTuning, HeldLimits {}

/**
 * Mainnet sends a block of 3 to 10 MB every 400 ms, so 64 MiB hold three to eight seconds. On a healthy cluster a confirmed
 * block arrives at most two seconds after the one before.
 */
export const YELLOWSTONE_TUNING: YellowstoneTuning = {
  blocksMax: 64,
  bytesMax: 64 * 2 ** 20,
  stallMs: 15_000,
  fullMs: 10_000,
  backoff: { floorMs: 500, ceilingMs: 30_000 },
  graceMs: 2_000,
  giveUpMs: 30_000,
  retryMs: 500,
  prefetch: 8
}

export interface YellowstoneSource extends BlockSource {
  /** Status of the stream; null while it has no reader. */
  readonly status: StreamStatus | null
}

/**
 * Reads a node over Yellowstone gRPC. The process is ready at once: stored data is served while the node is down, and
 * readers wait for the node. Each reader has its own stream. An empty store begins with the newest block. A node that
 * refuses us is not retried: the process stays up and reports it, until it is restarted with other settings.
 */
export function yellowstoneSource(
  options: YellowstoneSourceOptions,
  { clock, random, logger }: Ports & { readonly logger: Logger }
): Run<unknown, YellowstoneSource> {
  return async ({ draining, ready, gauge, show }) => {
    const tuning = { ...YELLOWSTONE_TUNING, ...options.tuning }
    const { commitment, fetchMissing, head, askNodes } = options
    const open = options.open ?? openStreams(options)
    const server = hostOf(options.url)
    const onUnproven = (line: string): void => logger.warn(`${server}: ${line}`)
    const { at } = options
    const cluster = new ClusterCheck({ commitment, head, askNodes, onUnproven, ...(at && { at }) })
    let doubt: string | null = null
    let forkThatStays: () => string | null = () => null
    const onDoubt = (reason: string | null): void => {
      if (reason !== null && reason !== doubt) logger.error(`no block is ingested: ${reason}`)
      doubt = reason
    }
    let current: {
      readonly stream: BlockStream
      readonly order: ChainOrder
      readonly held: HeldBlocks
    } | null = null

    // Each reason is logged once until there is progress.
    let logged: string | null = 'nothing yet'
    const onStatus = (status: StreamStatus): void => {
      const { state, reason, slot, attempt } = status
      const facts = { state, slot, attempt }
      if (state === 'refused') logger.error(facts, `${server} ${reason}; the service does not retry`)
      else if (state === 'advancing' && logged !== null) {
        logger.info(facts, `blocks come from ${server}`)
        logged = null
      } else if ((state === 'stalled' || state === 'waiting') && reason !== logged) {
        logger.warn(facts, `${server} ${reason}`)
        logged = reason
      } else logger.debug(facts, `${server}: ${state}`)
    }
    const onOddity = (slot: number | null, detail: string): void =>
      logger.error({ slot }, slot === null ? detail : `slot ${slot}: ${detail}`)
    const onGap = async (gap: StreamGap): Promise<void> => {
      const { from, to, reason } = gap
      logger.error(gap, `slots ${from} to ${to} are abandoned: ${GAP_TEXTS[reason]}`)
      await options.onGap(gap)
    }
    const onFork = async (fork: StreamFork): Promise<void> => {
      const { slot, parentSlot, head } = fork
      const lost = `slot ${slot} follows ${parentSlot}: the blocks after ${parentSlot}, up to ${head}, are of a lost fork`
      logger[commitment === 'processed' ? 'info' : 'error'](fork, lost)
      await options.onFork?.(fork)
    }

    async function* blocks({ after, signal }: Parameters<BlockSource['blocks']>[0]) {
      const stop = new AbortController()
      const end = AbortSignal.any([signal, draining, stop.signal])
      const [arrival, room] = [new AutoResetEvent(), new AutoResetEvent()]
      const held = new HeldBlocks(tuning)
      const blockhash = after === null ? null : ((await at?.(after))?.blockhash ?? null)
      const lostFork = new LostForkWatch(options.lostFork)
      await lostFork.look()
      forkThatStays = () => lostFork.line
      const orderOptions: OrderOptions = {
        commitment,
        clock,
        tuning,
        fetchMissing,
        onGap,
        onFork,
        onOddity,
        rollbacks: options.rollbacks ?? null,
        onDoubt,
        arrival: (ms, until) => arrival.wait(clock, ms, until),
        onTaken: () => room.set()
      }
      const order: ChainOrder = new ChainOrder(held, after, orderOptions, blockhash)
      const stream = new BlockStream(after, {
        clock,
        random,
        open,
        held,
        cluster,
        tuning,
        nextSlot: () => order.nextSlot,
        onArrival: () => arrival.set(),
        room: (ms, until) => room.wait(clock, ms, until),
        onStatus,
        onOddity
      })
      current = { stream, order, held }
      const reading = stream.run(end)
      try {
        for await (const block of order.blocks(end)) {
          yield block
          await lostFork.passed(block)
        }
      } finally {
        stop.abort()
        await reading
      }
    }

    show(() => {
      const stream = current?.stream.status
      const obstacle = doubt ?? behindOf(stream)
      return statusOf(server, stream, options.nodes?.() ?? [], obstacle, obstacle ?? forkThatStays())
    })
    for (const state of STREAM_STATES) {
      gauge(`is_${state}`, () => Number(current?.stream.status.state === state))
    }
    gauge('head_slot', () => current?.stream.status.slot ?? 0)
    gauge('held_blocks', () => current?.held.size ?? 0)
    gauge('held_bytes', () => current?.held.bytes ?? 0)
    for (const count of ['connections', 'messages', 'pings', 'unreadable', 'pauses'] as const) {
      gauge(count, () => current?.stream.counts[count] ?? 0)
    }
    gauge('blocks', () => current?.order.counts.given ?? 0)
    gauge('repeated', () => (current?.order.counts.repeated ?? 0) + (current?.stream.counts.repeated ?? 0))
    gauge('fetched', () => current?.order.counts.fetched ?? 0)
    gauge('slots_given_up', () => current?.order.counts.gapSlots ?? 0)
    gauge('forks', () => current?.order.counts.forks ?? 0)
    ready({
      blocks,
      get status() {
        return current?.stream.status ?? null
      }
    })
    await aborted(draining)
  }
}

const GAP_TEXTS: Readonly<Record<StreamGap['reason'], string>> = {
  missing: 'the stream did not send them, and no node had them in time',
  'no-node': 'the stream did not send them, and there is no node to request them from (set MILLRACE_RPC_URL)'
}

function statusOf(
  name: string,
  stream: StreamStatus = { state: 'connecting', reason: null, slot: null, at: null, attempt: 0 },
  nodes: readonly NodeStatus[],
  obstacle: string | null,
  fork: string | null
): SourceStatus {
  const { slot } = stream
  const state = stream.state === 'advancing' && obstacle !== null ? 'stalled' : stream.state
  const reason = obstacle ?? stream.reason
  const server: NodeStatus = { name, archive: false, state: NODE_STATES[state], slot, lag: 0, reason }
  return { state, reason, headSlot: slot, nodes: [server, ...nodes], fork }
}

/** Explains that the stream is below the stored head: the server may have been restored to an older state. */
function behindOf(stream: StreamStatus | undefined): string | null {
  if (stream === undefined || stream.at === null || stream.slot === null || stream.at >= stream.slot)
    return null
  if (stream.state === 'advancing' || stream.state === 'connecting') return null
  return `the stream is at slot ${stream.at}, below slot ${stream.slot}, the newest so far: the server is behind, or was restored to an older state; ingest waits until the stream has passed that slot`
}

const NODE_STATES: Readonly<Record<StreamState, NodeStateName>> = {
  connecting: 'probing',
  advancing: 'healthy',
  full: 'healthy',
  stalled: 'lagging',
  waiting: 'down',
  refused: 'refused'
}

/** Returns the part of a URL that may be logged; providers put secrets into paths and user names. */
function hostOf(url: string): string {
  return URL.canParse(url) && new URL(url).host !== '' ? new URL(url).host : 'the Yellowstone server'
}
