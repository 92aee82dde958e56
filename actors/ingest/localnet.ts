import type { BlockSource } from '../../src/node/block-source.ts'
import { sourceCoverage } from '../../src/ingest/coverage.ts'
import { StartRefused } from '../../machines/start-refused.ts'
import { ServiceError } from '../../src/kernel/errors.ts'
import type { LocalBank } from '../../src/localnet/bank/bank.ts'
import { openLocalnet, type Localnet, type LocalnetOptions } from '../../src/localnet/localnet.ts'
import { contradictionWith } from '../../src/localnet/stored-head.ts'
import type { Ports } from '../../src/ports.ts'
import type { Logger } from '../../src/kernel/telemetry/logger.ts'
import type { BlockStore, CoverageStore } from '../../storage/port.ts'
import { cacheGauges } from '../storage/cache-gauges.ts'
import { refusedOnFullDisk } from '../storage/disk-full.ts'
import { Listening } from '../edge/listening.ts'
import { aborted } from '../supervision/aborted.ts'
import type { Run } from '../supervision/process.ts'
import { rpcSource } from './rpc-source.ts'

/** Address and range of this process's localnet. */
export interface LocalnetAddress {
  readonly rpcUrl: string
  readonly genesis: string
  /** Returns the oldest slot that it still has. */
  readonly firstSlot: () => number
  /** Calls a listener with the slot of each confirmed block, until the returned function is called. */
  readonly onConfirmed: (listener: (slot: number) => void) => () => void
}

/**
 * Called with the URL of the localnet's node, and the slot at which the past ends that it generates; null if it generates
 * none.
 */
export type OnLocalnet = (rpcUrl: string, pastEnd: number | null) => void

/** Probe interval of the own node, in milliseconds; the node's heads are announced. */
const PROBE_MS = 5_000

export interface LocalnetDeps extends Ports {
  readonly logger: Logger
  readonly onLocalnet: OnLocalnet
  /** Resolves when the past may be generated, which takes all of a core for seconds. */
  readonly listening: Promise<void>
}

/** Runs the localnet; ready once its node listens. Refuses the start if the store was not filled from this chain. */
export function localnet(
  options: Omit<LocalnetOptions, 'onFault' | 'clock'>,
  { clock, logger, onLocalnet, listening: serviceListens }: LocalnetDeps
): Run<HasStoredChain, LocalnetAddress> {
  const listening = new Listening()
  let hasStarted = false
  return async ({ input: { storage }, draining, ready, gauge }) => {
    const onFault = (err: unknown): void => logger.error({ err }, 'a request to the localnet failed')
    const onPast = (blocks: number, ms: number): void =>
      logger.info({ blocks, ms }, 'the localnet has generated a day of market history')
    const { host, port, directory } = options
    const open = () => openLocalnet({ ...options, clock, onFault, onPast })
    const openFirst = () => refusedIfUnusable(directory, open)
    const isFirst = !hasStarted
    const net = await listening.at(host, port, isFirst ? openFirst : open)
    try {
      if (isFirst) await assertOfStore(net.bank, directory, storage)
      hasStarted = true
      gauge('slot', () => net.bank.slot('processed'))
      gauge('confirmed_slot', () => net.bank.slot('confirmed'))
      cacheGauges(gauge, 'rendered_block', net.node.renderedBlocks)
      onLocalnet(net.rpcUrl, net.pastEnd)
      ready({
        rpcUrl: net.rpcUrl,
        genesis: net.genesis,
        firstSlot: () => net.bank.firstSlot,
        onConfirmed: (listener) =>
          net.bank.listen((event) => {
            if (event.kind === 'block' && event.commitment === 'confirmed') listener(event.block.slot)
          })
      })
      await Promise.race([serviceListens, aborted(draining)])
      if (net.pastEnd !== null && !draining.aborted)
        logger.info('the localnet generates a day of market history; /v1/health says how much is indexed')
      const makePast = (): Promise<void> => net.makePast(draining)
      await (isFirst ? refusedOnFullDisk(directory, makePast) : makePast())
      await net.run(draining)
    } finally {
      await net.close()
    }
  }
}

/**
 * Opens a localnet at the start. Rejects with StartRefused if its directory cannot be used: a restart would end the same
 * way.
 */
async function refusedIfUnusable(directory: string, open: () => Promise<Localnet>): Promise<Localnet> {
  try {
    return await refusedOnFullDisk(directory, open)
  } catch (error) {
    const reason = error instanceof ServiceError ? error.detail : fileFault(error)
    if (reason === null) throw error
    const advice = 'set MILLRACE_DATA_DIR to another folder, or restore the whole folder from a copy'
    throw new StartRefused(`the localnet cannot use ${directory}: ${reason}; ${advice}`, { cause: error })
  }
}

/** Returns the message of an error of the file system, which names a path, and null for any other. */
function fileFault(error: unknown): string | null {
  const { path, message } = error as NodeJS.ErrnoException
  return path === undefined ? null : message
}

async function assertOfStore(
  bank: LocalBank,
  directory: string,
  { blocks, coverage }: HasStoredChain['storage']
): Promise<void> {
  const end = { head: await blocks.head(), genesis: await coverage.genesis() }
  const contradiction = contradictionWith(bank, end)
  if (contradiction === null) return
  throw new StartRefused(
    `the localnet's chain in ${directory} does not match the store: ${contradiction}; one of the two was restored without the other: restore the whole data folder (MILLRACE_DATA_DIR), or begin with an empty one`
  )
}

/** Reads the localnet of this process as a node. An empty store begins with the first block of the chain. */
export function localnetSource(
  deps: Ports & { readonly logger: Logger }
): Run<{ readonly localnet: LocalnetAddress } & HasCoverage, BlockSource> {
  return (scope) => {
    const { localnet, storage } = scope.input
    const coverage = sourceCoverage(storage.coverage, deps.clock)
    const { rpcUrl, onConfirmed: ownHeads } = localnet
    const node = { urls: [rpcUrl], archiveUrls: [], commitment: 'confirmed', ownHeads } as const
    // Within one process neither compression nor a rate limit pays off.
    const tuning = { client: { compressed: false, requestsPerSecond: Infinity }, probeMs: PROBE_MS }
    const source = rpcSource({ ...node, ...coverage, tuning }, deps)
    return source({
      ...scope,
      ready: (inner) =>
        scope.ready({
          blocks: ({ after, signal }) =>
            inner.blocks({ after: after ?? Math.max(localnet.firstSlot() - 1, 0), signal })
        })
    })
  }
}

interface HasStoredChain {
  readonly storage: {
    readonly blocks: Pick<BlockStore, 'head'>
    readonly coverage: Pick<CoverageStore, 'genesis'>
  }
}

export interface HasCoverage {
  readonly storage: { readonly coverage: CoverageStore }
}
