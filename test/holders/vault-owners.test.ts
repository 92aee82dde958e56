import t from 'tap'
import { decodeTransaction } from '../../src/chain/decode.ts'
import { pubkeyMapKey, pubkeyToBase58, samePubkey, type Pubkey } from '../../src/chain/pubkey.ts'
import type { Transaction } from '../../src/chain/transaction.ts'
import { VENUE_IDS, type VenueId } from '../../src/chain/venue-id.ts'
import { sharedOwners, vaultOwner } from '../../src/holders/vault-owners.ts'
import { isLaunchpad } from '../../src/market/curves.ts'
import { readFacts } from '../chain/facts/encoding.ts'

/** Venues of which only the account of a vault tells the owner. */
const BY_ACCOUNT: readonly VenueId[] = ['raydium-stable', 'lifinity', 'phoenix']

function ownerOf({ keys, preTokenBalances, postTokenBalances }: Transaction, account: Pubkey): Pubkey | null {
  const balance = [...preTokenBalances, ...postTokenBalances].find((each) =>
    samePubkey(keys.bytes(each.account), account)
  )
  return balance?.owner ?? null
}

t.test('the vaults of recorded trades have the owner that follows from the venue', async (t) => {
  const shown = new Set<VenueId>()
  for (const { transaction } of readFacts().flatMap(({ facts }) => facts))
    for (const event of decodeTransaction(transaction).events) {
      if (event.kind !== 'trade') continue
      const { venue, vaults, inMint, outMint } = event
      for (const [vault, mint] of [
        [vaults?.in, inMint],
        [vaults?.out, outMint]
      ] as const) {
        const recorded = vault ? ownerOf(transaction, vault) : null
        if (recorded === null) continue
        const owner = vaultOwner(event, mint)
        if (owner === null) t.ok(BY_ACCOUNT.includes(venue), venue)
        else t.equal(pubkeyToBase58(owner), pubkeyToBase58(recorded), venue)
        const isShared = owner !== null && !samePubkey(owner, event.pool)
        const { pools, curves } = sharedOwners(mint)
        t.equal(
          (isLaunchpad(venue) ? curves : pools).has(pubkeyMapKey(recorded)),
          isShared,
          `${venue}, shared`
        )
        shown.add(venue)
      }
    }
  t.strictSame(
    VENUE_IDS.filter((venue) => !shown.has(venue)),
    ['raydium-stable']
  )
})
