import { distinctPubkeys, pubkeyMapKey, type Pubkey } from '../chain/pubkey.ts'
import type { AccountSet } from './account-set.ts'
import { CLOCK_SYSVAR, readClock } from './clock.ts'
import { metaplexAddress } from './metaplex.ts'
import { readMintAccount, type MintAccount } from './mint-account.ts'
import { distantMetadata, mintFacts, needsClock, type MintReading } from './mint-facts.ts'
import { isRefused } from './optional-key.ts'
import type { Account, AccountNode } from './ports.ts'
import { accountSetOf, type SourceAccount } from './source-accounts.ts'

/** The facts of a mint, with the accounts that they were read from. */
export interface ReadMint {
  readonly reading: MintReading
  readonly sources: readonly SourceAccount[]
}

/**
 * Reads mints in the given order, each with two accounts: the mint and its Metaplex metadata. One second request
 * covers all mints with metadata elsewhere, or with facts that depend on the clock. The slot is the older
 * one of both requests. Rejects like the node.
 */
export async function readMints(
  node: AccountNode,
  mints: readonly Pubkey[],
  signal: AbortSignal
): Promise<{ readonly slot: number; readonly mints: readonly ReadMint[] }> {
  const { slot, accounts } = await node.accounts(
    mints.flatMap((mint) => [mint, metaplexAddress(mint)]),
    signal
  )
  const first = mints.map((mint, at): SourceAccount[] => [
    { address: mint, account: accounts[2 * at] ?? null },
    { address: metaplexAddress(mint), account: accounts[2 * at + 1] ?? null }
  ])
  const lacking = mints.map((mint, at) => furtherOf(mint, first[at]![0]!.account))
  const further = distinctPubkeys(lacking.flat())
  const second = further.length === 0 ? { slot, accounts: [] } : await node.accounts(further, signal)
  const found = new Map(further.map((address, at) => [pubkeyMapKey(address), second.accounts[at] ?? null]))
  return {
    slot: Math.min(slot, second.slot),
    mints: mints.map((mint, at) => {
      const beside = lacking[at]!.map((address) => ({
        address,
        account: found.get(pubkeyMapKey(address)) ?? null
      }))
      const sources = [...first[at]!, ...beside]
      return { reading: mintReading(mint, accountSetOf(sources)), sources }
    })
  }
}

/** Returns the facts of a mint from accounts of one reading. */
export function mintReading(mint: Pubkey, accounts: AccountSet): MintReading {
  const account = accounts.get(mint)
  const known = mintAccountIn(account)
  const elsewhere = known === null ? null : distantMetadata(mint, known)
  return mintFacts(mint, {
    account,
    metaplex: accounts.get(metaplexAddress(mint)),
    pointed: elsewhere === null ? null : accounts.get(elsewhere),
    clock: known !== null && needsClock(known) ? readClock(accounts.get(CLOCK_SYSVAR)) : null
  })
}

/** Returns the addresses of a mint's further accounts: its metadata elsewhere, and the clock. */
function furtherOf(mint: Pubkey, account: Account | null): Pubkey[] {
  const known = mintAccountIn(account)
  if (known === null) return []
  const elsewhere = distantMetadata(mint, known)
  return [...(elsewhere === null ? [] : [elsewhere]), ...(needsClock(known) ? [CLOCK_SYSVAR] : [])]
}

function mintAccountIn(account: Account | null): MintAccount | null {
  const read = account === null ? null : readMintAccount(account)
  return read === null || isRefused(read) ? null : read
}
