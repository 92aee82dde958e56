import { BalanceBook } from './balance-book.ts'
import { isRewarded, type ChainBalance } from './chain-balance.ts'
import type { BalanceDifference } from './backfill-document.ts'
import type { HistoryNode } from './history-node.ts'
import { LedgerReader, type LedgerPlace } from './ledger-reader.ts'
import type { LedgerStores } from './ledger-stores.ts'
import type { SlotRange } from './slot-ranges.ts'
import { segmentsOf, slotsBySignatures } from './watch-history.ts'
import type { WatchedAddress } from './watched-address.ts'

/** Rows of one read: 1 MB. */
const ROWS_PER_READ = 1_000
/** Accounts of one answer of the node. */
const ACCOUNTS_AT_ONCE = 100

/** The comparison of a ledger with the chain. */
export interface LedgerCheck {
  /** The slot at which the last balances were read. */
  readonly slot: number
  /** Number of compared accounts. */
  readonly accounts: number
  readonly differences: readonly BalanceDifference[]
  /** Slots in which rewards of the address may be missing, although all balances are equal; null if none can be missing. */
  readonly unrewarded: SlotRange | null
}

export interface CheckDeps {
  readonly node: Pick<HistoryNode, 'finalizedSlot' | 'tokenAccounts' | 'balances'>
  /** Resolves with a store whose ledgers end at or after a slot; null if they do not reach it in time. */
  readonly storeAt: (slot: number) => Promise<LedgerStores | null>
  readonly pause: () => Promise<void>
}

/**
 * Compares a ledger with the chain: the first balance of each account, plus all changes, equals its balance now. Resolves
 * with null if the ledger ends before the node's answer. Rejects with the node's or the store's error.
 */
export async function checkLedger(
  watched: WatchedAddress,
  { node, storeAt, pause }: CheckDeps,
  signal: AbortSignal
): Promise<LedgerCheck | null> {
  const { address } = watched
  const first = await node.finalizedSlot(signal)
  const before = await storeAt(first)
  if (before === null) return null
  const book = new BalanceBook()
  await read(before, watched, book, { from: 0, until: first }, pause)
  const accounts = [...new Set([address, ...book.accounts, ...(await node.tokenAccounts(address, signal))])]
  const differences: BalanceDifference[] = []
  let slot = first
  let own: ChainBalance | undefined
  for (let from = 0; from < accounts.length; from += ACCOUNTS_AT_ONCE) {
    const some = accounts.slice(from, from + ACCOUNTS_AT_ONCE)
    const answer = await node.balances(some, slot, signal)
    const store = await storeAt(answer.slot)
    if (store === null) return null
    // The rows up to this answer; earlier accounts have been compared with theirs.
    await read(store, watched, book, { from: slot + 1, until: answer.slot }, pause)
    slot = answer.slot
    const chain = new Map(some.map((account, at) => [account, answer.balances[at]!]))
    differences.push(...book.differences(address, chain, isWhole(watched)))
    own ??= chain.get(address)
  }
  const unrewarded = mayLackRewards(own!, book.firstLamports(address)) ? slotsBySignatures(watched) : null
  return { slot, accounts: accounts.length, differences, unrewarded }
}

/**
 * Tells whether rewards from before the first row may be missing: signatures do not find them, and no sum has them. Later ones
 * are a difference. A balance of 0 before the first row has none in it. An account that is gone may have been one of stake.
 */
function mayLackRewards(own: ChainBalance, first: bigint | null): boolean {
  if (first === 0n) return false
  return isRewarded(own) || (own.program === null && first !== null)
}

/** Tells whether a ledger has everything since the first block. */
const isWhole = (watched: WatchedAddress): boolean => segmentsOf(watched)[0]?.from === 0

async function read(
  store: LedgerStores,
  watched: WatchedAddress,
  book: BalanceBook,
  window: { readonly from: number; readonly until: number },
  pause: () => Promise<void>
): Promise<void> {
  const reader = new LedgerReader(store)
  for (let after: LedgerPlace | null = null; ;) {
    const page = { ...window, order: 'asc', after, limit: ROWS_PER_READ, pause } as const
    const rows = await reader.rows([watched], page)
    for (const row of rows) book.add(row)
    if (rows.length < ROWS_PER_READ) return
    after = rows.at(-1)!
    await pause()
  }
}
