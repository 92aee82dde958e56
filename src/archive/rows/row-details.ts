import { z } from 'zod'
import { decodeBase58 } from '../../chain/base58.ts'
import { isU64Text } from '../../chain/chain-numbers.ts'
import type { Fee, RouteLeg, TradeReserves } from '../../chain/events.ts'
import { samePubkey, type Pubkey } from '../../chain/pubkey.ts'
import { humanAmount } from '../../market/amount.ts'
import { CashList, isWrappedSol } from '../../market/cash.ts'
import { COPY_OFFSETS } from '../../market/cursor.ts'
import { priceOf } from '../../market/price.ts'
import type { Commitment } from '../../market/rows.ts'
import type { RowCells, RowField } from './row-field.ts'
import type { FactDetails, FactLeg } from './trade-fact.ts'

/** The details of a row of this service, or why they cannot be read. */
export type DetailsReading =
  | { readonly details: FactDetails | null; readonly fault: null }
  | { readonly fault: string }

const FIELDS = [
  ...['cursor', 'fee_payer', 'commitment', 'trader_in_raw', 'trader_out_raw', 'fees', 'reserves', 'exact'],
  ...['route_id', 'route_program', 'hop', 'hops']
] as readonly RowField[]

const address = z.string().transform((text, context): Pubkey => {
  const bytes = text.length > 44 ? null : decoded(text)
  if (bytes?.length === 32) return bytes
  context.addIssue({ code: 'custom', message: 'is not an address' })
  return z.NEVER
})
const amount = z
  .string()
  .refine(isU64Text, 'is not an amount')
  .transform((text) => BigInt(text))
const whole = z
  .string()
  .regex(/^\d{1,16}$/)
  .transform(Number)

const FEE_KINDS = [
  ...(['protocol', 'platform', 'creator', 'share', 'referral', 'host', 'cashback'] as const),
  ...(['holder-rewards', 'trading', 'lp', 'transfer'] as const)
] as const satisfies readonly Fee['kind'][]

const fromJson = (text: string, context: z.RefinementCtx): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    context.addIssue({ code: 'custom', message: 'is not JSON' })
    return z.NEVER
  }
}

const DETAILS = z.object({
  cursor: whole.optional(),
  fee_payer: address.optional(),
  commitment: z.enum(['processed', 'confirmed', 'finalized']).optional(),
  trader_in_raw: amount.optional(),
  trader_out_raw: amount.optional(),
  fees: z
    .string()
    .transform(fromJson)
    .pipe(z.array(z.object({ kind: z.enum(FEE_KINDS), mint: address, amount_raw: amount })).max(64))
    .optional(),
  reserves: z
    .string()
    .transform(fromJson)
    .pipe(
      z.object({
        in_raw: amount.nullable(),
        out_raw: amount.nullable(),
        virtual_in_raw: amount.nullable(),
        virtual_out_raw: amount.nullable()
      })
    )
    .optional(),
  exact: z.enum(['in', 'out']).optional(),
  /** The signature, and the index of the instruction that routes. */
  route_id: z
    .string()
    .regex(/^[^:]{1,88}:\d{1,10}$/)
    .optional(),
  route_program: address.optional(),
  hop: whole.optional(),
  hops: whole.optional()
})
type Details = z.infer<typeof DETAILS>

const CASH = new CashList()

/** Reads the facts that only rows of this service state. `listed` is the mint that the row is listed under. */
export function readDetails(
  cells: RowCells,
  listed: Pubkey | null,
  paid: FactLeg,
  received: FactLeg
): DetailsReading {
  // Rows of vendors state none of them.
  if (!FIELDS.some((field) => cells[field] != null)) return { details: null, fault: null }
  const stated = Object.fromEntries(
    FIELDS.flatMap((field) => (cells[field] == null ? [] : [[field, cells[field]]]))
  )
  const parsed = DETAILS.safeParse(stated)
  if (!parsed.success) {
    const [issue] = parsed.error.issues
    return { fault: `${issue?.path.join('.') ?? 'a detail'} cannot be read (${issue?.message ?? ''})` }
  }
  const {
    cursor,
    fee_payer,
    trader_in_raw,
    trader_out_raw,
    fees = [],
    exact = null,
    commitment
  } = parsed.data
  return {
    fault: null,
    details: {
      cursor: cursor === undefined ? null : firstCursor(cursor, listed, paid.mint, received.mint),
      feePayer: fee_payer ?? null,
      commitment: (commitment ?? 'finalized') satisfies Commitment,
      traderIn: trader_in_raw ?? null,
      traderOut: trader_out_raw ?? null,
      fees: fees.map(({ kind, mint, amount_raw }) => ({ kind, mint, amount: amount_raw })),
      reserves: reservesOf(parsed.data),
      exact,
      route: routeOf(parsed.data)
    }
  }
}

/** A trade without a cash side has two rows. The second one, of the mint received, has a cursor of its own. */
function firstCursor(cursor: number, listed: Pubkey | null, inMint: Pubkey, outMint: Pubkey): number {
  const isSecond = listed !== null && CASH.sideOf({ inMint, outMint }) === null && samePubkey(listed, outMint)
  return isSecond ? cursor - COPY_OFFSETS.swap.tradesOut : cursor
}

function reservesOf({ reserves }: Details): TradeReserves | null {
  if (reserves === undefined) return null
  const { in_raw, out_raw, virtual_in_raw, virtual_out_raw } = reserves
  return {
    ...(in_raw !== null && { in: in_raw }),
    ...(out_raw !== null && { out: out_raw }),
    ...(virtual_in_raw !== null && { virtualIn: virtual_in_raw }),
    ...(virtual_out_raw !== null && { virtualOut: virtual_out_raw })
  }
}

function routeOf({ route_id, route_program, hop, hops }: Details): RouteLeg | null {
  if (route_id === undefined || route_program === undefined || hop === undefined || hops === undefined)
    return null
  return { program: route_program, ixIndex: Number(route_id.slice(route_id.indexOf(':') + 1)), hop, hops }
}

function decoded(text: string): Uint8Array | null {
  try {
    return decodeBase58(text)
  } catch {
    return null
  }
}

/** Neighbours of a quotient that are tried: it is off by its own rounding and that of the product. */
const NEIGHBOURS = [0, 1, -1, 2, -2, 3, -3]

/**
 * Returns the USD per SOL by which a row of this service was valued, so that the same values follow from it again; null if the
 * cash is not SOL, or the row states no value.
 */
export function valuedSolUsd(
  amountUsd: number | null,
  priceUsd: number | null,
  paid: FactLeg & { readonly decimals: number },
  received: FactLeg & { readonly decimals: number }
): number | null {
  const side = CASH.sideOf({ inMint: paid.mint, outMint: received.mint })
  if (amountUsd === null || side === null) return null
  const [cash, token] = side === 'in' ? [paid, received] : [received, paid]
  if (!isWrappedSol(cash.mint)) return null
  const cashAmount = humanAmount(cash.amountRaw, cash.decimals)
  const legOf = ({ mint, decimals, amountRaw }: typeof cash) => ({ mint, decimals, amount: amountRaw })
  const price = priceOf(legOf(cash), legOf(token))
  const usd = amountUsd / cashAmount
  const found = NEIGHBOURS.map((steps) => neighbour(usd, steps)).find(
    (each) =>
      cashAmount * each === amountUsd && (priceUsd === null || price === null || price * each === priceUsd)
  )
  return found ?? usd
}

const view = new DataView(new ArrayBuffer(8))

/** Returns the double that is some steps above a positive one. */
function neighbour(value: number, steps: number): number {
  view.setFloat64(0, value)
  view.setBigInt64(0, view.getBigInt64(0) + BigInt(steps))
  return view.getFloat64(0)
}
