import type {
  AccountsPage,
  AccountsQuery,
  IndexedRange,
  ProgramAccount,
  Storage
} from '../../storage/port.ts'
import type { WorkCount } from '../access/work-meter.ts'
import { atOnce, type RunPiece } from '../kernel/work/turns.ts'
import type { WorkKind } from '../kernel/work/work-units.ts'
import type { Pubkey } from '../chain/pubkey.ts'
import { pubkeyToBase58 } from '../chain/pubkey.ts'
import { matcherOf, type AccountFilter } from './account-filters.ts'
import { isReady, lookupsOf } from './indexed-filters.ts'
import { Whitelist, type ProgramStatus } from './whitelist.ts'

export type FilteredQuery = Pick<AccountsQuery, 'slot' | 'after' | 'limit' | 'examined'> & {
  readonly filters: readonly AccountFilter[]
  /** The read ends once its accounts have this many bytes of data; absent for no limit. */
  readonly bytes?: number
}

/** Receives accounts in their order. Returns false to end the read. */
export type TakeAccounts = (accounts: AccountsPage['accounts']) => boolean | Promise<boolean>

export const WAYS_TO_SELECT = ['index', 'scan'] as const
/** Whether an index found the accounts; if not, all accounts were scanned. */
export type SelectedBy = (typeof WAYS_TO_SELECT)[number]

/** The end of a read. */
export interface MirrorRead {
  readonly selectedBy: SelectedBy
  /** Number of account versions that were examined. */
  readonly examined: number
  /** The next read continues after this address; null at the end. */
  readonly next: Pubkey | null
  /** Status after the read: versions of its slot may have been dropped during the read. */
  readonly now: ProgramStatus | null
}

/** The conditions under which a read runs. */
export interface ReadTerms {
  /** Runs each piece of the read. */
  readonly runPiece?: RunPiece
  /** Ends the read before its next piece, with the signal's reason. */
  readonly signal?: AbortSignal
  /** Counts the accounts of each piece as soon as it is read, so that a failed read is charged up to there. */
  readonly work?: WorkCount | undefined
}

/** The kinds of work that a read counts. */
export const ACCOUNT_WORK = [
  'account',
  'accountInMemory',
  'accountOfCluster',
  'row'
] as const satisfies readonly WorkKind[]

/** Reads mirrored accounts, by an index if a ready one covers a filter. */
export class MirrorReader {
  readonly #store: Storage['programAccounts']
  /** Whether a cluster has the accounts. */
  readonly #isShared: boolean
  readonly #whitelist: Whitelist
  readonly #count: (selectedBy: SelectedBy) => void

  /** @param count Called for each read. */
  constructor(
    { documents, programAccounts, isShared }: Pick<Storage, 'documents' | 'programAccounts' | 'isShared'>,
    count: (selectedBy: SelectedBy) => void
  ) {
    this.#store = programAccounts
    this.#isShared = isShared
    this.#whitelist = new Whitelist(documents)
    this.#count = count
  }

  /** Returns the status of a program; null if it is not on the whitelist. */
  status(program: Pubkey): Promise<ProgramStatus | null> {
    return this.#whitelist.get(pubkeyToBase58(program))
  }

  /**
   * Reads accounts, given the status before the read. Each page of the store is one piece of work, with its `take`. A read
   * that ends early closes its open pages in the store.
   */
  async read(
    program: Pubkey,
    status: ProgramStatus,
    { filters, bytes: bytesMax = Infinity, ...query }: FilteredQuery,
    take: TakeAccounts,
    { runPiece = atOnce, signal, work }: ReadTerms = {}
  ): Promise<MirrorRead> {
    const matches = matcherOf(filters)
    const { abandoned } = status.progress
    const lookups = lookupsOf(filters, status)
    let pages = this.#store.pages(program, { ...query, matches, lookups, abandoned })
    let { after, limit, examined: left } = query
    let bytes = 0
    try {
      for (;;) {
        signal?.throwIfAborted()
        const read = await runPiece(async () => {
          const page = (await pages.next()).value!
          if (work !== undefined) this.#charge(work, page)
          if (page.index !== null && !(await this.#isReady(program, page.index))) return null
          return { page, isTaken: await take(page.accounts) }
        })
        if (read === null) {
          // An index that was removed meanwhile may already have lost entries.
          await pages.return()
          pages = this.#store.pages(program, { ...query, after, limit, examined: left, matches, abandoned })
          continue
        }
        const { page, isTaken } = read
        limit -= page.accounts.length
        left -= page.examined
        for (const { account } of page.accounts) bytes += account.data.length
        after = page.next ?? after
        if (page.next !== null && isTaken && limit > 0 && left > 0 && bytes < bytesMax) continue
        const selectedBy = page.index === null ? 'scan' : 'index'
        this.#count(selectedBy)
        const examined = query.examined - left
        return { selectedBy, examined, next: page.next, now: await this.status(program) }
      }
    } finally {
      await pages.return()
    }
  }

  /**
   * Reads accounts of a program at a slot, given its status, in the order of the addresses; null for an account that does not
   * exist.
   */
  async at(
    program: Pubkey,
    { progress }: ProgramStatus,
    slot: number,
    addresses: readonly Pubkey[],
    work?: WorkCount
  ): Promise<(ProgramAccount | null)[]> {
    const versions = await this.#store.at(program, slot, addresses, progress.abandoned)
    work?.count(this.#isShared ? 'accountOfCluster' : 'account', addresses.length)
    return versions.map((version) => version?.account ?? null)
  }

  #charge(work: WorkCount, { examined, inMemory = 0, accounts }: AccountsPage): void {
    work.count(this.#isShared ? 'accountOfCluster' : 'account', examined - inMemory)
    work.count('accountInMemory', inMemory)
    work.count('row', accounts.length)
  }

  async #isReady(program: Pubkey, index: IndexedRange): Promise<boolean> {
    const status = await this.status(program)
    // A program that is removed is refused after the read.
    return status === null || isReady(index, status)
  }
}
