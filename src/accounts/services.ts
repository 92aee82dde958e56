import type { MintDirectory } from './mint-directory.ts'
import type { PoolDirectory } from './pools/pool-directory.ts'
import type { AccountNode, OffChainSource, TokenImageSource } from './ports.ts'

/** The services of the account side that the HTTP side uses. */
export interface AccountServices {
  readonly node: AccountNode
  readonly mints: MintDirectory
  /** Null if the operator has not allowed off-chain reads. */
  readonly offChain: OffChainSource | null
  /** Null like `offChain`. */
  readonly images: TokenImageSource | null
  readonly pools: PoolDirectory
}
