import { pubkeyMapKey } from '../../src/chain/pubkey.ts'
import type { Pubkey } from '../../src/chain/pubkey.ts'
import type { LogChannel, LogEntry } from '../../src/market/log.ts'
import type { PoolRow, TokenRow } from '../../src/market/registry-rows.ts'
import type { LaunchRow } from '../../src/market/rows.ts'
import type { LogSlots } from '../log-pages.ts'
import type { LaunchStore, PageRequest, PoolStore, TokenStore } from '../port.ts'
import type { Memtable } from './memtable.ts'

type LaunchPage = Parameters<LaunchStore['page']>[0]
type PoolPage = Parameters<PoolStore['ofMint']>[1]

/**
 * A page of a list. The tables have the rows below a cursor, and the memtable, oldest first, the rows above it. The second
 * of the two is read only for the rows that the first lacks.
 */
export async function pageWithMemtable<Row extends { readonly cursor: number }>(
  inMemtable: readonly Row[],
  page: PageRequest,
  read: (page: PageRequest) => Promise<Row[]>
): Promise<Row[]> {
  const { order, limit } = page
  if (order === 'asc') {
    const rows = await read(page)
    return rows.length >= limit ? rows : [...rows, ...within(inMemtable, page).slice(0, limit - rows.length)]
  }
  const rows = within(inMemtable, page).reverse().slice(0, Math.max(0, limit))
  return rows.length >= limit ? rows : [...rows, ...(await read({ ...page, limit: limit - rows.length }))]
}

/** Entries of the tables, and after them those of the memtable. */
export async function logWithMemtable(
  memtable: Memtable,
  channel: LogChannel,
  slots: LogSlots,
  read: (slots: LogSlots) => Promise<LogEntry[]>
): Promise<LogEntry[]> {
  const { first, last, limit } = slots
  const entries = await read(slots)
  if (entries.length >= limit) return entries
  const later = memtable.all(({ block }) =>
    block.log.filter((entry) => entry.channel === channel && entry.slot >= first && entry.slot <= last)
  )
  return [...entries, ...later.slice(0, limit - entries.length)]
}

function within<Row extends { readonly cursor: number }>(rows: readonly Row[], page: PageRequest): Row[] {
  const { from, until } = page
  const [below, least] = page.order === 'desc' ? [from, until] : [undefined, undefined]
  const [above, most] = page.order === 'asc' ? [from, until] : [undefined, undefined]
  return rows.filter(
    ({ cursor }) =>
      (below === undefined || cursor < below) &&
      (least === undefined || cursor >= least) &&
      (above === undefined || cursor > above) &&
      (most === undefined || cursor <= most)
  )
}

/** Launches of the tables, replaced by newer versions from the memtable. These may have left the status or come into it. */
export async function launchesWithMemtable(
  memtable: Memtable,
  page: LaunchPage,
  read: (page: LaunchPage) => Promise<LaunchRow[]>
): Promise<LaunchRow[]> {
  const { offset = 0, ...rest } = page
  const changed = new Map(
    memtable.all(({ block }) => block.launches).map((row) => [pubkeyMapKey(row.mint), row])
  )
  if (changed.size === 0 || page.limit <= 0) return read(page)
  // Also covers rows that may be skipped.
  const limit = offset + page.limit + changed.size
  const unchanged = (await read({ ...rest, limit })).filter(({ mint }) => !changed.has(pubkeyMapKey(mint)))
  const listed = [...changed.values()].filter(
    ({ status }) => page.status === undefined || status === page.status
  )
  const rows = [...unchanged, ...within(listed, rest)]
  return inOrder(rows, page.order, ({ cursor }) => cursor).slice(offset, offset + page.limit)
}

/** Pools that are listed under an address as the memtable left them, with those that it lists. */
export async function poolsWithMemtable(
  memtable: Memtable,
  address: Pubkey,
  page: PoolPage,
  read: (page: PoolPage) => Promise<PoolRow[]>
): Promise<PoolRow[]> {
  const text = pubkeyMapKey(address)
  const named = memtable.all((block) => block.listedPools().get(text)).map(({ row }) => row)
  const stored = await read(page)
  const all = new Map([...stored, ...named].map((row) => [row.firstCursor, row]))
  const rows = [...all.values()].filter(
    ({ firstCursor }) =>
      page.from === undefined || (page.order === 'desc' ? firstCursor < page.from : firstCursor > page.from)
  )
  return inOrder(rows, page.order, ({ firstCursor }) => firstCursor)
    .slice(0, Math.max(0, page.limit))
    .map((row) => memtable.row('pools', row.pool) ?? row)
}

/** Tokens in the order of the tables, replaced by newer versions from the memtable, with those that it adds. */
export async function tokensWithMemtable(
  memtable: Memtable,
  { after, limit, compare }: Parameters<TokenStore['list']>[0] & Pick<TokenStore, 'compare'>,
  read: () => Promise<TokenRow[]>
): Promise<TokenRow[]> {
  const stored = await read()
  const last = stored.length >= limit ? stored.at(-1) : undefined
  const rows = new Map(stored.map((row) => [pubkeyMapKey(row.mint), row]))
  const listed = rows.size
  for (const row of memtable.all(({ block }) => block.tokens)) {
    const text = pubkeyMapKey(row.mint)
    if (!rows.has(text)) {
      if (after !== undefined && compare(row.mint, after) <= 0) continue
      // The page is full: what comes after it is read with the next one.
      if (last !== undefined && compare(row.mint, last.mint) > 0) continue
    }
    rows.set(text, row)
  }
  const page = [...rows.values()]
  if (page.length > listed) page.sort((one, other) => compare(one.mint, other.mint))
  return page.slice(0, Math.max(0, limit))
}

function inOrder<Row>(rows: readonly Row[], order: 'asc' | 'desc', cursorOf: (row: Row) => number): Row[] {
  const up = order === 'asc' ? 1 : -1
  return rows.toSorted((a, b) => up * (cursorOf(a) - cursorOf(b)))
}
