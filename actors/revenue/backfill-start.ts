import { Documents } from '../../storage/documents.ts'
import { BACKFILL_ACCOUNT, type BackfillAccount } from '../../src/revenue/backfill-document.ts'
import type { HistoryNode } from '../../src/revenue/history-node.ts'
import { LedgerReader, type LedgerPlace } from '../../src/revenue/ledger-reader.ts'
import type { LedgerStores } from '../../src/revenue/ledger-stores.ts'
import { united, without, type SlotRange, type TimedRange } from '../../src/revenue/slot-ranges.ts'
import { slotAtTime } from '../../src/revenue/slot-at-time.ts'
import { NO_HISTORY, wantedSlots } from '../../src/revenue/watch-history.ts'
import type { WatchedAddress } from '../../src/revenue/watched-address.ts'
import type { ActiveBackfill } from './active-backfill.ts'

/** Rows of one read: 1 MB. */
const ROWS_PER_READ = 1_000

/** Chooses the slots that a backfill reads next, and the accounts that it begins with. */
export class BackfillStart {
  readonly #store: LedgerStores
  readonly #node: HistoryNode
  readonly #hasNode: () => boolean
  readonly #accounts: Documents<BackfillAccount, 'open'>

  constructor(store: LedgerStores, node: HistoryNode, hasNode: () => boolean) {
    this.#store = store
    this.#node = node
    this.#hasNode = hasNode
    this.#accounts = new Documents(store.documents, BACKFILL_ACCOUNT)
  }

  /**
   * Begins to sum up imported slots, else the newest missing range of slots, or the comparison with the chain if none is missing. Resolves with false if the
   * node has not finalized the range yet.
   */
  async step(backfill: ActiveBackfill, signal: AbortSignal): Promise<boolean> {
    const { watched, job } = backfill
    const { history = NO_HISTORY } = watched
    const [imported] = [...without(history.imported, history.archived), ...history.restaged]
    if (imported !== undefined) {
      const run = { from: imported.from, to: imported.to, fromTs: null, toTs: null }
      await backfill.save({ phase: 'summing', run, isImport: true })
      return true
    }
    if (!this.#hasNode()) throw new NoNode()
    const sinceSlot = job.sinceSlot ?? (await this.#sinceSlot(watched, signal))
    if (job.sinceSlot === null) await backfill.save({ sinceSlot })
    const done = [...history.archived, ...job.unavailable]
    const range = without(wantedSlots(watched, sinceSlot), done).at(-1)
    if (range === undefined) {
      await backfill.save({ phase: 'checking', run: null })
      return true
    }
    if ((await this.#node.finalizedSlot(signal)) < range.to) return false
    const first = await this.#node.firstSlot(signal)
    if (first > range.from) {
      const lacking = { from: range.from, to: Math.min(range.to, first - 1) }
      const fromTs = lacking.from === sinceSlot ? (history.since?.ts ?? null) : null
      await backfill.save({
        unavailable: unavailableWith(job.unavailable, { ...lacking, fromTs, toTs: null })
      })
      return true
    }
    const accounts = await this.#firstAccounts(watched, signal)
    for (const account of accounts) await this.#begin(watched, range, account)
    await backfill.save({
      phase: 'reading',
      isImport: false,
      run: { ...range, ...(await this.#timesOf(watched, range, signal)) },
      accounts: accounts.length,
      accountsDone: 0,
      reachedSlot: null
    })
    return true
  }

  /** Stores the checkpoint of an account before its first signature. */
  async #begin({ tenant, address }: WatchedAddress, range: SlotRange, account: string): Promise<void> {
    const { from, to } = range
    const checkpoint = { tenant, address, from, to, account, before: null, slot: null, isDone: false }
    await this.#accounts.insert(checkpoint)
  }

  /** Lists the address, the token accounts that it owns now, and those of which it has rows. */
  async #firstAccounts(watched: WatchedAddress, signal: AbortSignal): Promise<readonly string[]> {
    const { address } = watched
    const accounts = new Set([address, ...(await this.#node.tokenAccounts(address, signal))])
    const reader = new LedgerReader(this.#store)
    for (let after: LedgerPlace | null = null; ;) {
      signal.throwIfAborted()
      const rows = await reader.rows([watched], { from: 0, order: 'asc', after, limit: ROWS_PER_READ })
      for (const { account } of rows) accounts.add(account)
      if (rows.length < ROWS_PER_READ) return [...accounts]
      after = rows.at(-1)!
    }
  }

  async #sinceSlot({ captureFrom, history }: WatchedAddress, signal: AbortSignal): Promise<number> {
    const { slot, ts } = history!.since!
    if (slot !== null) return slot
    return slotAtTime(this.#node, ts!, captureFrom!.slot, signal)
  }

  async #timesOf(
    { captureFrom, history = NO_HISTORY }: WatchedAddress,
    { from, to }: SlotRange,
    signal: AbortSignal
  ): Promise<Pick<TimedRange, 'fromTs' | 'toTs'>> {
    const fromTs = (await this.#node.blockFrom(from, signal))?.ts ?? null
    if (to === captureFrom!.slot - 1) return { fromTs, toTs: captureFrom!.ts }
    return { fromTs, toTs: history.absences.find((absence) => absence.to === to)?.toTs ?? null }
  }
}

/** History is needed, and no node is configured. */
export class NoNode extends Error {}

/** Adds slots of which the node has no history. */
export const unavailableWith = (unavailable: readonly TimedRange[], range: TimedRange): TimedRange[] => [
  ...united([...unavailable, range])
]
