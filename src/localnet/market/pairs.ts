import { readWire } from '../../chain/wire.ts'
import { pubkeyMapKey, type Pubkey } from '../../chain/pubkey.ts'
import type { FirstPool } from './genesis.ts'
import type { ExecutedScript } from './execution.ts'
import type { Pair } from './market-state.ts'
import { LOOKUP_TABLE, SYSTEM } from '../programs.ts'
import { programAddress } from '../../signing/program-address.ts'
import type { MarketTurn } from './turn.ts'
import type { MarketPool } from './venue.ts'

/** Maximum number of addresses in one table, and in one transaction that extends it. */
const TABLE_SIZE = 250
const EXTENSION = 20
const NO_SLOT = 2n ** 64n - 1n

/** Adds an opened pool to the traded ones. */
export function addPair(turn: MarketTurn, pair: Omit<Pair, 'id' | 'tabledSlot'>): Pair {
  const { state } = turn.parts
  const added: Pair = { ...pair, id: state.head.pairs++, tabledSlot: null }
  state.pairs.set(added.id, added)
  state.touch(added)
  return added
}

/** Opens one of the first pools for a maker. */
export function openPair(turn: MarketTurn, { venue: id, base, quote, usd }: FirstPool): void {
  const { pools, people, prices, state } = turn.parts
  const venue = pools.find((candidate) => candidate.venue === id)
  if (venue === undefined) return
  const creator = turn.pick(people.makers)
  const amountOf = (mint: Pubkey): bigint => BigInt(Math.floor(usd / prices.rawUsd(mint, turn.slot)!))
  const amounts = { baseAmount: amountOf(base), quoteAmount: amountOf(quote) }
  const opened: MarketPool[] = []
  const done = turn.run({ kind: 'open', payer: creator }, (script, intend) => {
    const pool = venue.open(script, { creator, base, quote, ...amounts }, turn.world)
    opened.push(pool)
    intend({ kind: 'opening', venue: id, pool: pool.address, base, quote })
  })
  const [pool] = opened
  if (!done || pool === undefined) return
  const pair = addPair(turn, { venue: id, pool, base, quote, coin: null, depthUsd: usd })
  state.lookup.untabled.push({ pair: pair.id, addresses: accountsOf(turn.executed.at(-1)!) })
  state.touchTables()
}

/** Returns the accounts that an opening named, without its signers; trades on the pool will name them again. */
function accountsOf({ transaction }: ExecutedScript): Pubkey[] {
  const read = readWire(transaction.wire)
  if (read.kind !== 'wire') throw new Error(read.reason)
  const { keys, keyCount, header } = read.wire
  const all = Array.from({ length: keyCount }, (_, at) => keys.slice(at * 32, at * 32 + 32))
  return all.slice(header.signatures)
}

/**
 * Adds waiting accounts to a lookup table, signed by the operator, so that a route over several pools can name them.
 */
export function extendTables(turn: MarketTurn): boolean {
  const { state, people } = turn.parts
  const { lookup } = state
  const [next] = lookup.untabled
  if (next === undefined) return false
  state.touchTables()
  const known = new Set(lookup.tables.flatMap(({ addresses }) => addresses.map((key) => pubkeyMapKey(key))))
  const missing = next.addresses.filter((key) => !known.has(pubkeyMapKey(key)))
  const last = lookup.tables.at(-1)
  const hasRoom = last !== undefined && last.addresses.length + EXTENSION <= TABLE_SIZE
  const slotBytes = new DataView(new ArrayBuffer(8))
  slotBytes.setBigUint64(0, BigInt(turn.slot), true)
  const { operator } = people
  const address = hasRoom
    ? last.address
    : programAddress(
        [operator, new Uint8Array(slotBytes.buffer), Uint8Array.of(lookup.tables.length)],
        LOOKUP_TABLE
      )
  const added = missing.slice(0, EXTENSION)
  const addresses = [...(hasRoom ? last.addresses : []), ...added]
  if (added.length > 0) {
    const use = [
      { address, writable: true },
      { address: operator, signer: true, writable: true },
      { address: SYSTEM }
    ]
    const done = turn.run({ kind: 'table', payer: operator }, (script) => {
      if (!hasRoom) {
        const create = Uint8Array.of(0, 0, 0, 0, ...new Uint8Array(slotBytes.buffer), 255)
        script.call(LOOKUP_TABLE, use, create)
      }
      const extend = Uint8Array.of(
        2,
        0,
        0,
        0,
        added.length,
        0,
        0,
        0,
        0,
        0,
        0,
        0,
        ...added.flatMap((key) => [...key])
      )
      script.call(LOOKUP_TABLE, use, extend, (call) =>
        call.write(address, tableData(operator, turn.slot, addresses))
      )
    })
    if (!done) return false
    const table = { address, addresses }
    if (hasRoom) lookup.tables[lookup.tables.length - 1] = table
    else lookup.tables.push(table)
  }
  if (missing.length > EXTENSION) return true
  lookup.untabled.shift()
  const pair = state.pairs.get(next.pair)
  if (pair === undefined) return true
  pair.tabledSlot = turn.slot
  state.touch(pair)
  return true
}

/** Encodes a table's account: type 1, open, with its authority. */
function tableData(authority: Pubkey, slot: number, addresses: readonly Pubkey[]): Uint8Array {
  const data = new Uint8Array(56 + 32 * addresses.length)
  const view = new DataView(data.buffer)
  view.setUint32(0, 1, true)
  view.setBigUint64(4, NO_SLOT, true)
  view.setBigUint64(12, BigInt(slot), true)
  data[21] = 1
  data.set(authority, 22)
  for (const [at, address] of addresses.entries()) data.set(address, 56 + 32 * at)
  return data
}

/** Returns the mint of a pair that a trader pays. */
export function inMintOf({ base, quote }: Pair, isBuy: boolean): Pubkey {
  return isBuy ? quote : base
}
