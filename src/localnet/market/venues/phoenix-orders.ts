import type { Pubkey } from '../../../chain/pubkey.ts'
import type { Book, RestingOrder } from '../curves/order-book.ts'
import type { CallScript, LedgerView } from '../script.ts'
import { MARKET_ACCOUNTS, phoenix, writeMarket, type PhoenixMarket } from './phoenix-market.ts'
import { moveBoth, poolAddresses, slotOf, timeOf, type Caller } from './pool-sides.ts'
import { record } from './record.ts'

// Source: Ellipsis-Labs/phoenix-v1, program source. Discriminators of instructions and events are one byte.

const SEAT_APPROVED = 1n

const requestSeat = phoenix.instruction('RequestSeat', '0e', '', `${MARKET_ACCOUNTS} seat* system`)
const changeSeatStatus = phoenix.instruction(
  'ChangeSeatStatus',
  '68',
  'status:u64',
  `${MARKET_ACCOUNTS} seat*`
)
const depositFunds = phoenix.instruction(
  'DepositFunds',
  '0d',
  'quoteLots:u64 baseLots:u64',
  `${MARKET_ACCOUNTS} seat* users* vaults* token`
)
const cancelAllOrders = phoenix.instruction('CancelAllOrdersWithFreeFunds', '07', '', MARKET_ACCOUNTS)
const placePostOnlyOrders = phoenix.instruction(
  'PlaceMultiplePostOnlyOrdersWithFreeFunds',
  '11',
  'bids:vec<bytes> asks:vec<bytes> clientOrderId?:option<u128> failsOnCross?:u8',
  `${MARKET_ACCOUNTS} seat`
)
const log = phoenix.instruction('Log', '0f', 'header:bytes events:bytes', 'logAuthority')

const order = record(
  '',
  'priceInTicks:u64 baseLots:u64 lastValidSlot?:option<u64> lastValidUnixTimestamp?:option<u64>'
)
const header = record(
  '01',
  'instruction:u8 sequence:u64 timestamp:i64 slot:u64 market:pubkey signer:pubkey events:u16'
)
const placeEvent = record(
  '03',
  'index:u16 orderSequence:u64 clientOrderId?:u128 priceInTicks:u64 baseLots:u64'
)
const reduceEvent = record(
  '04',
  'index:u16 orderSequence:u64 priceInTicks:u64 baseLotsRemoved:u64 baseLotsRemaining?:u64'
)

/** States a batch of one instruction's events, in a call of the program's own log instruction. */
export function logEvents(
  call: CallScript,
  script: Caller,
  market: PhoenixMarket,
  from: { readonly data: Uint8Array; readonly signer: Pubkey },
  events: readonly Uint8Array[]
): void {
  market.sequence++
  const head = header({
    instruction: from.data[0]!,
    signer: from.signer,
    sequence: market.sequence,
    timestamp: timeOf(script),
    slot: slotOf(script),
    market: market.address,
    events: events.length
  })
  log.call(call, {}, { header: head, events: Buffer.concat(events) })
}

/** Gives the maker a seat and deposits the maker's funds. */
export function seatMaker(script: Caller, market: PhoenixMarket, ledger: LedgerView): void {
  const { maker: signer, seat, terms, makerBase, makerQuote } = market
  const addresses = { ...poolAddresses(market, signer, ledger), market: market.address, signer }
  requestSeat.call(script, addresses, {}, (call, data) => {
    call.write(seat, new Uint8Array(128))
    logEvents(call, script, market, { data, signer }, [])
  })
  changeSeatStatus.call(script, addresses, { status: SEAT_APPROVED }, (call, data) =>
    logEvents(call, script, market, { data, signer }, [])
  )
  depositFunds.call(script, addresses, { quoteLots: makerQuote, baseLots: makerBase }, (call, data) => {
    moveBoth(call, addresses, 'in', signer, [makerBase * terms.baseLot, makerQuote * terms.quoteLot], false)
    writeMarket(call, market, ledger)
    logEvents(call, script, market, { data, signer }, [])
  })
}

/** Cancels the maker's old orders and places new ones, in two instructions that the maker signs. */
export function requote(script: Caller, market: PhoenixMarket, book: Book, ledger: LedgerView): void {
  const { maker: signer, seat } = market
  const { bids, asks } = book
  const addresses = { market: market.address, signer, seat }
  const old = [...market.book.bids, ...market.book.asks]
  if (old.length > 0) {
    cancelAllOrders.call(script, addresses, {}, (call, data) => {
      const events = old.map(({ sequence, price, lots }, index) =>
        reduceEvent({ index, orderSequence: sequence, priceInTicks: price, baseLotsRemoved: lots })
      )
      logEvents(call, script, market, { data, signer }, events)
    })
  }
  const args = { bids: bids.map(packetOf), asks: asks.map(packetOf) }
  placePostOnlyOrders.call(script, addresses, args, (call, data) => {
    const events = [...bids, ...asks].map(({ sequence, price, lots }, index) =>
      placeEvent({ index, orderSequence: sequence, priceInTicks: price, baseLots: lots })
    )
    logEvents(call, script, market, { data, signer }, events)
    writeMarket(call, market, ledger)
  })
  market.orderSequence += 2n * BigInt(Math.max(bids.length, asks.length) + 1)
  market.book = book
}

function packetOf({ price, lots }: RestingOrder): Uint8Array {
  return order({ priceInTicks: price, baseLots: lots })
}
