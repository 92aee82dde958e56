import { z } from 'zod'
import type { TokenAccount } from '../token-account.ts'
import { TOKEN_PROGRAM_NAMES } from '../token-program.ts'
import { pubkeyToBase58, type Pubkey } from '../../chain/pubkey.ts'
import { addressOrNull } from '../../data/bodies/event.ts'
import * as schema from '../../kernel/http/schema.ts'
import type { ShownAmounts } from '../../data/bodies/shown-amounts.ts'

const TOKEN_ACCOUNT = z
  .object({
    pubkey: schema.address('The token account'),
    mint: schema.address('The token'),
    owner: schema.address('The wallet'),
    amount: schema
      .amount('Balance')
      .nullable()
      .describe(
        `Balance in human units (decimals applied). ${schema.SCALED}. Null if the mint could not be read`
      ),
    amount_raw: schema.rawAmount('Balance'),
    decimals: z.int().min(0).nullable().describe('Decimals of the token; null if the mint could not be read'),
    ui_multiplier: schema.uiMultiplier,
    state: z.enum(['initialized', 'frozen']).describe('`frozen`: no transfer until it is thawed'),
    delegate: schema.address('May move tokens for the owner').nullable(),
    delegated_amount_raw: schema.rawAmount('Amount that the delegate may still move'),
    close_authority: schema.address('May close the account in place of the owner').nullable(),
    is_native: z.boolean().describe('Whether it holds wrapped SOL'),
    rent_exempt_reserve: schema
      .rawAmount('Rent-exempt reserve of a wrapped-SOL account')
      .nullable()
      .describe(
        'Rent-exempt reserve of a wrapped-SOL account, in lamports; not included in its token balance; text; null for every other token'
      ),
    program: z.enum(TOKEN_PROGRAM_NAMES).describe('The token program'),
    extensions: z.array(z.string()).describe('Names of its Token-2022 extensions, in their order'),
    withheld_raw: schema
      .rawAmount('Transfer fees withheld in the account')
      .nullable()
      .describe(
        'Transfer fees withheld in the account, in base units; null for a token without transfer fee'
      ),
    lamports: schema.rawAmount('Lamports of the account').describe('Lamports of the account; text')
  })
  .meta({ id: 'TokenAccount', description: 'A token account, as the node returns it' })

export const TOKEN_ACCOUNTS = z
  .object({
    wallet: schema.address('The wallet'),
    slot: schema.count('Slot at which the accounts were read, at confirmed'),
    data: z.array(TOKEN_ACCOUNT).describe('Ascending by `pubkey`')
  })
  .meta({ id: 'TokenAccounts' })

/** A token account with its address and lamports. */
export interface HeldAccount {
  readonly address: Pubkey
  readonly lamports: bigint
  readonly account: TokenAccount
}

/** Renders a token account; `decimals` are those of its mint, null if unknown, and `shown` its amounts. */
export function tokenAccountBody(
  { address, lamports, account }: HeldAccount,
  decimals: number | null,
  shown: ShownAmounts
): z.input<typeof TOKEN_ACCOUNT> {
  return {
    pubkey: pubkeyToBase58(address),
    mint: pubkeyToBase58(account.mint),
    owner: pubkeyToBase58(account.owner),
    amount: shown.of(account.amount),
    amount_raw: String(account.amount),
    decimals,
    ui_multiplier: shown.multiplier,
    state: account.state,
    delegate: addressOrNull(account.delegate),
    delegated_amount_raw: String(account.delegatedAmount),
    close_authority: addressOrNull(account.closeAuthority),
    is_native: account.nativeReserve !== null,
    rent_exempt_reserve: account.nativeReserve === null ? null : String(account.nativeReserve),
    program: account.tokenProgram,
    extensions: [...account.extensions],
    withheld_raw: account.withheld === null ? null : String(account.withheld),
    lamports: String(lamports)
  }
}
