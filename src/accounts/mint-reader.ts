import type { Pubkey } from '../chain/pubkey.ts'
import { CLOCK_SYSVAR, readClock } from './clock.ts'
import { metaplexAddress } from './metaplex.ts'
import { readMintAccount } from './mint-account.ts'
import { distantMetadata, mintFacts, needsClock, type MintReading } from './mint-facts.ts'
import { isRefused } from './optional-key.ts'
import type { AccountNode } from './ports.ts'

/**
 * Reads mints in the given order, each with two accounts: the mint and its Metaplex metadata. One second request
 * covers all mints with metadata elsewhere, or with facts that depend on the clock. The slot is the older
 * one of both requests. Rejects like the node.
 */
export async function readMints(
  node: AccountNode,
  mints: readonly Pubkey[],
  signal: AbortSignal
): Promise<{ readonly slot: number; readonly readings: readonly MintReading[] }> {
  const { slot, accounts } = await node.accounts(
    mints.flatMap((mint) => [mint, metaplexAddress(mint)]),
    signal
  )
  const sources = mints.map((mint, at) => {
    const [account = null, metaplex = null] = accounts.slice(2 * at, 2 * at + 2)
    const read = account === null ? null : readMintAccount(account)
    const known = read === null || isRefused(read) ? null : read
    return {
      mint,
      account,
      metaplex,
      elsewhere: known === null ? null : distantMetadata(mint, known),
      needsClock: known !== null && needsClock(known)
    }
  })
  const distant = sources.flatMap(({ elsewhere }) => (elsewhere === null ? [] : [elsewhere]))
  const wantsClock = sources.some((each) => each.needsClock)
  const further = [...distant, ...(wantsClock ? [CLOCK_SYSVAR] : [])]
  const second = further.length === 0 ? { slot, accounts: [] } : await node.accounts(further, signal)
  const clock = wantsClock ? readClock(second.accounts.at(-1) ?? null) : null
  const readings = sources.map(({ mint, account, metaplex, elsewhere }) => {
    const pointed = elsewhere === null ? null : (second.accounts[distant.indexOf(elsewhere)] ?? null)
    return mintFacts(mint, { account, metaplex, pointed, clock })
  })
  return { slot: Math.min(slot, second.slot), readings }
}
