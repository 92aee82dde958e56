import { setImmediate as yieldToEventLoop } from 'node:timers/promises'
import { backoffMs } from '../../machines/backoff.ts'
import { Documents } from '../../storage/documents.ts'
import { archivePartition } from '../../src/revenue/archive-document.ts'
import { ArchivePacker } from '../../src/revenue/archive-packer.ts'
import {
  BACKFILL_ACCOUNT,
  DIFFERENCES_STORED_MAX,
  type BackfillAccount
} from '../../src/revenue/backfill-document.ts'
import { checkLedger } from '../../src/revenue/ledger-check.ts'
import { LedgerReader } from '../../src/revenue/ledger-reader.ts'
import { united, without, type SlotRange, type TimedRange } from '../../src/revenue/slot-ranges.ts'
import { NO_HISTORY } from '../../src/revenue/watch-history.ts'
import { WatchedAddresses } from '../../src/revenue/watched-addresses.ts'
import type { LedgerStores } from '../../src/revenue/ledger-stores.ts'
import { BackfillReplaced, type ActiveBackfill } from './active-backfill.ts'
import type { BackfillDeps } from './backfill-deps.ts'

/** Checkpoints of accounts that are deleted at once. */
const DELETED_AT_ONCE = 100
/** Wait before a ledger is compared again that differed, in milliseconds: each comparison reads all of its rows. */
const DIFFERENT = { floorMs: 10_000, ceilingMs: 3_600_000 }

/** Ends the reading of a range: sums, and the comparison with the chain. */
export class BackfillClosing {
  readonly #deps: BackfillDeps
  readonly #accounts: Documents<BackfillAccount, 'open'>
  readonly #watches: WatchedAddresses
  readonly #reader: LedgerReader
  /** Comparisons in a row that found differences, by backfill. */
  readonly #different = new WeakMap<ActiveBackfill, number>()

  constructor(deps: BackfillDeps) {
    const { documents } = deps.storage
    this.#deps = deps
    this.#accounts = new Documents(documents, BACKFILL_ACCOUNT)
    this.#watches = new WatchedAddresses(documents)
    this.#reader = new LedgerReader(deps.storage)
  }

  /** Packs the rows of a range that was read, with their sums; then shows them. */
  async sumUp(backfill: ActiveBackfill): Promise<void> {
    const { watched, job } = backfill
    const { history = NO_HISTORY } = watched
    const generation = Math.max(job.generation, history.generation) + 1
    await backfill.save({ generation })
    const read = job.run === null ? [] : job.isImport ? [job.run] : readRanges(job.run, job.unavailable)
    const archived = [...united([...history.archived, ...read])]
    const packer = this.#packer()
    const packed = { staged: read, earlier: history.isPaged ? read : archived }
    await packer.pack(watched, packed)
    const changed = await this.#watches.changeHistory(watched, (now) => {
      if (generation <= now.generation) return now
      // Rows that another request has imported meanwhile are packed by that one.
      const isSame = now.requestedAtMs === job.requestedAtMs
      const restaged = isSame ? timedWithout(now.restaged, read) : now.restaged
      return { ...now, archived, generation, isPaged: true, restaged }
    })
    if (changed === null) throw new BackfillReplaced()
    backfill.watched = changed
    await backfill.save({ phase: 'starting', run: null })
    await this.#removeAccounts(backfill)
    await packer.removePacked(watched, packed)
  }

  #packer(): ArchivePacker {
    const { storage, lead } = this.#deps
    const isOurs = storage.isShared ? async () => lead.isHeld : null
    return new ArchivePacker(storage, { token: lead.token ?? 1, isOurs }, yieldToEventLoop)
  }

  /** Compares the ledger with the chain. Resolves with the milliseconds until the next comparison; 0 if it is equal. */
  async check(backfill: ActiveBackfill, signal: AbortSignal): Promise<number> {
    const storeAt = async (slot: number): Promise<LedgerStores | null> => {
      const end = await this.#reader.end()
      return end !== null && end.slot >= slot ? this.#deps.storage : null
    }
    const { node } = this.#deps
    const check = await checkLedger(
      backfill.watched,
      { node, storeAt, pause: () => yieldToEventLoop() },
      signal
    )
    if (check === null) return DIFFERENT.floorMs / 10
    const { slot, differences, unrewarded } = check
    const others = backfill.job.holes.filter(({ reason }) => reason !== 'rewards-absent')
    const count = differences.length
    await backfill.save({
      phase: count === 0 ? 'done' : 'checking',
      check: { slot, count, differences: differences.slice(0, DIFFERENCES_STORED_MAX) },
      holes: [
        ...others,
        ...(unrewarded === null ? [] : [{ reason: 'rewards-absent' as const, ...unrewarded, blocks: null }])
      ],
      note: null
    })
    if (count === 0) return 0
    const times = (this.#different.get(backfill) ?? 0) + 1
    this.#different.set(backfill, times)
    return backoffMs(DIFFERENT, times)
  }

  async #removeAccounts({ watched }: ActiveBackfill): Promise<void> {
    for (;;) {
      const page = await this.#accounts.list(archivePartition(watched), { limit: DELETED_AT_ONCE })
      if (page.documents.length === 0) return
      await Promise.all(page.documents.map(async (document) => this.#accounts.delete(document)))
    }
  }
}

/** Returns the slots of `ranges` that no range of `removed` has, with unknown times. */
const timedWithout = (ranges: readonly TimedRange[], removed: readonly SlotRange[]): TimedRange[] =>
  without(ranges, removed).map((range) => ({ ...range, fromTs: null, toTs: null }))

/** Returns the slots of a range that the node had. */
function readRanges(run: TimedRange, unavailable: readonly TimedRange[]): readonly TimedRange[] {
  return without([run], unavailable).map(({ from, to }) => ({
    from,
    to,
    fromTs: from === run.from ? run.fromTs : null,
    toTs: to === run.to ? run.toTs : null
  }))
}
