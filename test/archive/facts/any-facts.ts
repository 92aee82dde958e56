import fc from 'fast-check'
import type { ArchivedRow } from '../../../src/archive/facts/archived-row.ts'
import type { ArchivedBlock } from '../../../src/archive/facts/block-pack.ts'
import type { TradeFact } from '../../../src/archive/rows/trade-fact.ts'
import type { DecodedBlock } from '../../../src/market/block.ts'
import { block, buy, key, NOON, OTHER, SOL, solSale, TOKEN, USD_COIN } from '../../market/world.ts'

/** Returns a trade of a file. */
export function factOf(replaced: Partial<TradeFact> = {}): TradeFact {
  return {
    slot: 10,
    blockTime: NOON,
    signature: signature(1),
    venue: 'pumpswap',
    program: key(200),
    pool: key(100),
    trader: key(300),
    in: { mint: SOL, amountRaw: 1_000_000_000n, decimals: 9 },
    out: { mint: TOKEN, amountRaw: 5_000_000n, decimals: 6 },
    place: { txIndex: 1, ixIndex: 2, innerIxIndex: null },
    solUsd: null,
    details: null,
    ...replaced
  }
}

export const rowOf = (replaced: Partial<TradeFact> = {}, line = 1): ArchivedRow => ({
  fact: factOf(replaced),
  line
})

export const signature = (number: number): Uint8Array => new Uint8Array(64).fill(number)

/** Returns a whole block, as an import decodes it. */
export const archivedBlock = (decoded: DecodedBlock): ArchivedBlock => ({
  block: decoded,
  decoderVersion: 2,
  venues: null,
  unseen: null
})

const SLOTS = 12
const timeOf = (slot: number): number => NOON + Math.floor(slot / 2) * 40

const optional = <T>(value: fc.Arbitrary<T>): fc.Arbitrary<T | null> => fc.option(value, { freq: 4 })

/**
 * A trade of a few transactions, pools and mints, with any facts left out, so that many state one trade, differently or the
 * same.
 */
export const anyRow: fc.Arbitrary<ArchivedRow> = fc
  .record({
    slot: optional(fc.nat(SLOTS)),
    late: fc.constantFrom(0, 0, 0, 1, -1, -100),
    transaction: fc.integer({ min: 1, max: 6 }),
    pool: optional(fc.constantFrom(key(100), key(101))),
    trader: optional(fc.constantFrom(key(300), key(301))),
    program: optional(fc.constant(key(200))),
    hasTime: fc.constantFrom(true, true, false),
    pair: fc.constantFrom([SOL, TOKEN], [TOKEN, SOL], [OTHER, TOKEN], [SOL, USD_COIN], [SOL, OTHER]),
    amounts: fc.tuple(fc.constantFrom(1_000_000n, 2_500_000n), fc.constantFrom(3_000n, 40_000_000n)),
    decimals: fc.tuple(optional(fc.constantFrom(6, 6, 6, 9)), optional(fc.constantFrom(6, 6, 6, 9))),
    place: fc.record({
      txIndex: optional(fc.nat(3)),
      ixIndex: optional(fc.nat(2)),
      innerIxIndex: optional(fc.nat(1))
    }),
    solUsd: fc.constantFrom(null, null, 150.5),
    line: fc.integer({ min: 1, max: 40 })
  })
  .map(({ slot, late, transaction, hasTime, pair, amounts, decimals, place, line, ...facts }) => {
    const [inMint, outMint] = pair as [Uint8Array, Uint8Array]
    const about = slot ?? transaction * 2
    const stated = (mint: Uint8Array, number: number | null): number | null =>
      mint === SOL ? 9 : mint === USD_COIN ? 6 : number
    return rowOf(
      {
        slot,
        blockTime: hasTime || slot === null ? timeOf(about) + late : null,
        signature: signature(transaction),
        in: { mint: inMint, amountRaw: amounts[0], decimals: stated(inMint, decimals[0]) },
        out: { mint: outMint, amountRaw: amounts[1], decimals: stated(outMint, decimals[1]) },
        place: place.ixIndex === null ? { ...place, innerIxIndex: null } : place,
        ...facts
      },
      line
    )
  })

/** A whole block of the same slots, whose transactions partly are those of rows. */
export const anyBlock: fc.Arbitrary<ArchivedBlock> = fc
  .record({
    slot: fc.nat(SLOTS),
    version: fc.constantFrom(1, 2, 2),
    events: fc.nat(2),
    late: fc.constantFrom(0, 0, 0, -200)
  })
  .map(({ slot, version, events, late }) => {
    const made = block(
      slot,
      timeOf(slot) + late,
      [buy(1_000_000_000n, 7_000_000n), solSale(140 + slot)].slice(0, events)
    )
    const entries = made.entries.map((entry, at) => ({ ...entry, signature: signature(at + 1) }))
    return { ...archivedBlock({ ...made, entries }), decoderVersion: version }
  })

/** The time of a slot, as nodes state it. Two nodes may state different ones. */
export const anySlotTime: fc.Arbitrary<{ readonly timedSlot: number; readonly time: number }> = fc
  .record({ slot: fc.nat(SLOTS), late: fc.constantFrom(0, 0, 3, -100) })
  .map(({ slot, late }) => ({ timedSlot: slot, time: timeOf(slot) + late }))
