import { errorKinds, final } from '../kernel/error-kind.ts'

/** Errors of watched addresses. */
export const REVENUE_ERRORS = errorKinds({
  WATCH_NOT_FOUND: final(404, 'watch_not_found', 'Watch not found', {
    meaning: 'The tenant of the API key does not watch this address.',
    remedy:
      'List the watched addresses of the tenant. To watch this one, add it by `POST /v1/revenue/accounts`.',
    example: 'this tenant does not watch this address'
  }),
  WATCH_LIMIT_REACHED: final(409, 'watch_limit_reached', 'Watch limit reached', {
    meaning: 'The tenant watches 200 addresses, the most that it may watch.',
    remedy: 'Stop watching an address. If it is watched again within 400 days, its rows are shown again.',
    example: 'this tenant watches 200 addresses, the most a tenant may watch'
  }),
  IMPORT_LIMIT_REACHED: final(409, 'import_limit_reached', 'Import limit reached', {
    meaning: 'A million rows of this address were imported from files, the most that there may be.',
    remedy:
      'Request the history from the archive node by `POST /v1/revenue/accounts/{address}/backfill`, or import fewer rows.',
    example: '1000000 rows of this address were imported, and 1000000 are the limit'
  })
})
