import { errorKinds, final } from '../kernel/error-kind.ts'

/** Errors of market data. */
export const DATA_ERRORS = errorKinds({
  TOKEN_NOT_FOUND: final(404, 'token_not_found', 'Token not found', {
    meaning: 'The index has no data on this token for this request.',
    remedy:
      'Check the mint. A token is known from its first launch, pool or trade on a covered venue after the index began.',
    example: 'no price-forming trade of this token is known'
  }),
  POOL_NOT_FOUND: final(404, 'pool_not_found', 'Pool not found', {
    meaning: 'The index has no event that names this pool and both of its mints.',
    remedy:
      'Check the address. A pool is known from its creation, or from its first trade on a covered venue after the index began.',
    example: 'no event of this pool is known'
  }),
  CURVE_NOT_FOUND: final(404, 'no_bonding_curve', 'No bonding curve', {
    meaning: 'The token was never on a bonding curve of an indexed launchpad.',
    remedy: 'Nothing: a token that was launched in a pool has no curve.',
    example: 'no bonding curve of this token is known'
  })
})
