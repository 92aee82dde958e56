import { layout } from '../../../chain/layout.ts'
import { option, struct, u128, u16, u64, u8, vec } from '../../../chain/codec.ts'
import { LOG_TAG, header, place } from '../../../chain/venues/phoenix-layouts.ts'
import type { Book, RestingOrder } from '../curves/order-book.ts'
import { SYSTEM, TOKEN } from '../../programs.ts'
import type { CallScript, LedgerView } from '../script.ts'
import { reads, signs, writes } from './account-uses.ts'
import { LOG_AUTHORITY, PROGRAM, writeMarket, type PhoenixMarket } from './phoenix-market.ts'
import { PoolTransfers, slotOf, timeOf, userAccounts, type Caller } from './pool-sides.ts'

// Source: Ellipsis-Labs/phoenix-v1, program source. Discriminators are one byte, of instructions and of events.

const SEAT_APPROVED = 1n

const requestSeat = layout('requestSeat', '0e', {})
const changeSeatStatus = layout('changeSeatStatus', '68', { status: u64 })
const depositFunds = layout('depositFunds', '0d', { quoteLots: u64, baseLots: u64 })
const cancelAllOrdersWithFreeFunds = layout('cancelAllOrdersWithFreeFunds', '07', {})
const order = struct({
  priceInTicks: u64,
  baseLots: u64,
  lastValidSlot: option(u64),
  lastValidUnixTimestamp: option(u64)
})
const placeMultiplePostOnlyOrdersWithFreeFunds = layout('placeMultiplePostOnlyOrdersWithFreeFunds', '11', {
  bids: vec(order),
  asks: vec(order),
  clientOrderId: option(u128),
  failsOnCross: u8
})
const reduceEvent = layout('Reduce', '04', {
  index: u16,
  orderSequence: u64,
  priceInTicks: u64,
  baseLotsRemoved: u64,
  baseLotsRemaining: u64
})

/** The accounts with which every instruction of a market begins. */
export function marketUses(market: PhoenixMarket, signer: Uint8Array) {
  return [reads(PROGRAM), reads(LOG_AUTHORITY), writes(market.address), signs(signer)]
}

/** States a batch of events, as many as one instruction gave, by the program's call of its own log instruction. */
export function logEvents(
  call: CallScript,
  script: Caller,
  market: PhoenixMarket,
  from: { readonly instruction: number; readonly signer: Uint8Array },
  events: readonly Uint8Array[]
): void {
  market.sequence++
  const head = header.write({
    ...from,
    sequence: market.sequence,
    timestamp: timeOf(script),
    slot: slotOf(script),
    market: market.address,
    events: events.length
  })
  const parts = [head, ...events]
  const data = new Uint8Array(1 + parts.reduce((size, part) => size + part.length, 0))
  data[0] = LOG_TAG
  let at = 1
  for (const part of parts) {
    data.set(part, at)
    at += part.length
  }
  call.call(PROGRAM, [reads(LOG_AUTHORITY)], data)
}

/** Gives the maker a seat, and takes what the maker trades with. */
export function seatMaker(script: Caller, market: PhoenixMarket, ledger: LedgerView): void {
  const { maker, seat, vaults, terms } = market
  const step = (
    data: Uint8Array,
    accounts: Parameters<Caller['call']>[1],
    body?: (call: CallScript) => void
  ): void => {
    script.call(PROGRAM, [...marketUses(market, maker), writes(seat), ...accounts], data, (call) => {
      body?.(call)
      logEvents(call, script, market, { instruction: data[0]!, signer: maker }, [])
    })
  }
  step(requestSeat.write({}), [reads(SYSTEM)], (call) => call.write(seat, new Uint8Array(128)))
  step(changeSeatStatus.write({ status: SEAT_APPROVED }), [])
  const deposit = depositFunds.write({ quoteLots: market.makerQuote, baseLots: market.makerBase })
  const accounts = [...userAccounts(market, maker, ledger), ...vaults].map(writes)
  step(deposit, [...accounts, reads(TOKEN)], (call) => {
    const transfers = new PoolTransfers(call, market, ledger, false)
    transfers.payIn(0, maker, market.makerBase * terms.baseLot)
    transfers.payIn(1, maker, market.makerQuote * terms.quoteLot)
    writeMarket(call, market, ledger)
  })
}

/** The maker takes back what is left of the old orders and places new ones; both are instructions that the maker signs. */
export function quoteAnew(script: Caller, market: PhoenixMarket, book: Book, ledger: LedgerView): void {
  const { maker, seat } = market
  const { bids, asks } = book
  const old = [...market.book.bids, ...market.book.asks]
  if (old.length > 0) {
    const data = cancelAllOrdersWithFreeFunds.write({})
    script.call(PROGRAM, marketUses(market, maker), data, (call) => {
      const events = old.map(({ sequence, price, lots }, index) =>
        reduceEvent.write({
          index,
          orderSequence: sequence,
          priceInTicks: price,
          baseLotsRemoved: lots,
          baseLotsRemaining: 0n
        })
      )
      logEvents(call, script, market, { instruction: data[0]!, signer: maker }, events)
    })
  }
  const data = placeMultiplePostOnlyOrdersWithFreeFunds.write({
    bids: bids.map(packetOf),
    asks: asks.map(packetOf),
    clientOrderId: null,
    failsOnCross: 0
  })
  script.call(PROGRAM, [...marketUses(market, maker), reads(seat)], data, (call) => {
    const events = [...bids, ...asks].map(({ sequence, price, lots }, index) =>
      place.write({ index, orderSequence: sequence, clientOrderId: 0n, priceInTicks: price, baseLots: lots })
    )
    logEvents(call, script, market, { instruction: data[0]!, signer: maker }, events)
    writeMarket(call, market, ledger)
  })
  market.orderSequence += 2n * BigInt(Math.max(bids.length, asks.length) + 1)
  market.book = book
}

function packetOf({ price, lots }: RestingOrder) {
  return { priceInTicks: price, baseLots: lots, lastValidSlot: null, lastValidUnixTimestamp: null }
}
