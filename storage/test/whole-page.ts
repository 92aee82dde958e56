import type { Pubkey } from '../../src/chain/pubkey.ts'
import type { AccountsPage, AccountsQuery, ProgramAccountStore } from '../port.ts'

/** Reads all pages of an answer, and returns them as one. */
export async function wholePage(
  store: Pick<ProgramAccountStore, 'pages'>,
  program: Pubkey,
  query: AccountsQuery
): Promise<AccountsPage> {
  const pages = await Array.fromAsync(store.pages(program, query))
  return {
    ...pages.at(-1)!,
    accounts: pages.flatMap(({ accounts }) => accounts),
    examined: pages.reduce((sum, { examined }) => sum + examined, 0)
  }
}
