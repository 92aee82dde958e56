import { TENANT } from '../../kernel/http/tenant-mark.ts'
import { z } from 'zod'
import { pubkeyMapKey, pubkeyToBase58, type Pubkey } from '../../chain/pubkey.ts'
import type { ShownAmounts } from '../../data/bodies/shown-amounts.ts'
import * as schema from '../../kernel/http/schema.ts'
import { secondsText } from '../../kernel/http/time.ts'

const UNREAD = 'Null while the account of a Token-2022 mint is unread'

const share = (meaning: string) =>
  z
    .number()
    .min(0)
    .max(100)
    .nullable()
    .describe(`${meaning}, in percent of \`held\`; null if nothing is held`)

const CONCENTRATION = z
  .object({
    top1_pct: share('Amount of the largest owner'),
    top5_pct: share('Amount of the 5 largest owners'),
    top10_pct: share('Amount of the 10 largest owners'),
    top20_pct: share('Amount of the 20 largest owners'),
    top50_pct: share('Amount of the 50 largest owners'),
    top100_pct: share('Amount of the 100 largest owners'),
    hhi: z
      .number()
      .min(0)
      .max(1)
      .nullable()
      .describe('Herfindahl-Hirschman index: the sum of the squares of all shares, from 0 to 1'),
    gini: z
      .number()
      .min(0)
      .max(1)
      .nullable()
      .describe(
        'Gini coefficient of the owners, 0 if all amounts are equal; null with more than 20,000 owners'
      ),
    adjusted: z
      .object({
        top10_pct: z
          .number()
          .min(0)
          .max(100)
          .nullable()
          .describe('Amount of the 10 largest of the remaining owners, in percent'),
        top20_pct: z
          .number()
          .min(0)
          .max(100)
          .nullable()
          .describe('Amount of the 20 largest of the remaining owners, in percent'),
        hhi: z
          .number()
          .min(0)
          .max(1)
          .nullable()
          .describe('Herfindahl-Hirschman index of the remaining owners'),
        excluded_pct: share('Amount of the excluded owners')
      })
      .nullable()
      .describe(
        'These figures without pools, bonding curves and burn addresses; null if the token has more than 500 pools, if the owner of a known pool’s vault is unknown, and for a currency such as SOL or USDC'
      )
  })
  .meta({ id: 'Concentration', description: 'Concentration: the amounts of the largest owners' })

const HOLDER = z
  .object({
    rank: z.int().min(1).describe('Place in the list, from 1'),
    owner: schema.address('The owner'),
    token_account: schema
      .address('The token account')
      .nullable()
      .describe('The token account with `by=token_account`, base58; else null'),
    amount: schema
      .amount('Balance')
      .nullable()
      .describe(`Balance in human units. ${schema.SCALED}. ${UNREAD}`),
    amount_raw: schema.rawAmount('Balance'),
    pct: z.number().min(0).max(100).describe('Share of `held`, in percent'),
    token_accounts: z.int().min(1).describe('Token accounts with tokens: 1 with `by=token_account`'),
    is_pool: z
      .boolean()
      .describe(
        'Whether it owns the vault of a pool: the program address that owns the vaults of all pools of a venue, or a pool that the index knows'
      ),
    is_curve: z.boolean().describe('Whether it owns the vault of a bonding curve'),
    is_burn: z.boolean().describe('Whether it is a burn address, whose tokens cannot be moved')
  })
  .meta({ id: 'Holder' })

/** Columns of holders as CSV. The order never changes, and new columns come last. */
export const HOLDER_COLUMNS = [
  ...['rank', 'owner', 'token_account', 'amount', 'amount_raw', 'pct', 'token_accounts'],
  ...['is_pool', 'is_curve', 'is_burn']
] as const satisfies readonly (keyof z.input<typeof HOLDER>)[]

export const HOLDERS_PAGE = z
  .object({
    tenant: TENANT,
    mint: schema.address('The token'),
    decimals: z
      .int()
      .min(0)
      .nullable()
      .describe('Decimals of the token; null for an address that is not a token'),
    supply: schema
      .amount('Supply')
      .nullable()
      .describe(
        `Supply at \`supply_slot\`, in human units. ${schema.SCALED}. Null if unknown, and for wrapped SOL, which has no supply`
      ),
    supply_raw: schema.rawAmount('Supply').nullable().describe('The supply in base units; text'),
    supply_slot: schema
      .count('Slot of the supply')
      .nullable()
      .describe(
        'The supply is exact at this slot: `slot`, unless the mint has transfer fees or confidential transfers. With these some of the supply is in no account, and the supply is what the mint last stated. Null if the supply is null'
      ),
    held: schema
      .amount('Sum of all token accounts')
      .nullable()
      .describe(
        `Sum of all token accounts at \`slot\`, in human units; the base of all shares. It is less than the supply by \`withheld\`. ${schema.SCALED}. Null for an address that is not a token. ${UNREAD}`
      ),
    held_raw: schema.rawAmount('The same').nullable(),
    withheld: schema
      .amount('Supply that is in no account')
      .nullable()
      .describe(
        'Supply less `held`: withheld transfer fees and confidential balances, in human units. Null if the supply is of another slot, and for wrapped SOL'
      ),
    withheld_raw: schema.rawAmount('The same').nullable().describe('`withheld` in base units; text'),
    ui_multiplier: schema.uiMultiplier,
    holders_count: schema.count('Owners with tokens'),
    token_accounts_count: schema.count('Token accounts with tokens'),
    slot: schema.count('The list is exact at this slot'),
    updated_at: schema.time('Time at which the list was complete at that slot', 'service'),
    age_seconds: schema.count('Seconds since then'),
    stale_reason: z
      .string()
      .nullable()
      .describe(
        'Reason why the list does not advance while it is being reread from the node; null while it follows the blocks'
      ),
    concentration: CONCENTRATION.nullable().describe('Null for an address that is not a token'),
    data: z.array(HOLDER).describe('The largest first; equal amounts are sorted by address'),
    nextCursor: z.string().nullable().describe('Start of the next page, for `after`; null at the end')
  })
  .meta({ id: 'Holders' })

export type HoldersBody = z.input<typeof HOLDERS_PAGE>

/** Facts of a list for its body. */
interface ListFacts {
  readonly sums: { readonly owners: number; readonly accounts: number; readonly held: bigint }
  readonly concentration: {
    readonly [K in 'top1' | 'top5' | 'top10' | 'top20' | 'top50' | 'top100' | 'hhi' | 'gini']: number | null
  }
  readonly adjusted: { readonly [K in 'top10' | 'top20' | 'hhi' | 'excluded']: number | null } | null
  readonly known: {
    readonly pools: ReadonlyMap<string, unknown>
    readonly curves: ReadonlyMap<string, unknown>
  }
}

/** Renders the facts of a whole list. */
export function listBody(
  { sums, concentration, adjusted }: Omit<ListFacts, 'known'>,
  at: {
    readonly mint: Pubkey
    readonly decimals: number
    readonly shown: ShownAmounts
    /** Base units, with the slot at which they are exact. */
    readonly supply: { readonly supply: bigint; readonly slot: number } | null
    readonly slot: number
    readonly atMs: number
    readonly nowMs: number
    readonly staleReason: string | null
  }
): Omit<HoldersBody, 'tenant' | 'data' | 'nextCursor'> {
  const { decimals, shown, supply } = at
  const withheld = supply === null || supply.slot !== at.slot ? null : supply.supply - sums.held
  const { top1, top5, top10, top20, top50, top100, hhi, gini } = concentration
  return {
    mint: pubkeyToBase58(at.mint),
    decimals,
    supply: supply === null ? null : shown.of(supply.supply),
    supply_raw: supply === null ? null : String(supply.supply),
    supply_slot: supply?.slot ?? null,
    held: shown.of(sums.held),
    held_raw: String(sums.held),
    withheld: withheld === null ? null : shown.of(withheld),
    withheld_raw: withheld === null ? null : String(withheld),
    ui_multiplier: shown.multiplier,
    holders_count: sums.owners,
    token_accounts_count: sums.accounts,
    slot: at.slot,
    ...timesOf(at),
    stale_reason: at.staleReason,
    concentration: {
      top1_pct: top1,
      top5_pct: top5,
      top10_pct: top10,
      top20_pct: top20,
      top50_pct: top50,
      top100_pct: top100,
      hhi,
      gini,
      adjusted: adjusted && {
        top10_pct: adjusted.top10,
        top20_pct: adjusted.top20,
        hhi: adjusted.hhi,
        excluded_pct: adjusted.excluded
      }
    }
  }
}

export const timesOf = ({ atMs, nowMs }: { readonly atMs: number; readonly nowMs: number }) => ({
  updated_at: secondsText(Math.floor(atMs / 1_000)),
  age_seconds: Math.max(0, Math.floor((nowMs - atMs) / 1_000))
})

/** Renders one holder. */
export function holderBody(
  {
    owner,
    account,
    amount,
    accounts
  }: {
    readonly owner: Pubkey
    readonly account: Pubkey | null
    readonly amount: bigint
    readonly accounts: number
  },
  rank: number,
  at: {
    readonly shown: ShownAmounts
    readonly pct: number
    readonly known: ListFacts['known']
    readonly isBurn: boolean
  }
): z.input<typeof HOLDER> {
  const key = pubkeyMapKey(owner)
  return {
    rank,
    owner: pubkeyToBase58(owner),
    token_account: account === null ? null : pubkeyToBase58(account),
    amount: at.shown.of(amount),
    amount_raw: String(amount),
    pct: at.pct,
    token_accounts: accounts,
    is_pool: at.known.pools.has(key),
    is_curve: at.known.curves.has(key),
    is_burn: at.isBurn
  }
}
