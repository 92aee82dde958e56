import { archivedPrice } from '../../actors/ingest/archived-price.ts'
import { follower } from '../../actors/ingest/follower.ts'
import { ingest } from '../../actors/ingest/ingest.ts'
import { NO_UNDO } from '../../actors/ingest/undo-history.ts'
import { leader } from '../../actors/ingest/leader.ts'
import type { Run } from '../../actors/supervision/process.ts'
import { transferFees } from '../../actors/ingest/transfer-fees.ts'
import { recallBlocks } from '../../actors/transactions/recall-blocks.ts'
import { sharedFees } from '../../actors/transactions/shared-fees.ts'
import { child, supervisor, type Unit } from '../../actors/supervision/unit.ts'
import { addRecordedMetrics, addSourceMetrics } from './source-metrics.ts'
import { addDecodingMetrics } from './decoding-metrics.ts'
import { ingestMetrics } from './metrics.ts'
import { LEASES } from '../fleet/capabilities.ts'
import { hasNode, nodeUrls } from './node-urls.ts'
import { openArchiveToRead } from '../store/opening.ts'
import { CASH, COMMITTED_BLOCKS, FEES, LOCALNET, RECORDED, TRANSFER_FEES } from './capabilities.ts'
import { beside, metricGroup, type Kernel, type Product, type Spine } from '../kernel/compose/product.ts'
import { chainOf, undoPolicyOf, type Ingests } from './sources.ts'

const INGEST_METRICS = metricGroup(ingestMetrics)
const DECODING_METRICS = metricGroup((registry, { decoding }) => addDecodingMetrics(registry, decoding))
const SOURCE_METRICS = metricGroup((registry, { sourceStatus }) => addSourceMetrics(registry, sourceStatus))
const RECORDED_METRICS = metricGroup((registry, { get }) => addRecordedMetrics(registry, get(RECORDED)))

/** Blocks of the chain: ingested from a source, or followed from another process. */
export const INGEST: Product = {
  name: 'ingest',
  roles: ['ingest', 'gateway', 'delivery'],
  units: (kernel) => {
    const { config, feed, ports, products, get } = kernel
    const chain = ingestDepsOf(kernel)
    const publishes = config.role.includes('ingest')
    const serves =
      config.role.includes('gateway') && products.some(({ listedAs }) => listedAs === 'transactions')
    const usesFees = publishes || serves
    if (publishes && config.storage !== 'embedded') get(LEASES).declare('ingest', ['ingest'])
    const shared =
      config.storage === 'embedded' || config.redisUrl === null || !usesFees
        ? []
        : [
            beside(
              'fees',
              child(
                'shared',
                amongPeers(sharedFees({ fees: get(FEES), feed, clock: ports.clock, publishes }))
              )
            )
          ]
    if (!publishes)
      return [
        supervisor('chain', 'rest_for_one', [child('follower', amongPeers(follower(chain)))]),
        ...shared
      ]
    const read = transferFees(get(TRANSFER_FEES), () => nodeUrls(kernel), ports.clock)
    return [
      ...(hasNode(kernel) ? [beside('transfer-fees', child('mints', read))] : []),
      config.storage === 'embedded'
        ? chainWith(kernel, ingest(chain))
        : chainWith(kernel, amongPeers(leader(chain))),
      ...shared
    ]
  },
  metrics: [INGEST_METRICS, DECODING_METRICS, SOURCE_METRICS, RECORDED_METRICS]
}

function ingestDepsOf({ config, ports, feed, decoding, logger, budget, source, get }: Kernel) {
  const committedBlocks = get(COMMITTED_BLOCKS)
  return {
    fold: { cash: get(CASH), startingSolUsd: config.solUsd, venues: new Set(config.venues) },
    undoPolicy: source === undefined ? undoPolicyOf(config) : NO_UNDO,
    feed,
    decoding,
    metrics: get(INGEST_METRICS),
    logger,
    clock: ports.clock,
    committedBlocks,
    leases: get(LEASES),
    recallBlocks: recallBlocks({ committedBlocks, clock: ports.clock, logger }),
    solUsdBefore: archivedPrice(() => openArchiveToRead(config), logger),
    marketBytes: budget.market,
    transferFees: get(TRANSFER_FEES)
  }
}

function chainWith(
  { config, ports, logger, source, onLocalnet, listening, get }: Kernel,
  ingests: Ingests
): Unit<Spine> {
  const started = get(LOCALNET)
  const recorded = get(RECORDED)
  if (source === undefined)
    return chainOf(config, ingests, {
      ...{ ...ports, logger, recorded, listening },
      onLocalnet: (url, pastEnd) => {
        Object.assign(started, { url, pastEnd })
        onLocalnet(url)
      }
    })
  return supervisor('chain', 'rest_for_one', [child('source', source), child('ingest', ingests)])
}

/** Connects a process of a cluster to its peers. */
function amongPeers<Needs extends { readonly peers: unknown }, Gives>(
  run: Run<Needs, Gives>
): Run<Omit<Needs, 'peers'> & Pick<Spine, 'peers'>, Gives> {
  return (scope) => {
    const { peers } = scope.input
    if (peers === undefined) throw new TypeError('a store that processes share has connections between them')
    return run({ ...scope, input: { ...scope.input, peers } as unknown as Needs })
  }
}
