import t from 'tap'
import { LayoutTable } from '../../../src/chain/layout.ts'
import { anchorSelfCall } from '../../../src/chain/venue.ts'
import { VENUES } from '../../../src/chain/venues.ts'
import { fixtureFiles, fixturesDirectory, testWithFixtures } from '../../fixtures.ts'
import { jupiterFeeEvent, jupiterSwapEvent, jupiterV4Swap, okxSwapV3 } from '../aggregator-layouts.ts'
import { compareVector, readVectors, type Vector } from '../vectors.ts'

const AGGREGATORS = {
  events: new LayoutTable([jupiterV4Swap, jupiterSwapEvent, jupiterFeeEvent]),
  instructions: new LayoutTable([okxSwapV3]),
  statedEventOffset: anchorSelfCall
}

/** Our field names for names that a source made up; null for one that is not in the bytes. */
const ALIASES: Readonly<Record<string, Readonly<Record<string, string | null>>>> = {
  'raydium-amm-v4': { log_type: null },
  'meteora-dbc': { event: null, len: null },
  // One source names the pool as other events do, and adds facts of the instruction.
  'raydium-launchlab': { pool: 'poolState', mint: null, isBuy: null },
  // One event stands with two values that only the pool's account has.
  'pumpswap unpack_create_pool_v2_event': { coin_creator_fee_bps: null, coin_creator_fee: null }
}

testWithFixtures(t, 'all 125 vectors of the catalogue agree with what their sources state', (t) => {
  let agreed = 0
  let fields = 0
  for (const file of fixtureFiles('vectors')) {
    const name = file.replace(/^.*[/\\]|\.json$/g, '')
    for (const vector of readVectors(fixturesDirectory(), name)) {
      const aliases = ALIASES[`${name} ${vector.name}`] ?? ALIASES[name] ?? {}
      const { found, differences } = compareVector(layoutsFor(name), asStated(vector), aliases)
      t.strictSame(
        { differences, isKnown: found !== null },
        { differences: [], isKnown: true },
        `${name} ${vector.name}`
      )
      fields += Object.keys(vector.expected).length
      agreed++
    }
  }
  t.equal(agreed, 125)
  t.ok(fields > agreed, `${fields} fields were compared`)
})

function layoutsFor(name: string): typeof AGGREGATORS | (typeof VENUES)[number] {
  return VENUES.find(({ id }) => id === name.replace('lifinity-v2', 'lifinity')) ?? AGGREGATORS
}

/** Returns a vector as an event, if the catalogue has it as the self-call by which a program states the event. */
function asStated(vector: Vector): Vector {
  const isSelfCall = anchorSelfCall(Uint8Array.fromHex(vector.data_hex)) >= 0
  return isSelfCall ? { ...vector, type: 'event' } : vector
}
