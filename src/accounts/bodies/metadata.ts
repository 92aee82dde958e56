import { z } from 'zod'
import type { KnownMint, MintFacts } from '../mint-facts.ts'
import { TOKEN_PROGRAM_NAMES } from '../token-program.ts'
import type { TransferFee } from '../../chain/transfer-fee.ts'
import { pubkeyToBase58, type Pubkey } from '../../chain/pubkey.ts'
import { uiAmount } from '../ui-scale.ts'
import type { MintNames } from '../../market/mint-names.ts'
import { addressOrNull } from '../../data/bodies/event.ts'
import { SCALE, scaleBody } from '../../data/bodies/mint-scale.ts'
import { OFF_CHAIN } from './off-chain-metadata.ts'
import * as schema from '../../kernel/http/schema.ts'
import { ageSeconds, secondsText } from '../../kernel/http/time.ts'

const NAME =
  'as its metadata states it, without padding. Without metadata on the chain, it is a known value for wrapped SOL, USDC and USDT, and the value of the launch for others. Null if unknown'

/** Names and decimals of a token, from its accounts, or else from its launch. */
export const NAMES = {
  name: z.string().nullable().describe(`Name, ${NAME}`),
  symbol: z.string().nullable().describe(`Symbol, ${NAME}`),
  uri: z.string().nullable().describe(`URI of its metadata, ${NAME}`),
  decimals: z.int().min(0).nullable().describe('Decimals; null when unknown')
}

/** Sources of a name; the first source that has a name wins. */
const NAME_SOURCES = ['token-2022', 'metaplex', 'cash-list', 'launch'] as const
export type NameSource = (typeof NAME_SOURCES)[number]

const UNREAD = 'null while the account has not been read'
const authority = (meaning: string) =>
  schema.address(meaning).nullable().describe(`${meaning}; base58; null when revoked; ${UNREAD}`)
const ofExtension = (meaning: string) =>
  schema
    .address(meaning)
    .nullable()
    .describe(`${meaning}; base58; null if the mint lacks the extension, or when revoked`)

const FEE = z
  .object({
    epoch: z.int().min(0).describe('The epoch from which it is in force'),
    bps: z.int().min(0).describe('Fee in hundredths of a percent of the amount, rounded up'),
    maximum_raw: schema.rawAmount('Largest fee of one transfer')
  })
  .meta({ id: 'TransferFee' })

const TRANSFER_FEE = z
  .object({
    older: FEE.describe('In force before the epoch of `newer`'),
    newer: FEE,
    withheld_raw: schema.rawAmount('Withheld fees that were moved to the mint'),
    config_authority: ofExtension('May change the fee'),
    withdraw_authority: ofExtension('May withdraw the fees')
  })
  .meta({ id: 'TransferFeeConfig', description: 'The transfer fee of a Token-2022 mint, by epoch' })

export const METADATA = z
  .object({
    mint: schema.address('The token'),
    ...NAMES,
    name_source: z
      .enum(NAME_SOURCES)
      .nullable()
      .describe(
        'Origin of the names: the mint itself (`token-2022`), its metadata account (`metaplex`), a list in the service (`cash-list`), or its launch (`launch`). Null if no names are known'
      ),
    supply: schema
      .amount('Supply')
      .nullable()
      .describe(`Supply in human units, ${schema.SUPPLY}. ${schema.SCALED}`),
    supply_raw: schema.rawAmount('Supply').nullable().describe(`Supply in base units, ${schema.SUPPLY}`),
    mint_authority: authority('May mint more'),
    freeze_authority: authority('May freeze token accounts'),
    token_program: z.enum(TOKEN_PROGRAM_NAMES).nullable().describe(`The token program; ${UNREAD}`),
    extensions: z
      .array(z.string())
      .nullable()
      .describe(
        `Names of its Token-2022 extensions, in their order. An extension that the service does not know is \`unknown_\` and its number; ${UNREAD}`
      ),
    transfer_fee_bps: z
      .int()
      .min(0)
      .nullable()
      .describe(
        'Transfer fee at the slot, in hundredths of a percent; null if the mint has no transfer fee, and if the epoch of the slot is unknown'
      ),
    transfer_fee: TRANSFER_FEE.nullable().describe(
      'The transfer fee by epoch; null if the mint lacks the extension'
    ),
    ...SCALE,
    update_authority: schema
      .address('May change the names')
      .nullable()
      .describe('May change the names; base58; null when revoked, or if there is no metadata on the chain'),
    mutable: z
      .boolean()
      .nullable()
      .describe('Whether the names can change; null if there is no metadata on the chain'),
    permanent_delegate: ofExtension('May move and burn the tokens of every account'),
    close_authority: ofExtension('May close the mint once its supply is zero'),
    transfer_hook_program: ofExtension('Program that every transfer calls'),
    default_account_state: z
      .enum(['initialized', 'frozen'])
      .nullable()
      .describe('State of new token accounts; null if the mint lacks the extension'),
    paused: z
      .boolean()
      .nullable()
      .describe('Whether transfers, mints and burns are paused; null if the mint lacks the extension'),
    slot: schema
      .count('Slot')
      .nullable()
      .describe(`Slot at which the accounts were read, at confirmed; ${UNREAD}`),
    updated_at: schema
      .time('When the accounts were read', 'service')
      .nullable()
      .describe(
        `When the accounts were read; by the clock of the service, UTC, \`YYYY-MM-DD HH:MM:SS\`; ${UNREAD}`
      ),
    off_chain: OFF_CHAIN.nullable().describe(
      'Fields of the JSON at `uri`; only in `/v1/metadata`, and null unless the operator has set `MILLRACE_TOKEN_IMAGES`'
    ),
    age_seconds: schema
      .count('Age')
      .nullable()
      .describe(
        `Whole seconds since then. In \`/v1/metadata\`, it exceeds 6 only while no node answers; ${UNREAD}`
      )
  })
  .meta({ id: 'Metadata', description: 'Data from the accounts of a mint' })

export const METADATA_BATCH = z
  .object({
    data: z.array(METADATA).describe('In the order of the request, each mint once'),
    missing: z
      .array(schema.address('An address'))
      .describe(
        'Addresses that are not mints: they have no account, or an account of another kind or program'
      )
  })
  .meta({ id: 'MetadataBatch' })

/** Facts of a mint from events, used if its accounts state none. */
export interface StatedMint {
  readonly mint: Pubkey
  readonly names: MintNames
  /** Null if the mint has no names. */
  readonly namesFrom: NameSource | null
  /** Supply in base units and in human units. */
  readonly supplyRaw: bigint | null
  readonly supply: number | null
}

/** Renders the known facts of a mint without its accounts. */
export function statedMetadataBody(stated: StatedMint): z.input<typeof METADATA> {
  return {
    mint: pubkeyToBase58(stated.mint),
    ...stated.names,
    name_source: stated.namesFrom,
    supply: stated.supply,
    supply_raw: stated.supplyRaw === null ? null : String(stated.supplyRaw),
    mint_authority: null,
    freeze_authority: null,
    token_program: null,
    extensions: null,
    transfer_fee_bps: null,
    transfer_fee: null,
    ui_multiplier: null,
    ui_multiplier_since: null,
    ui_multiplier_next: null,
    interest: null,
    update_authority: null,
    mutable: null,
    permanent_delegate: null,
    close_authority: null,
    transfer_hook_program: null,
    default_account_state: null,
    paused: null,
    slot: null,
    updated_at: null,
    off_chain: null,
    age_seconds: null
  }
}

/** Renders the facts of a mint at a time; `stated` provides the names if its accounts have none. */
export function metadataBody(
  facts: MintFacts,
  { slot, readAtMs }: Pick<KnownMint, 'slot' | 'readAtMs'>,
  stated: Pick<StatedMint, 'names' | 'namesFrom'>,
  nowMs: number
): z.input<typeof METADATA> {
  const { account, names } = facts
  const { transferFee, transferHook, scale, ...features } = account.features
  const atSeconds = facts.chainSeconds
  return {
    mint: pubkeyToBase58(facts.mint),
    ...mergedNames(facts, stated),
    supply:
      scale !== null && atSeconds === null
        ? null
        : uiAmount(account.supply, { decimals: account.decimals, scale }, atSeconds ?? 0),
    supply_raw: String(account.supply),
    mint_authority: addressOrNull(account.mintAuthority),
    freeze_authority: addressOrNull(account.freezeAuthority),
    token_program: account.tokenProgram,
    extensions: [...account.extensions],
    transfer_fee_bps: facts.transferFee?.basisPoints ?? null,
    transfer_fee: transferFee && {
      older: feeBody(transferFee.older),
      newer: feeBody(transferFee.newer),
      withheld_raw: String(transferFee.withheld),
      config_authority: addressOrNull(transferFee.configAuthority),
      withdraw_authority: addressOrNull(transferFee.withdrawAuthority)
    },
    ...scaleBody(scale, atSeconds),
    update_authority: addressOrNull(names?.updateAuthority ?? null),
    mutable: names?.isMutable ?? null,
    permanent_delegate: addressOrNull(features.permanentDelegate),
    close_authority: addressOrNull(features.closeAuthority),
    transfer_hook_program: addressOrNull(transferHook?.program ?? null),
    default_account_state: features.defaultAccountState,
    paused: features.paused,
    slot,
    updated_at: secondsText(Math.floor(readAtMs / 1000)),
    off_chain: null,
    age_seconds: ageSeconds(readAtMs, nowMs)
  }
}

/** Selects the names of a mint: its accounts', or else the stated ones. The decimals are the account's. */
export function mergedNames(
  { account: { decimals }, names, namesFrom }: MintFacts,
  stated: Pick<StatedMint, 'names' | 'namesFrom'>
): MintNames & { readonly name_source: NameSource | null } {
  const chosen = names === null ? stated.names : names
  const { name, symbol, uri } = chosen
  return { name, symbol, uri, decimals, name_source: names === null ? stated.namesFrom : namesFrom }
}

const feeBody = ({ epoch, basisPoints, maximum }: TransferFee): z.input<typeof FEE> => ({
  epoch: Number(epoch),
  bps: basisPoints,
  maximum_raw: String(maximum)
})
