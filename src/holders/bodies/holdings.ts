import { TENANT } from '../../kernel/http/tenant-mark.ts'
import { z } from 'zod'
import { TOKEN_PROGRAM_NAMES } from '../../accounts/token-program.ts'
import { pubkeyToBase58, type Pubkey } from '../../chain/pubkey.ts'
import * as schema from '../../kernel/http/schema.ts'
import type { ShownAmounts } from '../../data/bodies/shown-amounts.ts'
import { secondsText } from '../../kernel/http/time.ts'

const HOLDING = z
  .object({
    mint: schema.address('The token; for SOL, the mint of wrapped SOL'),
    symbol: z.string().nullable().describe('Symbol; null when unknown'),
    name: z.string().nullable().describe('Name; null when unknown'),
    decimals: z.int().min(0).nullable().describe('Decimals; null if the mint could not be read'),
    amount: schema
      .amount('Balance')
      .nullable()
      .describe(`Balance in human units. ${schema.SCALED}. Null if the mint could not be read`),
    amount_raw: schema.rawAmount('Balance of all token accounts'),
    ui_multiplier: schema.uiMultiplier,
    price_usd: schema.usd('Price').nullable().describe('The latest price in USD; null if unknown'),
    value_usd: schema
      .usd('Balance × price')
      .nullable()
      .describe(
        '`amount_raw` with the decimals applied × `price_usd`; null if the decimals or the price are unknown'
      ),
    price_ts: schema.time('Time of the trade that the price comes from', 'block').nullable(),
    token_program: z.enum(TOKEN_PROGRAM_NAMES).nullable().describe('The token program; null for SOL'),
    token_accounts: schema.count('Token accounts with tokens; 0 for SOL'),
    is_native: z.boolean().describe('Whether it is SOL, which is not a token'),
    frozen: z.boolean().describe('Whether one of its accounts is frozen')
  })
  .meta({ id: 'Holding' })

/** Columns of holdings as CSV. The order never changes, and new columns come last. */
export const HOLDING_COLUMNS = [
  ...[
    'mint',
    'symbol',
    'name',
    'decimals',
    'amount',
    'amount_raw',
    'ui_multiplier',
    'price_usd',
    'value_usd'
  ],
  ...['price_ts', 'token_program', 'token_accounts', 'is_native', 'frozen']
] as const satisfies readonly (keyof z.input<typeof HOLDING>)[]

export const HOLDINGS_PAGE = z
  .object({
    tenant: TENANT,
    wallet: schema.address('The wallet'),
    total_value_usd: schema.usd('Value of all holdings with a known value, including those of other pages'),
    unvalued_holdings: schema
      .count('Holdings')
      .nullable()
      .optional()
      .describe(
        'Holdings without a known value, which `total_value_usd` lacks. Absent if it has all; null if they were not counted, for minutes after an upgrade'
      ),
    slot: schema.count('Balances are from this slot, or from a later one'),
    updated_at: schema.time('Time at which the balances were read', 'service'),
    age_seconds: schema.count('Seconds since then'),
    holdings_count: schema.count('Number of holdings: the tokens of the wallet, and SOL if it is listed'),
    data: z
      .array(HOLDING)
      .describe('SOL first, then the most valuable holding; those without a value come last'),
    nextCursor: z.string().nullable().describe('Start of the next page, for `after`; null at the end')
  })
  .meta({ id: 'Holdings' })

export type HoldingBody = z.input<typeof HOLDING>

/** Renders one holding. */
export function holdingBody(
  held: {
    readonly mint: Pubkey
    readonly amount: bigint
    readonly decimals: number | null
    readonly priceUsd: number | null
    readonly priceAt: number | null
    readonly valueUsd: number | null
    readonly tokenProgram: (typeof TOKEN_PROGRAM_NAMES)[number] | null
    readonly accounts: number
    readonly isFrozen: boolean
  },
  names: { readonly symbol: string | null; readonly name: string | null },
  shown: ShownAmounts
): HoldingBody {
  const { decimals, amount } = held
  return {
    mint: pubkeyToBase58(held.mint),
    symbol: names.symbol,
    name: names.name,
    decimals,
    amount: shown.of(amount),
    amount_raw: String(amount),
    ui_multiplier: shown.multiplier,
    price_usd: held.priceUsd,
    value_usd: held.valueUsd,
    price_ts: held.priceAt === null ? null : secondsText(held.priceAt),
    token_program: held.tokenProgram,
    token_accounts: held.accounts,
    is_native: held.tokenProgram === null,
    frozen: held.isFrozen
  }
}
