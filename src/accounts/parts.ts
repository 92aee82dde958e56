import type { MintDirectory } from './mint-directory.ts'
import type { PoolDirectory } from './pools/pool-directory.ts'
import type { AccountNode } from './ports.ts'

/** The parts of the account side that the HTTP side uses. */
export interface AccountParts {
  readonly node: AccountNode
  readonly mints: MintDirectory
  readonly pools: PoolDirectory
}
