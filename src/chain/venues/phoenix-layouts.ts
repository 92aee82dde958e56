import { bool, i64, option, pubkey, u128, u16, u32, u64, u8, type Codec } from '../codec.ts'
import { instruction, layout, type InstructionLayout } from '../layout.ts'

// Source: Ellipsis-Labs/phoenix-v1, program source. Discriminators of instructions and events are one byte.

/** The remaining bytes: order terms that differ by kind of order and are not read. */
const rest: Codec<Uint8Array> = {
  type: 'rest',
  read: (reader) => reader.bytes(reader.left),
  write: (writer, value) => writer.bytes(value)
}

export const BID = 0

/** The packet of an order that only takes. Exactly one of base and quote lots is set: the trader fixed that side. */
const TAKE_ARGS = {
  kind: u8,
  side: u8,
  priceInTicks: option(u64),
  baseLots: u64,
  quoteLots: u64,
  minBaseLotsToFill: u64,
  minQuoteLotsToFill: u64,
  selfTradeBehavior: u8,
  matchLimit: option(u64),
  clientOrderId: u128,
  usesOnlyDepositedFunds: bool
}
const TAKE_EXPIRY = { lastValidSlot: option(u64), lastValidUnixTimestamp: option(u64) }
const ORDER_ARGS = { kind: u8, side: u8, terms: rest }

const MARKET = { program: 0, logAuthority: 1, market: 2, trader: 3 }
const SEATED = { ...MARKET, seat: 4 }
const SEATED_VAULTS = { ...SEATED, baseAccount: 5, quoteAccount: 6, baseVault: 7, quoteVault: 8 }

export const swap = instruction(
  'swap',
  '00',
  TAKE_ARGS,
  { ...MARKET, baseAccount: 4, quoteAccount: 5, baseVault: 6, quoteVault: 7 },
  TAKE_EXPIRY
)
export const swapWithFreeFunds = instruction('swapWithFreeFunds', '01', TAKE_ARGS, SEATED, TAKE_EXPIRY)
export const placeLimitOrder = instruction('placeLimitOrder', '02', ORDER_ARGS, SEATED_VAULTS)
export const placeLimitOrderWithFreeFunds = instruction(
  'placeLimitOrderWithFreeFunds',
  '03',
  ORDER_ARGS,
  SEATED
)

export const initializeMarket = instruction(
  'initializeMarket',
  '64',
  {
    bidsSize: u64,
    asksSize: u64,
    seats: u64,
    quoteLotsPerQuoteUnit: u64,
    tickSizeInQuoteLotsPerBaseUnit: u64,
    baseLotsPerBaseUnit: u64,
    takerFeeBps: u16,
    feeCollector: pubkey
  },
  { market: 2, creator: 3, baseMint: 4, quoteMint: 5, baseVault: 6, quoteVault: 7 },
  { rawBaseUnitsPerBaseUnit: option(u32) }
)

/** Instructions that fill no order. */
const OTHERS: readonly (readonly [name: string, tag: string])[] = [
  ['reduceOrder', '04'],
  ['reduceOrderWithFreeFunds', '05'],
  ['cancelAllOrders', '06'],
  ['cancelAllOrdersWithFreeFunds', '07'],
  ['cancelUpTo', '08'],
  ['cancelUpToWithFreeFunds', '09'],
  ['cancelMultipleOrdersById', '0a'],
  ['cancelMultipleOrdersByIdWithFreeFunds', '0b'],
  ['withdrawFunds', '0c'],
  ['depositFunds', '0d'],
  ['requestSeat', '0e'],
  ['log', '0f'],
  ['placeMultiplePostOnlyOrders', '10'],
  ['placeMultiplePostOnlyOrdersWithFreeFunds', '11'],
  ['claimAuthority', '65'],
  ['nameSuccessor', '66'],
  ['changeMarketStatus', '67'],
  ['changeSeatStatus', '68'],
  ['requestSeatAuthorized', '69'],
  ['evictSeat', '6a'],
  ['forceCancelOrders', '6b'],
  ['collectFees', '6c'],
  ['changeFeeRecipient', '6d'],
  ['deleteSeat', '6e']
]

export const INSTRUCTIONS: readonly InstructionLayout[] = [
  swap,
  swapWithFreeFunds,
  placeLimitOrder,
  placeLimitOrderWithFreeFunds,
  initializeMarket,
  ...OTHERS.map(([name, tag]) => instruction(name, tag, { terms: rest }, {}))
]

/** Tag of the `Log` instruction; events follow it. */
export const LOG_TAG = 15

/** Header of each batch; all batches of an instruction have one sequence number. */
export const header = layout('Header', '01', {
  instruction: u8,
  sequence: u64,
  timestamp: i64,
  slot: u64,
  market: pubkey,
  signer: pubkey,
  events: u16
})

export const fill = layout('Fill', '02', {
  index: u16,
  maker: pubkey,
  orderSequence: u64,
  priceInTicks: u64,
  baseLotsFilled: u64,
  baseLotsRemaining: u64
})
export const place = layout('Place', '03', {
  index: u16,
  orderSequence: u64,
  clientOrderId: u128,
  priceInTicks: u64,
  baseLots: u64
})
const reduce = layout('Reduce', '04', {
  index: u16,
  orderSequence: u64,
  priceInTicks: u64,
  baseLotsRemoved: u64,
  baseLotsRemaining: u64
})
const evict = layout('Evict', '05', {
  index: u16,
  maker: pubkey,
  orderSequence: u64,
  priceInTicks: u64,
  baseLotsEvicted: u64
})
/**
 * Stated for every order that may take, even if it took nothing. Quote lots include the fee for a bid and exclude it
 * for an ask.
 */
export const fillSummary = layout('FillSummary', '06', {
  index: u16,
  clientOrderId: u128,
  baseLots: u64,
  quoteLots: u64,
  feeQuoteLots: u64
})
const fee = layout('Fee', '07', { index: u16, feesInQuoteLots: u64 })
const timeInForce = layout('TimeInForce', '08', {
  index: u16,
  orderSequence: u64,
  lastValidSlot: u64,
  lastValidUnixTimestamp: u64
})
const expiredOrder = layout('ExpiredOrder', '09', {
  index: u16,
  maker: pubkey,
  orderSequence: u64,
  priceInTicks: u64,
  baseLotsRemoved: u64
})

export const EVENTS = [
  header,
  fill,
  place,
  reduce,
  evict,
  fillSummary,
  fee,
  timeInForce,
  expiredOrder
] as const
