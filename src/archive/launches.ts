import { setImmediate as yieldToEventLoop } from 'node:timers/promises'
import type { LaunchRow, LaunchStatus } from '../market/rows.ts'
import type { LaunchStore, Storage } from '../../storage/port.ts'
import type { Archive } from './archive.ts'
import { livePage, type LaunchPage, type LaunchQuery, type MarketLaunches } from './market-stores.ts'
import { partsOf } from './row-list.ts'

/**
 * Maximum archived launches that a request with a status examines. Each costs up to two reads of the live store. An
 * embedded store makes 10,000 reads in 0.1 s from memory and in 0.7 s from disk; an answer has 2 s.
 */
const SEARCH = {
  launchesMax: 5_000,
  /** Launches whose status is read at once, before other requests run. */
  chunk: 500
}

type LiveFacts = Pick<Storage, 'launches' | 'curves' | 'tokens'>

/**
 * The launches of both stores. A launch creates its mint, so a mint is launched in only one of them. The live store has no
 * launch of the archive, so the current status of an archived launch comes from the mint's live trades and curve.
 */
export function joinedLaunches(
  live: LiveFacts,
  { storage, last }: Archive,
  { launchesMax, chunk } = SEARCH
): MarketLaunches {
  const { launches: archive } = storage

  /** Returns an archived launch with its current status (`launches.ts` of the market, L1 to L3). */
  async function current(row: LaunchRow): Promise<LaunchRow> {
    if (row.status === 'graduated') return row
    const [curve, token] = await Promise.all([live.curves.get(row.mint), live.tokens.get(row.mint)])
    const isTraded = row.status === 'trading' || (token?.trades ?? 0) > 0
    const status: LaunchStatus =
      curve?.status === 'graduated' ? 'graduated' : isTraded ? 'trading' : 'created'
    return status === row.status ? row : { ...row, status }
  }

  const currentOf = (rows: readonly LaunchRow[]) => Promise.all(rows.map(current))

  /** Reads archived launches of any status, or those with a current status among the next `launchesMax`. */
  async function archived(query: LaunchQuery): Promise<LaunchPage> {
    return query.status === undefined ? ofAll(query) : ofStatus(query, query.status)
  }

  async function ofAll(query: LaunchQuery): Promise<LaunchPage> {
    const rows = await archive.page(query)
    const { offset = 0 } = query
    const offsetLeft = rows.length > 0 ? 0 : offset - (await countUpTo(archive, query, offset))
    return { rows: await currentOf(rows), stoppedAt: null, offsetLeft, isArchiveRead: true }
  }

  async function ofStatus({ offset = 0, ...query }: LaunchQuery, status: LaunchStatus): Promise<LaunchPage> {
    // A status never moves back, so a launch with the current status `created` had it at the end of the archive.
    const { status: _, ...unfiltered } = query
    const candidates = status === 'created' ? query : unfiltered
    const rows: LaunchRow[] = []
    let offsetLeft = offset
    let { from } = query
    for (let looked = 0; ; looked += chunk) {
      const read = await archive.page({ ...candidates, ...(from !== undefined && { from }), limit: chunk })
      for (const row of await currentOf(read)) {
        if (row.status !== status) continue
        if (offsetLeft > 0) offsetLeft--
        else rows.push(row)
        if (rows.length === query.limit) return { rows, stoppedAt: null, offsetLeft, isArchiveRead: true }
      }
      from = read.at(-1)?.cursor
      if (from === undefined || read.length < chunk)
        return { rows, stoppedAt: null, offsetLeft, isArchiveRead: true }
      if (looked + chunk >= launchesMax) return { rows, stoppedAt: from, offsetLeft, isArchiveRead: true }
      await yieldToEventLoop()
    }
  }

  async function newestFirst(query: LaunchQuery): Promise<LaunchPage> {
    const { offset = 0, limit } = query
    const parts = partsOf(query, last)
    const rows = parts.live ? await live.launches.page(query) : []
    if (rows.length === limit) return livePage(rows)
    const passed = rows.length > 0 ? offset : parts.live ? await countUpTo(live.launches, query, offset) : 0
    const older = await archived({ ...query, offset: offset - passed, limit: limit - rows.length })
    return { ...older, rows: [...rows, ...older.rows] }
  }

  async function oldestFirst(query: LaunchQuery): Promise<LaunchPage> {
    if (!partsOf(query, last).archive) return livePage(await live.launches.page(query))
    const older = await archived(query)
    const limit = query.limit - older.rows.length
    if (limit === 0 || older.stoppedAt !== null) return older
    const newer = await live.launches.page({ ...query, offset: older.offsetLeft, limit })
    return { ...older, rows: [...older.rows, ...newer] }
  }

  return {
    async get(mint) {
      const row = await archive.get(mint)
      return row === null ? live.launches.get(mint) : current(row)
    },
    page: (query) => (query.order === 'desc' ? newestFirst(query) : oldestFirst(query))
  }
}

/** Counts the launches of a query, from its start up to a maximum, by binary search. */
async function countUpTo(store: LaunchStore, query: LaunchQuery, max: number): Promise<number> {
  let low = 0
  for (let high = max; low < high;) {
    const middle = Math.ceil((low + high) / 2)
    const [row] = await store.page({ ...query, offset: middle - 1, limit: 1 })
    if (row === undefined) high = middle - 1
    else low = middle
  }
  return low
}
