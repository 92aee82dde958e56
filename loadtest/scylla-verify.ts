import { isDeepStrictEqual } from 'node:util'
import { pubkeyToBase58 } from '../src/chain/pubkey.ts'
import type { Pubkey } from '../src/chain/pubkey.ts'
import { INTERVALS } from '../src/market/rows.ts'
import type { BlockCommit, PageRequest, Storage } from '../storage/port.ts'

const PAGE_ROWS = 1_000

/** The state of a store after a load. */
export interface Verdict {
  /** Rows of lists that were read. */
  readonly rows: number
  /** Records, and pages of records, that were compared. */
  readonly records: number
  /** Names of lists and records that are wrong: rows lost, repeated, out of order or different. */
  readonly wrong: readonly string[]
}

/**
 * Reads everything that blocks left in a store. Every list must have the rows of the commits, each once and in order; every
 * record must equal that of a reference store with these blocks.
 */
export async function verify(
  storage: Storage,
  reference: Storage,
  commits: readonly BlockCommit[]
): Promise<Verdict> {
  const wrong: string[] = []
  let [rows, records] = [0, 0]
  for (const { name, expected, read } of listsOf(storage, commits)) {
    const found = await all(read)
    rows += found.length
    if (!isDeepStrictEqual(found, expected)) wrong.push(`${name}: ${found.length} rows of ${expected.length}`)
  }
  for (const [name, ask] of questionsOf(commits)) {
    records++
    if (!isDeepStrictEqual(await ask(storage), await ask(reference))) wrong.push(name)
  }
  return { rows, records, wrong }
}

type Row = { readonly cursor: number }

interface List {
  readonly name: string
  readonly expected: readonly Row[]
  readonly read: (page: PageRequest) => Promise<readonly Row[]>
}

function* listsOf(storage: Storage, commits: readonly BlockCommit[]): Generator<List> {
  const trades = commits.flatMap((commit) => commit.trades)
  // A trade with a row for each of its mints is in its trader's list once, as the first row.
  const made = trades.filter((row) => row.cashSide !== null || isDeepStrictEqual(row.mint, row.inMint))
  const events = commits.flatMap((commit) => commit.poolEvents)
  for (const [mint, expected] of byOwner(trades, (row) => row.mint))
    yield { name: `trades of ${nameOf(mint)}`, expected, read: (page) => storage.trades.ofMint(mint, page) }
  for (const [user, expected] of byOwner(made, (row) => row.user))
    yield { name: `trades by ${nameOf(user)}`, expected, read: (page) => storage.trades.ofWallet(user, page) }
  for (const [pool, expected] of byOwner(events, (row) => row.pool))
    yield {
      name: `events of ${nameOf(pool)}`,
      expected,
      read: (page) => storage.poolEvents.ofPool(pool, page)
    }
}

async function all(read: List['read']): Promise<Row[]> {
  const rows: Row[] = []
  for (;;) {
    const from = rows.length === 0 ? {} : { from: rows.at(-1)!.cursor }
    const page = await read({ ...from, order: 'asc', limit: PAGE_ROWS })
    rows.push(...page)
    if (page.length < PAGE_ROWS) return rows
  }
}

function byOwner<T extends Row>(rows: readonly T[], ownerOf: (row: T) => Pubkey): [Pubkey, T[]][] {
  const lists = Map.groupBy(rows, (row) => nameOf(ownerOf(row)))
  return [...lists.values()].map((list) => [ownerOf(list[0]!), list.toSorted((a, b) => a.cursor - b.cursor)])
}

type Ask = (storage: Storage) => Promise<unknown>

/** Returns reads by name, each once, of everything that the blocks have replaced. */
function questionsOf(commits: readonly BlockCommit[]): Map<string, Ask> {
  const asked = new Map<string, Ask>([
    ['the head', (storage) => storage.blocks.head()],
    ['the totals', (storage) => storage.totals.get()],
    ['launches', (storage) => storage.launches.page({ order: 'asc', limit: 500 })]
  ])
  const ever = { from: 0, to: 4e9, limit: 10_000 }
  for (const { slot, tokens, pools, curves, launches, pairs, candles, activity, solPrices } of commits) {
    asked.set(`slot ${slot.slot}`, (storage) => storage.blocks.has(slot.slot))
    for (const { mint } of tokens) {
      asked.set(`token ${nameOf(mint)}`, (storage) => storage.tokens.get(mint))
      asked.set(`pools of ${nameOf(mint)}`, (storage) =>
        storage.pools.ofMint(mint, { order: 'asc', limit: 500 })
      )
    }
    for (const { pool } of pools) asked.set(`pool ${nameOf(pool)}`, (storage) => storage.pools.get(pool))
    for (const { mint } of curves) asked.set(`curve ${nameOf(mint)}`, (storage) => storage.curves.get(mint))
    for (const { mint } of launches)
      asked.set(`launch ${nameOf(mint)}`, (storage) => storage.launches.get(mint))
    for (const { mint, cash } of pairs)
      asked.set(`pair ${nameOf(mint)} ${nameOf(cash)}`, (storage) => storage.pairs.get({ mint, cash }))
    for (const { mint, cash } of candles)
      for (const interval of INTERVALS)
        asked.set(`candles ${nameOf(mint)} ${nameOf(cash)} ${interval}`, (storage) =>
          storage.candles.range(mint, cash, interval, ever)
        )
    for (const { of, owner, hour } of activity) {
      asked.set(`activity ${of} ${nameOf(owner)} ${hour}`, (storage) =>
        storage.activity.get({ of, owner, hour })
      )
      asked.set(`mints of ${hour}`, (storage) => storage.activity.mintsOfHour(hour, { limit: 10_000 }))
    }
    for (const solPrice of solPrices)
      asked.set(`price of ${solPrice.minute}`, (storage) => storage.solPrices.atOrBefore(solPrice.minute))
  }
  return asked
}

const nameOf = (key: Pubkey): string => pubkeyToBase58(key)
