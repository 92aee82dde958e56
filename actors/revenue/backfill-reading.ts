import { Documents, type Stored } from '../../storage/documents.ts'
import { isVoteTransaction } from '../../src/chain/rpc/transaction.ts'
import { PubkeyTable } from '../../src/chain/pubkey.ts'
import type { Transaction } from '../../src/chain/transaction.ts'
import { archivePartition } from '../../src/revenue/archive-document.ts'
import { ArchiveWriter } from '../../src/revenue/archive-writer.ts'
import { BACKFILL_ACCOUNT, type BackfillAccount } from '../../src/revenue/backfill-document.ts'
import type { ListedSignature, PlacedTransaction } from '../../src/revenue/history-node.ts'
import { ledgerChanges } from '../../src/revenue/ledger-changes.ts'
import { holesIn } from '../../src/revenue/ledger-holes.ts'
import { plusHoles, type LedgerHole } from '../../src/revenue/ledger-progress.ts'
import { ownedAccounts } from '../../src/revenue/owned-accounts.ts'
import type { TimedRange } from '../../src/revenue/slot-ranges.ts'
import type { WatchedAddress } from '../../src/revenue/watched-address.ts'
import { STEP_SIGNATURES_MAX, type ActiveBackfill } from './active-backfill.ts'
import type { BackfillDeps } from './backfill-deps.ts'
import { unavailableWith } from './backfill-start.ts'
import { entriesOf } from './ledger-entries.ts'

/** Lists of signatures that are cached, 150 KB each: those of the tenants whose turns come next. */
const PAGES_MAX = 32

/** The outcome of one signature. */
interface ReadSignature {
  readonly slot: number
  readonly rows: number
  /** Token accounts that it showed first. */
  readonly accounts: number
  readonly holes: readonly LedgerHole[]
  readonly isUnread: boolean
}

/**
 * Reads the history of an address: its signatures, and those of every token account that its transactions show.
 *
 * H1. An account is listed before the rows of the transaction that shows it are stored, and rows before the checkpoint
 *     passes their signature. So a kill at any moment loses nothing; the last step is repeated.
 * H2. A range of slots is done once all of its accounts are. Rows of it are not shown before.
 * H3. Rows have the places that live rows have, so that the order of reading does not matter.
 */
export class BackfillReading {
  readonly #deps: BackfillDeps
  readonly #accounts: Documents<BackfillAccount, 'open'>
  readonly #writer: ArchiveWriter
  /** Signatures that were listed and not read, newest first, by account. */
  readonly #pages = new Map<string, readonly ListedSignature[]>()

  constructor(deps: BackfillDeps) {
    this.#deps = deps
    this.#accounts = new Documents(deps.storage.documents, BACKFILL_ACCOUNT)
    this.#writer = new ArchiveWriter(deps.storage)
  }

  /** Reads some signatures of an account, or ends the range if no account is left. */
  async step(backfill: ActiveBackfill, signal: AbortSignal): Promise<void> {
    const { to, from } = backfill.job.run!
    const partition = archivePartition(backfill.watched)
    const { documents } = await this.#accounts.listBy('open', partition, { prefix: [to, from], limit: 1 })
    if (documents[0] === undefined) await this.#end(backfill, signal)
    else await this.#readSome(backfill, documents[0], signal)
  }

  async #readSome(
    backfill: ActiveBackfill,
    stored: Stored<BackfillAccount>,
    signal: AbortSignal
  ): Promise<void> {
    const account = stored.value
    const { from, to } = account
    const listed = await this.#listed(account, signal)
    if (listed === null) {
      // The node has lost the signature that it listed last, and what came before.
      const lacking = { from, to: Math.min(to, account.slot! - 1), fromTs: null, toTs: null }
      await backfill.save({ unavailable: unavailableWith(backfill.job.unavailable, lacking) })
      return this.#pass(backfill, stored, account, true)
    }
    const newer = listed.findIndex(({ slot }) => slot <= to)
    const some = newer < 0 ? listed : listed.slice(0, newer + backfill.signatures)
    const wanted = some.filter(({ slot }) => slot >= from && slot <= to)
    const outcomes = await Promise.allSettled(
      wanted.map(async (each) => this.#read(backfill.watched, account, each, signal))
    )
    const failed = outcomes.find((outcome) => outcome.status === 'rejected')
    if (failed !== undefined) throw failed.reason
    const read = outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : []))
    await this.#note(backfill, some.length, read)
    const last = some.at(-1)
    const isDone = last === undefined || last.slot < from
    const passed = last === undefined ? account : { ...account, before: last.signature, slot: last.slot }
    this.#pages.delete(pageKey(account))
    if (!isDone) this.#cache(passed, listed.slice(some.length))
    await this.#pass(backfill, stored, passed, isDone)
    backfill.signatures = Math.min(STEP_SIGNATURES_MAX, backfill.signatures * 2)
  }

  /** Returns signatures of an account before its checkpoint, newest first; null if the node does not know it. */
  async #listed(account: BackfillAccount, signal: AbortSignal): Promise<readonly ListedSignature[] | null> {
    const cached = this.#pages.get(pageKey(account))
    return cached ?? this.#deps.node.signatures(account.account, account.before, signal)
  }

  #cache(account: BackfillAccount, rest: readonly ListedSignature[]): void {
    if (rest.length === 0) return
    const oldest = this.#pages.keys().next().value
    if (this.#pages.size >= PAGES_MAX && oldest !== undefined) this.#pages.delete(oldest)
    this.#pages.set(pageKey(account), rest)
  }

  /** Reads a transaction, and stores its rows. */
  async #read(
    watched: WatchedAddress,
    account: BackfillAccount,
    listed: ListedSignature,
    signal: AbortSignal
  ): Promise<ReadSignature> {
    const { node, metrics } = this.#deps
    const { slot, signature } = listed
    const nothing = { slot, rows: 0, accounts: 0, holes: [], isUnread: false }
    if (await this.#writer.has(watched, slot, signature)) return nothing
    const found = await node.transaction(listed, signal)
    metrics.transactions.inc()
    if (found.kind === 'absent') return { ...nothing, isUnread: true }
    if (found.kind === 'unreadable' || found.slot !== slot)
      return { ...nothing, holes: ['transactions-unreadable'] }
    // Live rows leave votes out too.
    if (isVoteTransaction(found.transaction)) return nothing
    let accounts = 0
    for (const owned of ownedAccounts(found.transaction, watched.address))
      if (owned !== account.account && (await this.#begin(account, owned))) accounts++
    const rows = await this.#store(watched, found)
    return { ...nothing, rows, accounts, holes: holesOfOne(found.transaction) }
  }

  /** Stores the checkpoint of an account before its first signature. Resolves with whether it is new. */
  async #begin(account: BackfillAccount, owned: string): Promise<boolean> {
    const checkpoint = { ...account, account: owned, before: null, slot: null, isDone: false }
    return (await this.#accounts.insert(checkpoint)).ok
  }

  async #store(
    { tenant, address }: WatchedAddress,
    { transaction, slot, blockTime }: PlacedTransaction
  ): Promise<number> {
    const table = new PubkeyTable([[address, address]])
    const byAddress = ledgerChanges({ transactions: [transaction] }, table)
    const block = { slot, blockTime, parentSlot: null, blockhash: null, changes: { byAddress, holes: [] } }
    let rows = 0
    for (const part of await entriesOf(block, byAddress, this.#deps))
      rows += await this.#writer.put({ tenant, address }, part)
    this.#deps.metrics.rows.inc(rows)
    return rows
  }

  /** Stores counts and missing data, before the checkpoint passes the signatures. */
  async #note(backfill: ActiveBackfill, signatures: number, read: readonly ReadSignature[]): Promise<void> {
    const { job } = backfill
    let { unread, holes }: Pick<typeof job, 'unread' | 'holes'> = job
    for (const { slot, isUnread, holes: found } of read) {
      if (isUnread)
        unread = {
          count: (unread?.count ?? 0) + 1,
          from: Math.min(unread?.from ?? slot, slot),
          to: Math.max(unread?.to ?? slot, slot)
        }
      holes = [...plusHoles(holes, slot, found)]
    }
    await backfill.save({
      signatures: job.signatures + signatures,
      transactions: job.transactions + read.length,
      rows: job.rows + read.reduce((sum, { rows }) => sum + rows, 0),
      accounts: job.accounts + read.reduce((sum, { accounts }) => sum + accounts, 0),
      reachedSlot: read.at(-1)?.slot ?? job.reachedSlot,
      unread,
      holes,
      note: null
    })
  }

  /** Stores the checkpoint of an account. */
  async #pass(
    backfill: ActiveBackfill,
    stored: Stored<BackfillAccount>,
    account: BackfillAccount,
    isDone: boolean
  ): Promise<void> {
    await this.#accounts.change(stored, () => ({ ...account, isDone }))
    if (isDone) await backfill.save({ accountsDone: backfill.job.accountsDone + 1 })
  }

  /** Ends a range. Slots that the node has deleted meanwhile are not archived: some of them may not have been read. */
  async #end(backfill: ActiveBackfill, signal: AbortSignal): Promise<void> {
    const run = backfill.job.run!
    const first = await this.#deps.node.firstSlot(signal)
    const lacking: TimedRange = { ...run, to: Math.min(run.to, first - 1), toTs: null }
    const isLacking = lacking.to >= lacking.from
    await backfill.save({
      phase: 'summing',
      ...(isLacking && { unavailable: unavailableWith(backfill.job.unavailable, lacking) })
    })
  }
}

const pageKey = ({ tenant, address, account, before }: BackfillAccount): string =>
  [tenant, address, account, before ?? ''].join('/')

const holesOfOne = (transaction: Transaction): readonly LedgerHole[] =>
  holesIn({ slot: 0, blockTime: 0, parentSlot: null, transactions: [transaction], votes: 0, rewards: [] })
