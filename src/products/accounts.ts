import { mintDirectory } from '../../actors/accounts/mints.ts'
import { offChain } from '../../actors/accounts/off-chain.ts'
import { poolDirectory } from '../../actors/accounts/pools.ts'
import { nodes } from '../../actors/chain/nodes.ts'
import { child } from '../../actors/supervision/unit.ts'
import { RpcAccountNode } from '../accounts/node-client.ts'
import type { AccountParts } from '../accounts/parts.ts'
import { ACCOUNT_SETTINGS } from '../config/settings/accounts.ts'
import { metadataRoutes } from '../http/routes/metadata.ts'
import { tokenAccountRoutes } from '../http/routes/token-accounts.ts'
import { hasNode, nodeUrls } from './node-urls.ts'
import type { Given, Product } from './product.ts'

/** Accounts as the operator's nodes have them: metadata of mints, reserves of pools, and token accounts of wallets. */
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
    return hasNode(service)
      ? [
          child(
            'accounts',
            nodes(
              () => nodeUrls(service),
              (urls) => new RpcAccountNode(urls, ports.clock)
            )
          ),
          child('mints', mintDirectory(mints)),
          child('pools', poolDirectory(ports.clock, budget.pools)),
          ...(config.tokenImages ? [child('off-chain', offChain(fetched))] : [])
        ]
      : []
  },
  routes: [metadataRoutes, tokenAccountRoutes]
}

/** Returns the parts of the account side that the HTTP side uses; null in a process without a node. */
export function accountPartsOf({
  accounts: node,
  mints,
  pools,
  'off-chain': offChain
}: Given): AccountParts | null {
  return node === undefined || mints === undefined || pools === undefined
    ? null
    : { node, mints, pools, offChain: offChain ?? null }
}
