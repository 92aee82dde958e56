import t from 'tap'
import { decodeTransaction } from '../../../src/chain/decode.ts'
import type { Trade } from '../../../src/chain/events.ts'
import { pubkeyToBase58 } from '../../../src/chain/pubkey.ts'
import { VENUES_BY_PROGRAM } from '../../../src/chain/venues.ts'
import { fixtureBlock, testWithFixtures } from '../../fixtures.ts'
import { decodedRecords, readTransaction, tradesOf } from './decoded-record.ts'
import { statedByJupiter, type StatedLeg } from './jupiter-statements.ts'
import { RawRecord } from './raw-record.ts'

/** Returns the legs that Jupiter states for programs of our venues. */
function legsOnVenues(raw: RawRecord): StatedLeg[] {
  return statedByJupiter(raw)
    .map(({ leg }) => leg)
    .filter((leg) => leg !== null)
    .filter(({ program }) => program !== null && VENUES_BY_PROGRAM.ofText(program) !== undefined)
}

/**
 * Returns whether a trade matches a leg. Jupiter states its offer; a venue may take less, and pays what Jupiter's account
 * received.
 */
function isLeg(trade: Trade, leg: StatedLeg): boolean {
  return (
    trade.ixIndex === leg.ixIndex &&
    pubkeyToBase58(trade.program) === leg.program &&
    pubkeyToBase58(trade.inMint) === leg.inMint &&
    pubkeyToBase58(trade.outMint) === leg.outMint &&
    trade.traderOut === leg.out &&
    (trade.traderIn === leg.offered || (trade.venue === 'phoenix' && trade.traderIn < leg.offered))
  )
}

/** Matches legs with trades in order and returns the legs without a trade. */
function legsWithoutTrade(raw: RawRecord, trades: readonly Trade[]): StatedLeg[] {
  const left = [...trades]
  return legsOnVenues(raw).filter((leg) => {
    const found = left.findIndex((trade) => isLeg(trade, leg))
    if (found >= 0) left.splice(found, 1)
    return found < 0
  })
}

testWithFixtures(t, 'every leg that Jupiter states of a recorded route is a trade with its amounts', (t) => {
  let legs = 0
  for (const { entry, raw, trades } of decodedRecords()) {
    if (raw.failed) continue
    legs += legsOnVenues(raw).length
    t.strictSame(legsWithoutTrade(raw, trades), [], entry.signature)
  }
  t.equal(legs, 100)
})

testWithFixtures(
  t,
  'every leg that Jupiter states in the recorded block is a trade with its amounts',
  (t) => {
    let legs = 0
    for (const entry of fixtureBlock().transactions) {
      const raw = new RawRecord(entry)
      if (raw.failed) continue
      const stated = legsOnVenues(raw)
      if (stated.length === 0) continue
      legs += stated.length
      const { events } = decodeTransaction(readTransaction(entry))
      t.strictSame(legsWithoutTrade(raw, tradesOf(events)), [])
    }
    t.equal(legs, 26)
  }
)
