import type { ChainEvent, EventKind, Trade } from '../../../src/chain/events.ts'
import { pubkeyToBase58 } from '../../../src/chain/pubkey.ts'
import { VENUES_BY_PROGRAM } from '../../../src/chain/venues.ts'
import { compareVector } from '../vectors.ts'
import type { DecodedRecord } from './decoded-record.ts'
import { statedByJupiter } from './jupiter-statements.ts'

/** One statement of a source about a recorded transaction, and its check against the decoder. */
export interface Expectation {
  /** In words; with the signature it names the expectation in the reviewed list. */
  readonly says: string
  /** The decoder's differing value; null if it agrees. */
  disagreement(record: DecodedRecord): string | null
}

export const SOL = 'So11111111111111111111111111111111111111112'

/** Meaning of a source's amounts: the pool's exchange, or the trader's totals. */
export type Reading = 'fill' | 'trader'

const text = pubkeyToBase58

export function amountIn(trade: Trade, reading: Reading): bigint {
  return reading === 'fill' ? trade.inAmount : trade.traderIn
}

export function amountOut(trade: Trade, reading: Reading): bigint {
  return reading === 'fill' ? trade.outAmount : trade.traderOut
}

/** Shortens a mint to its first characters, which distinguish the mints of a transaction. */
export function short(mint: string): string {
  return mint.slice(0, 4)
}

export interface StatedHop {
  /** The program, where the source names it by its address. */
  readonly program?: string
  readonly inMint: string
  readonly inAmount: string
  readonly outMint: string
  readonly outAmount: string
}

/**
 * Expects a hop of a route: one trade of the program with these mints and amounts, as the pool's fill or the trader's
 * totals.
 */
export function hop({ program, inMint, inAmount, outMint, outAmount }: StatedHop): Expectation {
  return {
    says: `hop ${inAmount} ${short(inMint)} → ${outAmount} ${short(outMint)}`,
    disagreement({ trades }) {
      const found = trades.some(
        (trade) =>
          (program === undefined || text(trade.program) === program) &&
          text(trade.inMint) === inMint &&
          text(trade.outMint) === outMint &&
          [trade.inAmount, trade.traderIn].includes(BigInt(inAmount)) &&
          [trade.outAmount, trade.traderOut].includes(BigInt(outAmount))
      )
      return found ? null : 'no such trade'
    }
  }
}

/** Expects the total that a route took of one mint, or gave of another, summed over its trades. */
export function routeSide(
  side: 'in' | 'out',
  mint: string,
  amount: bigint | string,
  reading: Reading = 'trader'
): Expectation {
  return {
    says: `${side} ${amount} ${short(mint)}`,
    disagreement({ trades }) {
      let sum = 0n
      for (const trade of trades) {
        if (side === 'in' && text(trade.inMint) === mint) sum += amountIn(trade, reading)
        if (side === 'out' && text(trade.outMint) === mint) sum += amountOut(trade, reading)
      }
      return sum === BigInt(amount) ? null : String(sum)
    }
  }
}

/** Expects these amounts in human units, converted with the decimals of our trades. */
export function routeSideInUnits(side: 'in' | 'out', mint: string, units: string): Expectation {
  return {
    says: `${side} ${units} ${short(mint)}`,
    disagreement(record) {
      const decimals = decimalsOf(record.trades, mint)
      if (decimals === null) return 'no trade of the mint'
      return routeSide(side, mint, rawAmount(units, decimals)).disagreement(record)
    }
  }
}

function decimalsOf(trades: readonly Trade[], mint: string): number | null {
  for (const { inMint, outMint, inDecimals, outDecimals } of trades) {
    if (text(inMint) === mint) return inDecimals
    if (text(outMint) === mint) return outDecimals
  }
  return null
}

/** Converts human units to base units, exactly. */
export function rawAmount(units: string, decimals: number): bigint {
  const [whole = '0', fraction = ''] = units.split('.')
  return BigInt(whole + fraction.padEnd(decimals, '0'))
}

export function decimals(mint: string, expected: string | number): Expectation {
  return {
    says: `${short(mint)} has ${expected} decimals`,
    disagreement({ events, trades }) {
      const found =
        decimalsOf(trades, mint) ??
        events.find((event) => event.kind === 'launch')?.decimals ??
        liquidityDecimals(events, mint)
      return found === Number(expected) ? null : String(found)
    }
  }
}

function liquidityDecimals(events: readonly ChainEvent[], mint: string): number | null {
  for (const event of events) {
    if (event.kind !== 'liquidity') continue
    if (event.baseMint !== null && text(event.baseMint) === mint) return event.baseDecimals
    if (event.quoteMint !== null && text(event.quoteMint) === mint) return event.quoteDecimals
  }
  return null
}

/** Expects an address as the trader of at least one trade. */
export function trader(address: string): Expectation {
  return {
    says: `trader ${address}`,
    disagreement({ trades }) {
      const users = trades.map(({ user }) => text(user))
      return users.includes(address) ? null : users.join(', ') || 'no trade'
    }
  }
}

/** Expects a venue's fee of one kind, summed over the trades. */
export function venueFee(kind: Trade['fees'][number]['kind'], amount: string): Expectation {
  return {
    says: `${kind} fee ${amount}`,
    disagreement({ trades }) {
      const fees = trades.flatMap((trade) => trade.fees).filter((fee) => fee.kind === kind)
      const sum = fees.reduce((total, fee) => total + fee.amount, 0n)
      return sum === BigInt(amount) ? null : String(sum)
    }
  }
}

/** Expects the network's fee in lamports. */
export function networkFee(lamports: bigint): Expectation {
  return {
    says: `network fee ${lamports} lamports`,
    disagreement: ({ transaction: { feeLamports } }) =>
      feeLamports === lamports ? null : String(feeLamports)
  }
}

/** Expects the change of a wallet's lamports, that of its trades. */
export function walletLamports(net: bigint, what: string): Expectation {
  return {
    says: `${what} ${net} lamports`,
    disagreement({ trades }) {
      let sum = 0n
      for (const trade of trades) {
        if (text(trade.inMint) === SOL) sum -= trade.traderIn
        if (text(trade.outMint) === SOL) sum += trade.traderOut
      }
      return sum === net ? null : String(sum)
    }
  }
}

/** A statement that is not about trades; the reviewed list explains it. */
export function beside(what: string): Expectation {
  return { says: what, disagreement: () => 'not a trade' }
}

/** Expects a number of events that meet a condition. */
export function eventCount(what: string, expected: number, is: (event: ChainEvent) => boolean): Expectation {
  return {
    says: `${expected} × ${what}`,
    disagreement({ events }) {
      const count = events.filter(is).length
      return count === expected ? null : String(count)
    }
  }
}

/** Expects at least one event of a venue, of a kind or of any kind (null). */
export function eventOf(venue: string, kind: EventKind | null = null): Expectation {
  return {
    says: `${kind ?? 'an event'} of ${venue}`,
    disagreement({ events }) {
      const found = events.some((event) => event.venue === venue && (kind === null || event.kind === kind))
      return found ? null : events.map((event) => `${event.kind} of ${event.venue}`).join(', ') || 'no event'
    }
  }
}

/** Expects the value of an event's field, as text; `of` selects the event. */
export function eventField(
  what: string,
  expected: unknown,
  of: (record: DecodedRecord) => unknown
): Expectation {
  return {
    says: `${what} ${String(expected)}`,
    disagreement(record) {
      const value = of(record)
      const found = value instanceof Uint8Array ? text(value) : String(value)
      return found === String(expected) ? null : found
    }
  }
}

/** Expects named fields of an instruction or stated event of a program, as our layouts read its bytes. */
export function statedFields(
  program: string,
  type: 'instruction' | 'event',
  fields: Readonly<Record<string, string | number | boolean>>,
  aliases: Readonly<Record<string, string | null>> = {}
): Expectation {
  const venue = VENUES_BY_PROGRAM.ofText(program)
  return {
    says: `${type} of ${program} with ${Object.keys(fields).join(', ')}`,
    disagreement({ raw }) {
      if (venue === undefined) return 'no venue'
      let closest: readonly string[] = ['no such call']
      for (const call of raw.calls) {
        if (call.program !== program) continue
        const isEvent = venue.statedEventOffset(call.data) >= 0
        if (isEvent !== (type === 'event')) continue
        const vector = { name: program, type, data_hex: call.data.toHex(), expected: fields }
        const { differences } = compareVector(venue, vector, aliases)
        if (differences.length === 0) return null
        if (closest[0] === 'no such call' || differences.length < closest.length) closest = differences
      }
      return closest.join('; ')
    }
  }
}

/** Expects an event of Jupiter in the transaction, in words. */
export function jupiterStatement(statement: string): Expectation {
  return {
    says: `Jupiter states ${statement}`,
    disagreement({ raw }) {
      const stated = statedByJupiter(raw).map(({ words }) => words)
      return stated.includes(statement) ? null : stated.join(', ') || 'nothing'
    }
  }
}
