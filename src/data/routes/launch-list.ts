import type { LaunchQuery, MarketLaunches } from '../../archive/market-stores.ts'
import type { Pubkey } from '../../chain/pubkey.ts'
import type { LaunchRow, LaunchStatus } from '../../market/rows.ts'
import type { CacheTag, RefreshTrigger } from '../../kernel/http/invalidation-index.ts'
import { readPagePlace, writePageCursor } from '../../kernel/http/page-cursor.ts'

export interface LaunchListQuery {
  readonly status?: LaunchStatus | undefined
  readonly order: 'asc' | 'desc'
  readonly offset: number
  readonly limit: number
  readonly after?: string | undefined
}

/** A page of launches, and what changes it. */
export interface LaunchList {
  readonly rows: readonly LaunchRow[]
  readonly nextCursor: string | null
  readonly dependsOn: readonly CacheTag[]
  readonly changesWith: RefreshTrigger
}

/** Reads a page of launches. Throws CURSOR_INVALID. */
export async function launchList(
  launches: MarketLaunches,
  { status, order, offset, limit, after }: LaunchListQuery
): Promise<LaunchList> {
  const list = `launches:${status ?? ''}:${order}`
  const place = after === undefined ? { skip: offset } : readPagePlace(list, after)
  const query: LaunchQuery = {
    ...(status === undefined ? {} : { status }),
    ...('cursor' in place ? { from: place.cursor } : {}),
    order,
    offset: place.skip,
    limit: limit + 1
  }
  const { rows, stoppedAt, offsetLeft, isArchiveRead } = await launches.page(query)
  const page = rows.slice(0, limit)
  const last = page.at(-1)
  const isMore = rows.length > limit && last !== undefined
  const next = isMore ? writePageCursor(list, last.cursor) : null
  return {
    rows: page,
    nextCursor: !isMore && stoppedAt !== null ? writePageCursor(list, stoppedAt, offsetLeft) : next,
    dependsOn: ['launches', ...(isArchiveRead ? unfinished(page) : [])],
    // Any block can change which archived launches have the status.
    changesWith: isArchiveRead && status !== undefined ? 'block' : 'tags'
  }
}

/** Mints whose launch can still change its status: no live block writes an archived launch. */
const unfinished = (rows: readonly LaunchRow[]): Pubkey[] =>
  rows.filter(({ status }) => status !== 'graduated').map(({ mint }) => mint)
