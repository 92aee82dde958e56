import { priceTick, tradeEvent } from '../../src/stream/bodies/stream-event.ts'
import { pubkeyFromBase58, pubkeyToBase58, type Pubkey } from '../../src/chain/pubkey.ts'
import type { VenueId } from '../../src/chain/venue-id.ts'
import { CashList, WSOL } from '../../src/market/cash.ts'
import { COPY_OFFSETS, cursorAt } from '../../src/market/cursor.ts'
import type { PoolRow } from '../../src/market/registry-rows.ts'
import type { TradeRow } from '../../src/market/rows.ts'
import { noRows, type BlockCommit } from '../../src/market/records.ts'
import { encodeLog } from '../../src/stream/encode.ts'

export const FIRST_SLOT = 450_000_000
export const VENUE = 'pumpswap'
const OTHER_VENUE = 'raydium-cpmm'
export const cash = new CashList()

/** Cursor positions that a trade occupies in its slot. */
const COPIES = 4

const SOL = pubkeyFromBase58(WSOL)

/** Addresses are cached, so that building rows takes no measured time. */
const addresses = new Map<number, Pubkey>()

function address(kind: number, n: number): Pubkey {
  const key = kind * 2 ** 32 + n
  let made = addresses.get(key)
  if (made === undefined) {
    made = Uint8Array.from({ length: 32 }, (_, i) =>
      i < 4 ? (n >> (8 * i)) & 255 : (kind * 37 + i * 71) & 255
    )
    addresses.set(key, made)
  }
  return made
}

const mintOf = (n: number): Pubkey => address(1, n)

/** Content of a reader's events: whole trades, or their prices. */
export type Kind = 'trades' | 'price'

/** The channel name of the n-th token. */
export const channelNamed = (kind: Kind, n: number): string => `${kind}:${pubkeyToBase58(mintOf(n))}`
/** The channel name of the n-th token's pool. */
export const poolChannelOf = (n: number): string => `pool:${pubkeyToBase58(POOLS[n % POOLS.length]!)}`

/** Returns a trade on a pool with reserves, fees and a route, like most trades on mainnet. */
function tradeRow(slot: number, position: number, token: number, venue: VenueId): TradeRow {
  const [mint, user] = [mintOf(token), address(4, position)]
  return {
    cursor: cursorAt(slot, position),
    slot,
    blockTime: 1_790_000_000,
    signature: SIGNATURE,
    txIndex: position,
    ixIndex: 3,
    innerIxIndex: 5,
    venue,
    program: address(2, 1),
    pool: POOLS[token % POOLS.length]!,
    user,
    feePayer: user,
    commitment: 'confirmed',
    mint,
    inMint: SOL,
    outMint: mint,
    inDecimals: 9,
    outDecimals: 6,
    inAmount: 1_234_567_890n,
    outAmount: BigInt(9_876_543_210 + position),
    traderIn: 1_250_000_000n,
    traderOut: BigInt(9_876_543_210 + position),
    fees: [{ kind: 'protocol', mint: SOL, amount: 15_432_110n }],
    reserves: null,
    exact: 'in',
    cashSide: 'in',
    price: 0.000125,
    cashUsd: 142.25,
    priceForming: true,
    route: null
  }
}

const SIGNATURE = Uint8Array.from({ length: 64 }, (_, i) => (i * 91 + 13) & 255)
const POOLS = Array.from({ length: 64 }, (_, n) => address(3, n))

/** Returns the pools of the first tokens, at most one pool for each. */
export function poolsOf({ channels }: Shape): PoolRow[] {
  return Array.from({ length: Math.min(channels, POOLS.length) }, (_, token) => ({
    pool: POOLS[token]!,
    venue: VENUE,
    program: address(2, 1),
    base: mintOf(token),
    quote: SOL,
    quoteListed: false,
    baseDecimals: 6,
    quoteDecimals: 9,
    baseVault: null,
    quoteVault: null,
    feeBps: null,
    created: null,
    firstCursor: cursorAt(FIRST_SLOT, token * COPIES),
    trades: 1,
    lastTrade: null,
    lastPrice: null,
    reserves: null
  }))
}

/** The trades in each block of a run; those of the n-th channel are consecutive. */
export interface Shape {
  readonly channels: number
  /** Trades of a channel in a block. */
  readonly burst: number
  /** Whether tokens and venue differ from those of the past. */
  readonly isOther?: boolean
  /** Whether the n-th channel, counted from 0, has trades only in every (n + 1)-th slot. */
  readonly isUneven?: boolean
}

/** Number of the first token that is not one of the past's. */
export const OTHER_TOKEN = 1_000_000

/** A block that a server is to commit. */
export interface Block {
  readonly slot: number
  readonly shape: Shape
}

export function tradesOf(slot: number, { channels, burst, isOther, isUneven }: Shape): TradeRow[] {
  const [first, venue] = isOther === true ? ([OTHER_TOKEN, OTHER_VENUE] as const) : ([0, VENUE] as const)
  const all = Array.from({ length: channels * burst }, (_, i) => ({ i, n: Math.floor(i / burst) }))
  return all
    .filter(({ n }) => isUneven !== true || slot % (n + 1) === 0)
    .map(({ i, n }) => tradeRow(slot, i * COPIES, first + n, venue))
}

/** Returns the cursor of the n-th event on a channel, counted from the first slot of a run. */
export function cursorOf(n: number, run: Run, channel: number): number {
  const { firstSlot, burst, offset } = run
  return cursorAt(firstSlot + Math.floor(n / burst), (channel * burst + (n % burst)) * COPIES + offset)
}

export interface Run {
  readonly firstSlot: number
  /** Events of a channel in a block. */
  readonly burst: number
  /** Offset of the channel's copy behind the trade's cursor. */
  readonly offset: number
}

export const OFFSETS = COPY_OFFSETS.trade

const RECEIVED_AT_MS = 1_790_000_000_400

/** Returns a commit of trades alone, with their log entries. */
export function commitOf(slot: number, trades: readonly TradeRow[]): BlockCommit {
  const counts = { transactions: trades.length, trades: trades.length, events: trades.length }
  const rows = {
    ...noRows(),
    slot: {
      slot,
      blockTime: 1_790_000_000,
      parentSlot: slot - 1,
      blockhash: null,
      ...counts,
      receivedAtMs: RECEIVED_AT_MS
    },
    trades
  }
  return { ...rows, log: encodeLog(rows, cash) }
}

export const blockOf = ({ slot, shape }: Block): BlockCommit => commitOf(slot, tradesOf(slot, shape))

/** Returns the messages of trades for the servers that are compared. */
export function eventMessages(kind: Kind, { slot, shape }: Block): EventMessage[] {
  return tradesOf(slot, shape).map((row, i) => {
    const cursor = row.cursor + OFFSETS[kind]
    const channel = channelNamed(kind, Math.floor(i / shape.burst))
    const textOf = (data: object): string =>
      JSON.stringify({ type: 'event', channel, data: { ...data, cursor }, cursor })
    if (kind === 'price') return { channel, text: () => textOf(priceTick(row, RECEIVED_AT_MS)) }
    const text = textOf(tradeEvent(row, RECEIVED_AT_MS, cash))
    return { channel, text: () => text }
  })
}

export interface EventMessage {
  readonly channel: string
  /**
   * Returns the message. A trade's is encoded in advance, as ingest encodes it for the log; a price tick is not in the log
   * and is encoded when it is sent.
   */
  readonly text: () => string
}

/** Milliseconds of a clock that all processes of this machine share. */
export const monotonicMs = (): number => Number(process.hrtime.bigint() / 1000n) / 1000
