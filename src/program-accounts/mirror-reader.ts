import type { AccountsPage, AccountsQuery, Storage } from '../../storage/port.ts'
import { PAGE_BYTES_MAX } from '../../storage/port/program-accounts.ts'
import { atOnce, type RunPiece } from '../work/turns.ts'
import type { Pubkey } from '../chain/pubkey.ts'
import { pubkeyToBase58 } from '../chain/pubkey.ts'
import { matcherOf, type AccountFilter } from './account-filters.ts'
import { isReady, lookupsOf } from './indexed-filters.ts'
import { Whitelist, type ProgramStatus } from './whitelist.ts'

export type FilteredQuery = Pick<AccountsQuery, 'slot' | 'after' | 'limit' | 'examined'> & {
  readonly filters: readonly AccountFilter[]
}

export const WAYS_TO_SELECT = ['index', 'scan'] as const
/** Whether an index found the accounts of a page; if not, all accounts were scanned. */
export type SelectedBy = (typeof WAYS_TO_SELECT)[number]

export interface ReadPage {
  readonly page: AccountsPage
  readonly selectedBy: SelectedBy
  /** As of after the page: versions of its slot may have been dropped meanwhile. */
  readonly now: ProgramStatus | null
}

/** Versions that a piece of a scan examines, and accounts that it finds: some milliseconds on the event loop. */
const PIECE_EXAMINED = 1_000
const PIECE_ACCOUNTS = 250
/** The same for entries of an index, which are counted fifteenfold and read by threads. */
const PIECE_EXAMINED_BY_INDEX = 4_000

/** Reads pages of mirrored accounts: by an index where one that is ready covers a filter. */
export class MirrorReader {
  readonly #store: Storage['programAccounts']
  readonly #whitelist: Whitelist
  readonly #count: (selectedBy: SelectedBy) => void

  /** @param count Called for each page. */
  constructor(
    { documents, programAccounts }: Pick<Storage, 'documents' | 'programAccounts'>,
    count: (selectedBy: SelectedBy) => void
  ) {
    this.#store = programAccounts
    this.#whitelist = new Whitelist(documents)
    this.#count = count
  }

  /** Returns the status of a program; null if it is not on the whitelist. */
  status(program: Pubkey): Promise<ProgramStatus | null> {
    return this.#whitelist.get(pubkeyToBase58(program))
  }

  /** Reads a page in pieces, given the status as of before it. */
  async page(
    program: Pubkey,
    status: ProgramStatus,
    { filters, ...query }: FilteredQuery,
    runPiece: RunPiece = atOnce
  ): Promise<ReadPage> {
    const matches = matcherOf(filters)
    const page = await this.#pieces(
      program,
      { ...query, matches, lookups: lookupsOf(filters, status) },
      runPiece
    )
    const now = await this.status(program)
    // An index that is removed meanwhile may have lost entries already.
    if (page.index !== null && now !== null && !isReady(page.index, now))
      return this.page(
        program,
        { ...now, program: { ...now.program, indexes: [] } },
        { filters, ...query },
        runPiece
      )
    const selectedBy = page.index === null ? 'scan' : 'index'
    this.#count(selectedBy)
    return { page, selectedBy, now }
  }

  async #pieces(
    program: Pubkey,
    { after, limit, examined: examinedMax, lookups = [], ...query }: AccountsQuery,
    runPiece: RunPiece
  ): Promise<AccountsPage> {
    const accounts: AccountsPage['accounts'][number][] = []
    let examined = 0
    let bytes = 0
    let next = after
    let named = lookups
    for (;;) {
      const piece = await runPiece(() =>
        this.#store.page(program, {
          ...query,
          after: next,
          lookups: named,
          limit: Math.min(limit - accounts.length, PIECE_ACCOUNTS),
          examined: Math.min(
            examinedMax - examined,
            named.length > 0 ? PIECE_EXAMINED_BY_INDEX : PIECE_EXAMINED
          )
        })
      )
      const { index } = piece
      // All pieces of a page use the index that the first one has chosen.
      named = named.filter(({ offset, length }) => offset === index?.offset && length === index.length)
      examined += piece.examined
      for (const each of piece.accounts) {
        accounts.push(each)
        bytes += each.account.data.length
      }
      const isFull = accounts.length >= limit || examined >= examinedMax || bytes >= PAGE_BYTES_MAX
      if (piece.next === null || isFull) return { accounts, next: piece.next, index, examined }
      next = piece.next
    }
  }
}
