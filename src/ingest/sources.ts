import { join } from 'node:path'
import { backfill, type BackfillNeeds, type BackfillOptions } from '../../actors/ingest/backfill.ts'
import type { OpenIngest } from '../../actors/ingest/ingest.ts'
import type { UndoPolicy } from '../../actors/ingest/undo-history.ts'
import {
  localnet,
  localnetSource,
  type HasCoverage,
  type LocalnetAddress,
  type OnLocalnet
} from '../../actors/ingest/localnet.ts'
import type { Run } from '../../actors/supervision/process.ts'
import { rpcSource } from '../../actors/ingest/rpc-source.ts'
import { child, supervisor, type Unit } from '../../actors/supervision/unit.ts'
import type { YellowstoneSourceOptions } from '../../actors/ingest/yellowstone-source.ts'
import type { CoverageStore, Storage } from '../../storage/port.ts'
import { backoffMs } from '../../machines/backoff.ts'
import type { RefetchBlock, BlockSource } from '../node/block-source.ts'
import type { Config } from '../kernel/config/config.ts'
import { lostForkOf, sourceCoverage } from './coverage.ts'
import type { Commitment } from '../market/rows.ts'
import { localnetNodePort } from '../kernel/config/handshake-port.ts'
import { memoryBudget } from '../kernel/config/memory-budget.ts'
import type { BlockCommitment } from '../node/chain-node.ts'
import { MissingBlocks } from '../node/missing-blocks.ts'
import type { StoredChain } from '../node/rollback.ts'
import { sleep, type Ports } from '../ports.ts'
import type { RecordedReport } from '../recorded/report.ts'
import type { Logger } from '../kernel/telemetry/logger.ts'
import type { Spine } from '../kernel/compose/product.ts'
import type { FetchMissing } from '../yellowstone/order-options.ts'

/** Backoff while refetching a block from a node. */
const REFETCH_BACKOFF = { floorMs: 250, ceilingMs: 10_000 }

export interface SourceDeps extends Ports {
  readonly logger: Logger
  readonly onLocalnet: OnLocalnet
  /** Resolves when the localnet may generate its past: the service listens first. */
  readonly listening: Promise<void>
  /** Receives the state of the recorded folder. */
  readonly recorded: RecordedReport
}

type IngestNeeds = Spine & { readonly source: BlockSource }

/** A process that ingests from a source. */
export type Ingests = Run<IngestNeeds, OpenIngest>

/** Returns the directory of a localnet's chain. */
export function localnetDirectory({ dataDir }: Pick<Config, 'dataDir'>): string {
  return join(dataDir, 'localnet')
}

/**
 * Returns the chain unit of a process that ingests: the configured source, and the process that ingests from it. Its
 * other dependencies, such as storage, come from outside.
 */
export function chainOf(config: Config, ingest: Ingests, deps: SourceDeps): Unit<Spine> {
  if (config.source === 'localnet') {
    const { host, localnetSlotMs: slotMs } = config
    const { localnetBlocks: renderedBytes } = memoryBudget(config)
    const directory = localnetDirectory(config)
    const place = { directory, host, port: localnetNodePort(config), slotMs, renderedBytes }
    return supervisor('chain', 'rest_for_one', [
      child('localnet', localnet(place, deps)),
      child('source', localnetSource(deps)),
      child('ingest', withNodes(ingest, localnetNodes, deps)),
      child('backfill', localnetBackfill(deps))
    ])
  }
  const source = child('source', sourceOf(config, deps))
  if (!hasBackfill(config)) return supervisor('chain', 'rest_for_one', [source, child('ingest', ingest)])
  return supervisor('chain', 'rest_for_one', [
    source,
    child(
      'ingest',
      withNodes<unknown>(ingest, () => nodesOf(config), deps)
    ),
    child('backfill', backfillFrom(nodesOf(config), deps))
  ])
}

/** Returns why committed blocks retain undo data: the source may remove blocks, or other nodes may have missing ones. */
export function undoPolicyOf(config: Config): UndoPolicy {
  return {
    forForks: config.source === 'rpc' || config.source === 'yellowstone',
    forGaps: config.source === 'localnet' || hasBackfill(config)
  }
}

/** Returns whether missing blocks can be fetched from a node. */
function hasBackfill(config: Config): boolean {
  const { urls, archiveUrls } = nodesOf(config)
  return (config.source === 'rpc' || config.source === 'yellowstone') && urls.length + archiveUrls.length > 0
}

interface HasLocalnet {
  readonly localnet: LocalnetAddress
}

const localnetNodes = ({ localnet }: HasLocalnet): Nodes => ({
  urls: [localnet.rpcUrl],
  archiveUrls: [],
  commitment: 'confirmed'
})

function localnetBackfill(deps: SourceDeps): Run<BackfillNeeds & HasLocalnet & HasCoverage> {
  return (scope) => backfillFrom(localnetNodes(scope.input), deps)(scope)
}

/** Provides ingest with nodes besides its source, from which single blocks can be refetched. */
function withNodes<More>(
  ingest: Ingests,
  nodesOf: (needs: More) => Nodes,
  deps: SourceDeps
): Run<IngestNeeds & More, OpenIngest> {
  return async (scope) => {
    const { source, storage } = scope.input
    const nodes = nodesOf(scope.input)
    const missing = missingBlocks(nodes, storage.coverage, deps)
    const commitment = confirmedAtLeast(nodes.commitment)
    const refetch: RefetchBlock = async (slot, signal) => {
      for (let attempt = 1; ; attempt++) {
        const found = await missing.fetch(slot, signal)
        if (found === 'skipped') return found
        if (found !== null) return { block: found, commitment, receivedAtMs: deps.clock.now() }
        if (missing.status().some(({ state }) => state === 'healthy')) return null
        await sleep(deps.clock, backoffMs(REFETCH_BACKOFF, attempt), signal)
        signal.throwIfAborted()
      }
    }
    try {
      const asked: BlockSource = { blocks: (options) => source.blocks(options), refetch }
      await ingest({ ...scope, input: { ...scope.input, source: asked } })
    } finally {
      await missing.close()
    }
  }
}

/** Returns the process that searches nodes for missing blocks. */
function backfillFrom(nodes: Nodes, deps: SourceDeps): Run<BackfillNeeds & HasCoverage> {
  return async (scope) => {
    const missing = missingBlocks(nodes, scope.input.storage.coverage, deps)
    const { commitment } = nodes
    const fetch: BackfillOptions['fetch'] = (slot, signal) => missing.fetch(slot, signal)
    try {
      await backfill({ fetch, commitment: confirmedAtLeast(commitment) }, deps)(scope)
    } finally {
      await missing.close()
    }
  }
}

function sourceOf(config: Config, deps: SourceDeps): Run<HasBlocks, BlockSource> {
  const { clock } = deps
  switch (config.source) {
    case 'rpc':
      return (scope) =>
        rpcSource(
          {
            ...nodesOf(config),
            ...sourceCoverage(scope.input.storage.coverage, clock),
            ...storedChainOf(scope.input.storage)
          },
          deps
        )(scope)
    case 'yellowstone':
      return yellowstoneOf(config, deps)
    default:
      return recordedOf(config, deps)
  }
}

/** Returns the stored chain, in which a source looks up forks. */
function storedChainOf({ blocks, coverage }: HasBlocks['storage']): {
  readonly stored: StoredChain
  readonly lostFork: () => Promise<string | null>
} {
  const stored: StoredChain = {
    at: (slot) => blocks.at(slot),
    head: () => blocks.head(),
    oldest: () => blocks.firstSince(0),
    genesis: () => coverage.genesis()
  }
  return { stored, lostFork: () => lostForkOf(coverage) }
}

interface HasBlocks extends HasCoverage {
  readonly storage: Pick<Storage, 'coverage' | 'blocks'>
}

/** Returns the process of a recorded folder, which is compared with the store before its first block. */
function recordedOf(config: Config, { clock, logger, recorded }: SourceDeps): Run<HasBlocks, BlockSource> {
  const { recordedDir: directory, recordedSpeed: speed } = config
  if (directory === null) throw new TypeError('a recorded source has a folder')
  const place =
    config.storage === 'embedded'
      ? { variable: 'MILLRACE_DATA_DIR', value: config.dataDir }
      : { variable: 'MILLRACE_SCYLLA_KEYSPACE', value: config.scyllaKeyspace }
  return async (scope) => {
    const { recordedSource } = await import('../../actors/ingest/source.ts')
    const stored = { blocks: scope.input.storage.blocks, ...place }
    return recordedSource({ directory, speed, stored, report: recorded }, { clock, logger })(scope)
  }
}

/** Returns the process of a Yellowstone stream, with nodes for missing blocks if configured. */
function yellowstoneOf(config: Config, deps: SourceDeps): Run<HasBlocks, BlockSource> {
  const { yellowstoneUrl: url, yellowstoneToken: token, indexCommitment: commitment } = config
  const { clock } = deps
  if (url === null) throw new TypeError('a yellowstone source has a URL')
  return async (scope) => {
    const { yellowstoneSource } = await import('../../actors/ingest/yellowstone-source.ts')
    const { coverage, blocks } = scope.input.storage
    const { onGap } = sourceCoverage(coverage, clock)
    const missing = missingBlocks(nodesOf(config), coverage, deps)
    const fetchMissing: FetchMissing = (slot, signal) => missing.fetch(slot, signal)
    const { stored, lostFork } = storedChainOf(scope.input.storage)
    const place = { head: () => blocks.head(), at: (slot: number) => blocks.at(slot), lostFork }
    const stream = { url, token: token ?? undefined, commitment, onGap, ...place }
    const asked: Pick<YellowstoneSourceOptions, 'fetchMissing' | 'askNodes' | 'nodes' | 'rollbacks'> =
      hasBackfill(config)
        ? {
            fetchMissing,
            askNodes: (block, signal) => missing.standingOf(block, signal),
            nodes: () => missing.status(),
            rollbacks: missing.rollbacks(stored, commitment !== 'processed', deps.random)
          }
        : { fetchMissing: null, askNodes: null }
    try {
      await yellowstoneSource({ ...stream, ...asked }, deps)(scope)
    } finally {
      await missing.close()
    }
  }
}

interface Nodes {
  readonly urls: readonly string[]
  readonly archiveUrls: readonly string[]
  readonly commitment: Commitment
}

const nodesOf = ({
  rpcUrl: urls,
  archiveRpcUrl: archiveUrls,
  indexCommitment: commitment
}: Config): Nodes => ({
  urls,
  archiveUrls,
  commitment
})

/** Returns a commitment for getBlock, which is `confirmed` at the earliest. */
const confirmedAtLeast = (commitment: Commitment): BlockCommitment =>
  commitment === 'finalized' ? 'finalized' : 'confirmed'

function missingBlocks(nodes: Nodes, coverage: CoverageStore, { clock, logger }: SourceDeps): MissingBlocks {
  const { expectedGenesis, onGenesis } = sourceCoverage(coverage, clock)
  const onRefused = (line: string): void => logger.error(line)
  const commitment = confirmedAtLeast(nodes.commitment)
  return new MissingBlocks({ ...nodes, commitment, expectedGenesis, onGenesis, onRefused, clock })
}
