import type { LaunchPage, LaunchQuery, MarketStores } from '../../archive/market-stores.ts'
import type { Pubkey } from '../../chain/pubkey.ts'
import type { LaunchRow, LaunchStatus } from '../../market/rows.ts'
import type { CacheTag, RefreshTrigger } from '../../kernel/http/invalidation-index.ts'
import { readRowPlace, writePageCursor } from '../../kernel/http/page-cursor.ts'
import { READ_ROWS, type Slices } from '../../kernel/work/slices.ts'
import { cursorRange } from './trade-filters.ts'

/** A range of block times, Unix seconds; `to` is exclusive. */
export interface LaunchTimes {
  readonly from?: number | undefined
  readonly to?: number | undefined
}

export interface LaunchListQuery extends LaunchTimes {
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

/** The stores of launches, and the slices of the request. */
export interface LaunchSource extends Pick<MarketStores, 'launches' | 'blocks'> {
  readonly slices: Slices
}

/** Reads a page of launches. Throws CURSOR_INVALID. */
export async function launchList(source: LaunchSource, listed: LaunchListQuery): Promise<LaunchList> {
  const { status, order, offset, limit, after, from, to } = listed
  const isTimed = from !== undefined || to !== undefined
  const list = `launches:${status ?? ''}:${order}${isTimed ? `:${from ?? ''}:${to ?? ''}` : ''}`
  const place = after === undefined ? { skip: offset } : readRowPlace(list, after)
  const query: LaunchQuery = {
    ...(status === undefined ? {} : { status }),
    ...('cursor' in place ? { from: place.cursor } : {}),
    order,
    offset: place.skip,
    limit: limit + 1
  }
  const found = isTimed
    ? await launchesBetween(source, query, { from, to })
    : await source.launches.page(query)
  const { rows, stoppedAt, offsetLeft, isArchiveRead } = found
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

/** Reads a page of the launches whose block time is in a range. */
async function launchesBetween(
  { launches, blocks, slices }: LaunchSource,
  { offset = 0, limit, ...query }: LaunchQuery,
  times: LaunchTimes
): Promise<LaunchPage> {
  const { from: low = -Infinity, to: high = Infinity } = times
  const range = await cursorRange(blocks, times, query.order, query.from)
  const rows: LaunchRow[] = []
  const page: Omit<LaunchPage, 'rows'> = { stoppedAt: null, offsetLeft: 0, isArchiveRead: false }
  if (range === null) return { rows, ...page }
  const isBeyond = ({ cursor }: LaunchRow): boolean =>
    query.order === 'desc' ? cursor < range.until! : cursor > range.until!
  let { from } = range
  let skip = offset
  let isArchiveRead = false
  for (;;) {
    const read = await launches.page({ ...query, ...(from !== undefined && { from }), limit: READ_ROWS })
    isArchiveRead ||= read.isArchiveRead
    for (const row of read.rows) {
      if (isBeyond(row)) return { rows, ...page, isArchiveRead }
      if (row.blockTime < low || row.blockTime >= high) continue
      if (skip > 0) skip--
      else rows.push(row)
      if (rows.length === limit) return { rows, ...page, isArchiveRead }
    }
    if (read.stoppedAt !== null) return { rows, stoppedAt: read.stoppedAt, offsetLeft: skip, isArchiveRead }
    if (read.rows.length < READ_ROWS) return { rows, ...page, isArchiveRead }
    from = read.rows.at(-1)!.cursor
    await slices.pause()
  }
}

/** Mints whose launch can still change its status: no live block writes an archived launch. */
const unfinished = (rows: readonly LaunchRow[]): Pubkey[] =>
  rows.filter(({ status }) => status !== 'graduated').map(({ mint }) => mint)
