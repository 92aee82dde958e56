import { encodeBase58 } from '../../src/chain/base58.ts'
import type { ChainEvent, Trade } from '../../src/chain/events.ts'
import { pubkeyToBase58 } from '../../src/chain/pubkey.ts'
import { ratio } from '../../src/market/amount.ts'
import type { BlockEntry, DecodedBlock } from '../../src/market/block.ts'
import { USDC, USDT, WSOL } from '../../src/market/cash.ts'
import { placeEvents } from '../../src/market/cursor.ts'
import { PEGGED } from '../market/world.ts'

/** Expected answers of the service, computed from the decoder's events by the simplest code. */

/** Cash mints, the most token-like first. The last one is the operator's, whose names are unknown. */
export const CASH = [WSOL, USDC, USDT, pubkeyToBase58(PEGGED)]
const SYMBOLS = ['SOL', 'USDC', 'USDT']
const NAMES = ['Wrapped SOL', 'USD Coin', 'USDT']
export const symbolOf = (mint: string): string | null => SYMBOLS[CASH.indexOf(mint)] ?? null
export const nameOf = (mint: string): string | null => NAMES[CASH.indexOf(mint)] ?? null
export const isCash = (mint: string): boolean => CASH.includes(mint)

export interface StoryEvent {
  readonly cursor: number
  readonly block: DecodedBlock
  readonly entry: BlockEntry
  readonly event: ChainEvent
  readonly pool: string
  /** USD price of one SOL at the block's minute. */
  readonly solUsd: number | null
}

/** A trade as it is listed under one mint. */
export interface Listed extends StoryEvent {
  readonly trade: Trade
  readonly mint: string
  readonly user: string
  readonly side: 'buy' | 'sell' | null
  /** The trade's cash and token; without cash, the token that it is listed under. */
  readonly cash: string | null
  readonly cashRaw: bigint
  readonly cashDecimals: number
  readonly tokenRaw: bigint
  readonly tokenDecimals: number
  readonly price: number | null
  readonly cashUsd: number | null
  readonly forming: boolean
  /** Whether it is the first row of the trade. */
  readonly isFirst: boolean
}

/** Converts base units to human units: inserts the decimal point and parses the number. */
export function human(raw: bigint, decimals: number): number {
  const digits = raw.toString().padStart(decimals + 1, '0')
  const at = digits.length - decimals
  return Number(`${digits.slice(0, at)}.${digits.slice(at)}0`)
}

export const signatureOf = ({ entry }: StoryEvent): string => encodeBase58(entry.signature)

export function storyOf(blocks: readonly DecodedBlock[]): StoryEvent[] {
  const sales = blocks.flatMap((block, index) =>
    block.entries.flatMap(({ event }) => {
      const sale = event.kind === 'trade' ? solSale(event) : null
      return sale === null ? [] : [{ ...sale, index, minute: minuteOf(block) }]
    })
  )
  return blocks.flatMap((block, index) => {
    const solUsd = solUsdAt(sales, index, minuteOf(block))
    const cursors = placeEvents(
      block.slot,
      block.entries.map(({ event }) => event)
    )
    return block.entries.map((entry, place) => {
      const { event } = entry
      return { cursor: cursors[place]!, block, entry, event, pool: pubkeyToBase58(event.pool), solUsd }
    })
  })
}

const minuteOf = ({ blockTime }: DecodedBlock): number => Math.floor(blockTime / 60)

interface Sale {
  readonly price: number
  readonly lamports: bigint
  readonly index: number
  readonly minute: number
}

/** Returns price and amount of a trade of SOL for at least one dollar, else null. */
function solSale(trade: Trade): Pick<Sale, 'price' | 'lamports'> | null {
  const [paid, received] = [pubkeyToBase58(trade.inMint), pubkeyToBase58(trade.outMint)]
  const dollars = [USDC, USDT]
  if (paid === WSOL && dollars.includes(received) && human(trade.outAmount, trade.outDecimals) >= 1) {
    const price = ratio(trade.outAmount * 10n ** 9n, trade.inAmount * 10n ** BigInt(trade.outDecimals))
    return { price, lamports: trade.inAmount }
  }
  if (received === WSOL && dollars.includes(paid) && human(trade.inAmount, trade.inDecimals) >= 1) {
    const price = ratio(trade.inAmount * 10n ** 9n, trade.outAmount * 10n ** BigInt(trade.inDecimals))
    return { price, lamports: trade.outAmount }
  }
  return null
}

/**
 * Returns SOL's price: that of the newest earlier minute with a trade, at most an hour back,
 * otherwise that of this minute's first block.
 */
function solUsdAt(sales: readonly Sale[], index: number, minute: number): number | null {
  const earlier = sales.filter((sale) => sale.minute < minute && sale.minute >= minute - 60)
  const newest = Math.max(...earlier.map((sale) => sale.minute))
  if (earlier.length > 0) return medianOf(earlier.filter((sale) => sale.minute === newest))
  const own = sales.filter((sale) => sale.minute === minute && sale.index <= index)
  const first = Math.min(...own.map((sale) => sale.index))
  return own.length === 0 ? null : medianOf(own.filter((sale) => sale.index === first))
}

function medianOf(sales: readonly Sale[]): number {
  const sorted = sales.toSorted((a, b) => a.price - b.price)
  const half = sorted.reduce((sum, { lamports }) => sum + Number(lamports), 0) / 2
  let below = 0
  return sorted.find(({ lamports }) => (below += Number(lamports)) >= half)!.price
}

/** Returns every row of every trade, in cursor order. */
export function listTrades(story: readonly StoryEvent[]): Listed[] {
  const levels = new Map<string, Level>()
  return story.flatMap((told): Listed[] => {
    const { event } = told
    if (event.kind !== 'trade') return []
    const [paid, received] = [pubkeyToBase58(event.inMint), pubkeyToBase58(event.outMint)]
    const base = { ...told, trade: event, user: pubkeyToBase58(event.user) }
    if (!isCash(paid) && !isCash(received)) {
      const none = {
        side: null,
        cash: null,
        cashRaw: 0n,
        cashDecimals: 0,
        price: null,
        cashUsd: null,
        forming: false
      }
      const own = { tokenRaw: event.inAmount, tokenDecimals: event.inDecimals }
      const other = { tokenRaw: event.outAmount, tokenDecimals: event.outDecimals }
      return [
        { ...base, ...none, ...own, mint: paid, isFirst: true },
        { ...base, ...none, ...other, mint: received, isFirst: false, cursor: told.cursor + 1 }
      ]
    }
    const isBuy = CASH.indexOf(paid) > CASH.indexOf(received)
    const [cash, mint] = isBuy ? [paid, received] : [received, paid]
    const [cashRaw, tokenRaw] = isBuy ? [event.inAmount, event.outAmount] : [event.outAmount, event.inAmount]
    const [cashDecimals, tokenDecimals] = isBuy
      ? [event.inDecimals, event.outDecimals]
      : [event.outDecimals, event.inDecimals]
    const price =
      tokenRaw === 0n
        ? null
        : ratio(cashRaw * 10n ** BigInt(tokenDecimals), tokenRaw * 10n ** BigInt(cashDecimals))
    const cashUsd = cash === WSOL ? told.solUsd : 1
    const paidHuman = human(cashRaw, cashDecimals)
    const isDust =
      cashRaw < 1000n ||
      tokenRaw < 1000n ||
      (cashUsd === null ? paidHuman < 0.0001 : paidHuman * cashUsd < 0.01)
    const pair = `${mint}/${cash}`
    const level = levels.get(pair) ?? new Level()
    levels.set(pair, level)
    const forming = price !== null && !isDust && level.takes(price)
    const amounts = { cash, cashRaw, cashDecimals, tokenRaw, tokenDecimals, price, cashUsd, forming }
    return [{ ...base, ...amounts, mint, side: isBuy ? ('buy' as const) : ('sell' as const), isFirst: true }]
  })
}

/** Decides which prices count: those within 10 times of the median of the last 20, or the third that agrees. */
class Level {
  #recent: number[] = []
  #excluded: number[] = []

  takes(price: number): boolean {
    const sorted = this.#recent.toSorted((a, b) => a - b)
    const middle = (sorted[Math.floor((sorted.length - 1) / 2)]! + sorted[Math.floor(sorted.length / 2)]!) / 2
    if (sorted.length === 0 || (price <= middle * 10 && price * 10 >= middle)) {
      this.#recent = [...this.#recent, price].slice(-20)
      this.#excluded = []
      return true
    }
    this.#excluded = [...this.#excluded, price].slice(-3)
    if (this.#excluded.length < 3 || Math.max(...this.#excluded) > 1.25 * Math.min(...this.#excluded))
      return false
    this.#recent = this.#excluded
    this.#excluded = []
    return true
  }
}
