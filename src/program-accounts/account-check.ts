import { pubkeyMapKey, pubkeyToBase58, type Pubkey } from '../chain/pubkey.ts'
import type { AddressedAccount } from '../accounts/ports.ts'
import type { MirrorProgress } from './program.ts'
import type { ProgramAccountStore } from '../../storage/port.ts'

/** Yields a line for each account whose state in the mirror, as its status says, differs from that at the node. */
export async function* accountDifferences(
  store: Pick<ProgramAccountStore, 'pages'>,
  program: Pubkey,
  { slot, abandoned }: { readonly slot: number } & Pick<MirrorProgress, 'abandoned'>,
  accounts: readonly AddressedAccount[]
): AsyncGenerator<string> {
  const left = new Map(accounts.map((each) => [pubkeyMapKey(each.address), each]))
  const all = { slot, abandoned, limit: Infinity, examined: Infinity }
  for await (const page of store.pages(program, all))
    for (const { address, account } of page.accounts) {
      const name = `account ${pubkeyToBase58(address)} at slot ${slot}`
      const key = pubkeyMapKey(address)
      const there = left.get(key)?.account
      left.delete(key)
      if (there === undefined) yield `${name}: mirrored, but absent at the node`
      else {
        if (there.lamports !== account.lamports)
          yield `${name}: ${account.lamports} lamports mirrored, the node has ${there.lamports}`
        if (there.executable !== account.executable)
          yield `${name}: executable is mirrored as ${account.executable}, the node has ${there.executable}`
        if (there.rentEpoch !== account.rentEpoch)
          yield `${name}: rent epoch ${account.rentEpoch} mirrored, the node has ${there.rentEpoch}`
        const at = firstDifference(account.data, there.data)
        if (at !== null)
          yield `${name}: data differs from byte ${at} on; ${account.data.length} bytes mirrored, the node has ${there.data.length}`
      }
    }
  for (const { address } of left.values())
    yield `account ${pubkeyToBase58(address)} at slot ${slot}: not mirrored, and the node has it`
}

function firstDifference(a: Uint8Array, b: Uint8Array): number | null {
  const shorter = Math.min(a.length, b.length)
  for (let i = 0; i < shorter; i++) if (a[i] !== b[i]) return i
  return a.length === b.length ? null : shorter
}
