import t from 'tap'
import { decodeTransaction } from '../../../src/chain/decode.ts'
import type { Trade } from '../../../src/chain/events.ts'
import { pubkeyToBase58 } from '../../../src/chain/pubkey.ts'
import { readRpcTransaction } from '../../../src/chain/rpc/transaction.ts'
import { VENUE_IDS, type VenueId } from '../../../src/chain/venue-id.ts'
import { fixtureBlock, fixtureTransactions, testWithFixtures } from '../../fixtures.ts'
import { readFacts } from '../facts/encoding.ts'
import { publishedCall, publishedPools } from './published-accounts.ts'
import { RawRecord } from './raw-record.ts'

/** Venues whose trades for SOL name one token account, the token's: the curve holds SOL as lamports. */
const WITH_LAMPORTS: readonly VenueId[] = ['pumpfun', 'moonshot']

function vaultsOf({ vaults }: Trade): string[] {
  return [vaults?.in, vaults?.out].flatMap((vault) => (vault ? [pubkeyToBase58(vault)] : []))
}

/** Yields recorded trades with the vaults that the published account list of their own call names. */
function* namedVaults() {
  const block = fixtureBlock().transactions.map((result) => result as unknown)
  for (const result of [...fixtureTransactions().map((each) => each.result), ...block]) {
    const recorded = (
      'result' in (result as object) ? (result as { result: object }).result : result
    ) as object
    const outcome = readRpcTransaction({ slot: 1, blockTime: 1, ...recorded })
    if (outcome.kind !== 'transaction') continue
    const raw = new RawRecord(recorded)
    for (const event of decodeTransaction(outcome.transaction).events) {
      if (event.kind !== 'trade') continue
      const call = raw.calls.find(
        (each) =>
          each.ixIndex === event.ixIndex &&
          each.innerIxIndex === event.innerIxIndex &&
          publishedCall(each)?.venue === event.venue
      )
      const pool = pubkeyToBase58(event.pool)
      const named = call && publishedPools(call).find((each) => each.pool === pool)
      if (named !== undefined) yield { trade: event, raw, vaults: named.vaults }
    }
  }
}

testWithFixtures(t, 'a recorded trade names the vaults of its published account list, by its mints', (t) => {
  const shown = new Set<VenueId>()
  for (const { trade, raw, vaults } of namedVaults()) {
    // Later instructions of pumpfun also name a token account for the quote, which stays empty if that is SOL.
    const tokens = WITH_LAMPORTS.includes(trade.venue) ? vaults.slice(0, 1) : vaults
    t.strictSame(vaultsOf(trade).sort(), [...tokens].sort(), trade.venue)
    for (const [side, mint] of [
      ['in', trade.inMint],
      ['out', trade.outMint]
    ] as const) {
      const vault = trade.vaults?.[side] ?? null
      const stated = vault === null ? null : raw.mintOf(pubkeyToBase58(vault))
      if (stated !== null) t.equal(stated, pubkeyToBase58(mint), `${trade.venue} ${side}`)
    }
    shown.add(trade.venue)
  }
  t.strictSame(
    VENUE_IDS.filter((venue) => !shown.has(venue)),
    ['raydium-stable'],
    'no record of it is known'
  )
  t.end()
})

t.test('every fact of mainnet names the vaults of its trades', async (t) => {
  const venues = new Set<VenueId>()
  for (const { transaction } of readFacts().flatMap(({ facts }) => facts))
    for (const event of decodeTransaction(transaction).events) {
      if (event.kind !== 'trade') continue
      t.equal(vaultsOf(event).length, WITH_LAMPORTS.includes(event.venue) ? 1 : 2, event.venue)
      venues.add(event.venue)
    }
  t.equal(venues.size, VENUE_IDS.length - 1)
})
