import { pubkeyFromBase58, samePubkey, type Pubkey } from '../chain/pubkey.ts'
import { metaplexAddress } from './metaplex.ts'
import { readMintAccount } from './mint-account.ts'
import { distantMetadata, mintFacts, needsEpoch, type MintReading } from './mint-facts.ts'
import { isRefused } from './optional-key.ts'
import type { Account, AccountNode } from './ports.ts'

/** The sysvar that tells the epoch, and the program that owns sysvars. */
export const CLOCK_SYSVAR = pubkeyFromBase58('SysvarC1ock11111111111111111111111111111111')
export const SYSVAR_OWNER = pubkeyFromBase58('Sysvar1111111111111111111111111111111111111')
const CLOCK_BYTES = 40
const EPOCH_AT = 16

/**
 * Reads mints in the order given, with two accounts each: the mint and its metadata of Metaplex. A mint whose metadata
 * stands elsewhere, or whose transfer fee depends on the epoch, takes a second request for all of them together. The slot is
 * the older one of both. Rejects like the node.
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
      needsEpoch: known !== null && needsEpoch(known)
    }
  })
  const distant = sources.flatMap(({ elsewhere }) => (elsewhere === null ? [] : [elsewhere]))
  const wantsEpoch = sources.some((each) => each.needsEpoch)
  const further = [...distant, ...(wantsEpoch ? [CLOCK_SYSVAR] : [])]
  const second = further.length === 0 ? { slot, accounts: [] } : await node.accounts(further, signal)
  const epoch = wantsEpoch ? epochOf(second.accounts.at(-1) ?? null) : null
  const readings = sources.map(({ mint, account, metaplex, elsewhere }) => {
    const pointed = elsewhere === null ? null : (second.accounts[distant.indexOf(elsewhere)] ?? null)
    return mintFacts(mint, { account, metaplex, pointed, epoch })
  })
  return { slot: Math.min(slot, second.slot), readings }
}

/** Returns the epoch that the clock tells; null for an account that is not the clock. */
function epochOf(clock: Account | null): bigint | null {
  if (clock === null || !samePubkey(clock.owner, SYSVAR_OWNER) || clock.data.length !== CLOCK_BYTES)
    return null
  return new DataView(clock.data.buffer, clock.data.byteOffset).getBigUint64(EPOCH_AT, true)
}
