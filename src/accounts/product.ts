import { mintDirectory } from '../../actors/accounts/mints.ts'
import { offChain } from '../../actors/accounts/off-chain.ts'
import { tokenImages } from '../../actors/accounts/token-images.ts'
import { poolDirectory } from '../../actors/accounts/pools.ts'
import { sharedReadings, type Readings } from '../../actors/accounts/shared-readings.ts'
import { nodes } from '../../actors/ingest/nodes.ts'
import { giving, using } from '../../actors/supervision/held.ts'
import { child } from '../../actors/supervision/unit.ts'
import type { OffChainCache } from '../../actors/accounts/off-chain-cache.ts'
import type { TokenImageCache } from '../../actors/accounts/token-image-cache.ts'
import { viewOf } from '../kernel/compose/handle.ts'
import type { MintDirectory } from './mint-directory.ts'
import { RpcAccountNode } from './node-client.ts'
import type { PoolDirectory } from './pools/pool-directory.ts'
import { ACCOUNT_ERRORS } from './errors.ts'
import type { AccountServices } from './services.ts'
import { metadataRoutes } from './routes/metadata.ts'
import { tokenAccountRoutes } from './routes/token-accounts.ts'
import { tokenImageRoutes } from './routes/token-image.ts'
import { hasNode, nodeUrls } from '../ingest/node-urls.ts'
import { CASH } from '../ingest/capabilities.ts'
import { NAMES, RANKING } from '../data/capabilities.ts'
import { INDEX_STATE } from '../fleet/capabilities.ts'
import {
  beside,
  capability,
  coordinationOf,
  resource,
  type Kernel,
  type Product,
  type Spine
} from '../kernel/compose/product.ts'
import { routesWith } from '../kernel/http/http-kernel.ts'

const ACCOUNT_NODES = resource<RpcAccountNode>('the connections to nodes')
const READINGS = resource<Readings>('the readings of all processes')
const MINTS = resource<MintDirectory>('the reads of mints')
const POOLS = resource<PoolDirectory>('the reads of pools')
const OFF_CHAIN = resource<OffChainCache>('the reads of metadata')
const IMAGES = resource<TokenImageCache>('the reads of images')

/** Accounts as the operator's nodes report them: metadata of mints, reserves of pools, and token accounts of wallets. */
export const ACCOUNTS: Product = {
  name: 'accounts',
  roles: ['gateway'],
  listedAs: 'accounts',
  errors: ACCOUNT_ERRORS,
  units: (kernel) => {
    if (!hasNode(kernel)) return []
    const { config, ports, budget, logger, get } = kernel
    const indexState = get(INDEX_STATE)
    const mints = {
      ...{ clock: ports.clock, bytesMax: budget.mints, names: get(NAMES), ranking: get(RANKING) },
      answersOthers: () => indexState.current === 'loading' || indexState.current === 'loaded'
    }
    const fetched = {
      clock: ports.clock,
      allowPrivate: config.allowPrivateWebhooks,
      ipfsGateway: config.ipfsGateway
    }
    const client = nodes(
      () => nodeUrls(kernel),
      (urls) => new RpcAccountNode(urls, ports.clock)
    )
    const onNode = { accounts: get(ACCOUNT_NODES), readings: get(READINGS) }
    const readMints = using(onNode, ports.clock, mintDirectory(mints))
    const readPools = using(onNode, ports.clock, poolDirectory(ports.clock, budget.pools))
    const readings = sharedReadings<Spine>(logger, ({ storage, peers }) => [
      coordinationOf(kernel, { ...(peers && { peers }) }).readings,
      storage.readings
    ])
    return [
      beside(
        'accounts',
        child('node', giving(get(ACCOUNT_NODES), client)),
        child('readings', giving(get(READINGS), readings)),
        child('mints', giving(get(MINTS), readMints)),
        child('pools', giving(get(POOLS), readPools)),
        ...(config.tokenImages
          ? [
              child('off-chain', giving(get(OFF_CHAIN), offChain({ ...fetched, bytesMax: budget.offChain }))),
              child('images', giving(get(IMAGES), tokenImages({ ...fetched, bytesMax: budget.tokenImages })))
            ]
          : [])
      )
    ]
  },
  routes: ({ get }) => {
    const needs = { accounts: get(ACCOUNT_SERVICES), cash: get(CASH) }
    return (side) => routesWith({ ...side, ...needs }, [metadataRoutes, tokenAccountRoutes, tokenImageRoutes])
  }
}

/** The account services that the HTTP side uses; null in a process without a node. */
export const ACCOUNT_SERVICES = capability(accountServicesOf)

function accountServicesOf(kernel: Kernel): AccountServices | null {
  if (!hasNode(kernel) || !kernel.products.includes(ACCOUNTS)) return null
  const { get } = kernel
  const offChain = get(OFF_CHAIN)
  const images = get(IMAGES)
  return viewOf(
    { node: get(ACCOUNT_NODES), mints: get(MINTS), pools: get(POOLS) },
    {
      get offChain() {
        return offChain.current
      },
      get images() {
        return images.current
      }
    }
  )
}
