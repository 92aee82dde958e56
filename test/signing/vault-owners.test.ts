import t from 'tap'
import { decodeTransaction } from '../../src/chain/decode.ts'
import { pubkeyMapKey, pubkeyToBase58, samePubkey, type Pubkey } from '../../src/chain/pubkey.ts'
import type { Transaction } from '../../src/chain/transaction.ts'
import { VENUE_IDS, type VenueId } from '../../src/chain/venue-id.ts'
import { sharedOwners, vaultOwner } from '../../src/signing/vault-owners.ts'
import { isLaunchpad } from '../../src/market/curves.ts'
import { readFacts } from '../chain/facts/encoding.ts'
import { key, USD_COIN } from '../market/world.ts'

/** Venues of which each pool has its own owner, derived from its address. */
const OF_POOL: readonly VenueId[] = ['lifinity', 'phoenix']

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
        t.equal(pubkeyToBase58(owner), pubkeyToBase58(recorded), venue)
        const isShared = !samePubkey(owner, event.pool) && !OF_POOL.includes(venue)
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

t.test('the vaults of all pools of Raydium stable have one owner, known without a trade', async (t) => {
  // No trade of it is recorded. Raydium's list of pools names this authority for its pools of version 5.
  const authority = '3uaZBfHPfmpAHW7dsimC1SnyR61X4bJqQZKWmRSCXJxv'
  const { pools } = sharedOwners(USD_COIN)
  t.ok([...pools.values()].map(pubkeyToBase58).includes(authority))
  const pool = { venue: 'raydium-stable', program: key(1), pool: key(2) } as const
  t.equal(pubkeyToBase58(vaultOwner(pool, USD_COIN)), authority)
})
