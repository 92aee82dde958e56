import type { Storage } from '../../storage/port.ts'
import type { Pubkey } from '../chain/pubkey.ts'
import type { PoolRow } from '../market/registry-rows.ts'
import { VALUED_POOLS_MAX } from '../market/token-value.ts'

/** The pools by which a token is valued, newest first, and one more where there are too many. */
export function valuedPools({ pools }: Pick<Storage, 'pools'>, mint: Pubkey): Promise<PoolRow[]> {
  return pools.ofMint(mint, { order: 'desc', limit: VALUED_POOLS_MAX + 1 })
}
