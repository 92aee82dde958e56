import { accountNodes } from '../../actors/accounts/nodes.ts'
import { child } from '../../actors/supervision/unit.ts'
import type { AccountParts } from '../accounts/ports.ts'
import { hasNode, nodeUrls } from './node-urls.ts'
import type { Given, Product } from './product.ts'

/** Accounts as the operator's nodes have them: metadata of mints, and token accounts of wallets. */
export const ACCOUNTS: Product = {
  name: 'accounts',
  roles: ['gateway'],
  settings: {},
  units: (service) =>
    hasNode(service)
      ? [
          child(
            'accounts',
            accountNodes(() => nodeUrls(service), service.ports.clock)
          )
        ]
      : []
}

/** Returns the parts of the account side that the HTTP side uses; null in a process without a node. */
export function accountPartsOf({ accounts: node }: Given): AccountParts | null {
  return node === undefined ? null : { node }
}
