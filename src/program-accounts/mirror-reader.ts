import type { AccountsPage, AccountsQuery, Storage } from '../../storage/port.ts'
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

  /** Reads a page, given the status as of before it. */
  async page(
    program: Pubkey,
    status: ProgramStatus,
    { filters, ...query }: FilteredQuery
  ): Promise<ReadPage> {
    const matches = matcherOf(filters)
    const lookups = lookupsOf(filters, status)
    const page = await this.#store.page(program, { ...query, matches, lookups })
    const now = await this.status(program)
    // An index that is removed meanwhile may have lost entries already.
    if (page.index !== null && now !== null && !isReady(page.index, now))
      return this.page(program, { ...now, program: { ...now.program, indexes: [] } }, { filters, ...query })
    const selectedBy = page.index === null ? 'scan' : 'index'
    this.#count(selectedBy)
    return { page, selectedBy, now }
  }
}
