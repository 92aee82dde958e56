import { mintDirectory } from '../../actors/accounts/mints.ts'
import { offChain } from '../../actors/accounts/off-chain.ts'
import { poolDirectory } from '../../actors/accounts/pools.ts'
import { nodes } from '../../actors/chain/nodes.ts'
import { giving, using } from '../../actors/supervision/held.ts'
import { child } from '../../actors/supervision/unit.ts'
import { RpcAccountNode } from '../accounts/node-client.ts'
import type { AccountParts } from '../accounts/parts.ts'
import { ACCOUNT_SETTINGS } from '../config/settings/accounts.ts'
import { metadataRoutes } from '../http/routes/metadata.ts'
import { tokenAccountRoutes } from '../http/routes/token-accounts.ts'
import { hasNode, nodeUrls } from './node-urls.ts'
import { beside, type Product, type ServiceParts } from './product.ts'

/** Accounts as the operator's nodes report them: metadata of mints, reserves of pools, and token accounts of wallets. */
export const ACCOUNTS: Product = {
  name: 'accounts',
  roles: ['gateway'],
  settings: ACCOUNT_SETTINGS,
  units: (service) => {
    const { config, ports, budget, names, ranking } = service
    const mints = { clock: ports.clock, bytesMax: budget.mints, names, ranking }
    const fetched = {
      clock: ports.clock,
      bytesMax: budget.offChain,
      allowPrivate: config.allowPrivateWebhooks,
      ipfsGateway: config.ipfsGateway
    }
    if (!hasNode(service)) return []
    const client = nodes(
      () => nodeUrls(service),
      (urls) => new RpcAccountNode(urls, ports.clock)
    )
    const { handles } = service
    const onNode = { accounts: handles.accounts }
    const readMints = using(onNode, ports.clock, mintDirectory(mints))
    const readPools = using(onNode, ports.clock, poolDirectory(ports.clock, budget.pools))
    return [
      beside(
        'accounts',
        child('node', giving(handles.accounts, client)),
        child('mints', giving(handles.mints, readMints)),
        child('pools', giving(handles.pools, readPools)),
        ...(config.tokenImages ? [child('off-chain', giving(handles.offChain, offChain(fetched)))] : [])
      )
    ]
  },
  routes: [metadataRoutes, tokenAccountRoutes]
}

/** Returns the account services that the HTTP side uses; null in a process without a node. */
export function accountPartsOf(service: ServiceParts): AccountParts | null {
  if (!hasNode(service) || !service.products.includes(ACCOUNTS)) return null
  const { accounts, mints, pools, offChain } = service.handles
  return {
    get node() {
      return accounts.get()
    },
    get mints() {
      return mints.get()
    },
    get pools() {
      return pools.get()
    },
    get offChain() {
      return offChain.current
    }
  }
}
