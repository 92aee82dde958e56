import { z } from 'zod'
import { humanAmount } from '../../market/amount.ts'
import {
  COUNTERPARTY_CONFIDENCES,
  ENTRY_KINDS,
  type CounterpartyConfidence,
  type EntryKind
} from '../entry-enums.ts'
import * as schema from '../../kernel/http/schema.ts'
import { secondsText } from '../../kernel/http/time.ts'

/**
 * The ledger of watched addresses in answers and on the stream. The client's package includes this file, so it imports
 * nothing of the store.
 */

const balance = (when: string) =>
  schema.rawAmount(
    `Balance of the account ${when} the transaction; 0 if it did not exist or had another owner`
  )

/** Schema of a row of the ledger, without its `cursor`: a REST row and a stream event have different ones. */
export const LEDGER_ENTRY_BODY = z
  .object({
    id: schema.text(
      'Unique within the ledger of the tenant: `signature:address:account`, then `:mint` for a token balance; `reward:slot:place:index:address` for a reward'
    ),
    address: schema.address('The watched address'),
    account: schema.address(
      'The account with the changed balance: the address itself or a token account of it'
    ),
    label: schema.text('Label of the address'),
    role: schema.text('Role of the address'),
    mint: schema.address('Mint of the balance; that of wrapped SOL for lamports'),
    is_native: z.boolean().describe('Whether the lamports of the address changed, not a token balance'),
    symbol: schema.text('Symbol of the mint; null if unknown').nullable(),
    decimals: schema.count('Decimals of the mint'),
    delta: z.number().describe('The change in human units (decimals applied): negative for an outflow'),
    delta_raw: z
      .string()
      .regex(/^-?\d+$/)
      .describe(
        'The change in base units: `post_raw` − `pre_raw`, negative for an outflow; text, because it may exceed 2^53'
      ),
    pre_raw: balance('before'),
    post_raw: balance('after'),
    value_usd: z
      .number()
      .nullable()
      .describe(
        'Value of the change in USD, at the time of its block: negative for an outflow; null if the price is unknown'
      ),
    direction: z.enum(['in', 'out']).describe('Whether the balance grew or shrank'),
    kind: z.enum(ENTRY_KINDS).describe('Cause of the change; kinds may be added'),
    fee_lamports: schema.count('Fee of the transaction in lamports, whoever paid it; 0 for a reward'),
    fee_payer: schema
      .address('Payer of the transaction fee')
      .nullable()
      .describe('Payer of the transaction fee; base58; null for a reward'),
    attributed_fee_usd: schema
      .usd('The fee')
      .nullable()
      .describe(
        'The fee in USD, on the lamports of the address that paid it; null on every other entry, and if the price is unknown'
      ),
    counterparty: schema
      .address('The other side of the change')
      .nullable()
      .describe('The other side of the change; base58; null if unknown'),
    counterparty_confidence: z
      .enum(COUNTERPARTY_CONFIDENCES)
      .describe(
        '`exact`: the only address with the opposite change; `inferred`: the pool of a swap, or the address with the largest opposite change; `none`: unknown'
      ),
    signature: schema
      .signature('The transaction')
      .nullable()
      .describe('Signature of the transaction; base58; null for a reward, which no transaction causes'),
    slot: schema.count('Slot of the block'),
    ix_index: schema
      .count('Index of the outer instruction')
      .nullable()
      .describe('Index of the outer instruction that changed the balance; null if unknown'),
    ts: schema.time('Time of the block', 'block'),
    ts_ms: schema.unixMs('Time of the block', 'block'),
    source: z
      .literal('archive')
      .optional()
      .describe('Present on a row that was read from the history of the chain, not captured live')
  })
  .meta({ id: 'LedgerEntry', description: 'A balance change of a watched address by one transaction' })
export type LedgerEntryBody = z.input<typeof LEDGER_ENTRY_BODY>

/** Schema of an event of the stream's channel `revenue`. */
export const LEDGER_ENTRY_EVENT = z
  .object({
    event: z
      .enum(['entry', 'retracted'])
      .describe(
        '`entry`: the ledger has a new row. `retracted`: a fork dropped its block, and the row is gone'
      ),
    ...LEDGER_ENTRY_BODY.shape,
    block_time: schema.blockTime('Time of the block'),
    ts_ms: schema.unixMs('Time at which the row was added or removed', 'ingest'),
    cursor: schema.count('Cursor of the newest published block; several events can share a cursor')
  })
  .meta({ id: 'LedgerEntryEvent', description: 'A row added to the ledger of a watched address, or removed' })
/** The data of an event without its cursor, which the process of each connection adds. */
export type LedgerEntryData = Omit<z.input<typeof LEDGER_ENTRY_EVENT>, 'cursor'>

/** The rendered fields of a row of the ledger (`LedgerRow`). Addresses are base58. */
export interface RenderedRow {
  readonly address: string
  readonly account: string
  readonly mint: string
  readonly isNative: boolean
  readonly decimals: number
  readonly pre: bigint
  readonly post: bigint
  readonly valueUsd: number | null
  readonly kind: EntryKind
  readonly feeLamports: bigint
  readonly feePayer: string | null
  readonly feeUsd: number | null
  readonly counterparty: string | null
  readonly confidence: CounterpartyConfidence
  /** Null for a reward. */
  readonly signature: string | null
  readonly txIndex: number
  /** Position among the address's rows of the transaction, or of the rewards. */
  readonly index: number
  readonly slot: number
  readonly ixIndex: number | null
  /** Unix seconds. */
  readonly blockTime: number
  /** Absent for a row that was captured live. */
  readonly source?: 'archive' | undefined
}

/** Names of a row's address and mint, which the chain does not state. */
export interface RowNames {
  readonly label: string
  readonly role: string
  /** Null if unknown. */
  readonly symbol: string | null
}

/** Renders a row of the ledger, without its cursor (src/docs/revenue.md). */
export function ledgerEntryBody(row: RenderedRow, { label, role, symbol }: RowNames): LedgerEntryBody {
  const delta = row.post - row.pre
  return {
    id: idOf(row),
    address: row.address,
    account: row.account,
    label,
    role,
    mint: row.mint,
    is_native: row.isNative,
    symbol,
    decimals: row.decimals,
    delta: delta < 0n ? -humanAmount(-delta, row.decimals) : humanAmount(delta, row.decimals),
    delta_raw: delta.toString(),
    pre_raw: row.pre.toString(),
    post_raw: row.post.toString(),
    value_usd: row.valueUsd,
    direction: delta > 0n ? 'in' : 'out',
    kind: row.kind,
    fee_lamports: Number(row.feeLamports),
    fee_payer: row.feePayer,
    attributed_fee_usd: row.feeUsd,
    counterparty: row.counterparty,
    counterparty_confidence: row.confidence,
    signature: row.signature,
    slot: row.slot,
    ix_index: row.ixIndex,
    ts: secondsText(row.blockTime),
    ts_ms: row.blockTime * 1000,
    ...(row.source !== undefined && { source: row.source })
  }
}

/** Renders the data of a stream event about a row, without its cursor. `atMs` is the time of the change of the ledger. */
export function ledgerEntryEvent(
  event: LedgerEntryData['event'],
  row: RenderedRow,
  names: RowNames,
  atMs: number
): LedgerEntryData {
  return { event, ...ledgerEntryBody(row, names), block_time: row.blockTime, ts_ms: atMs }
}

/**
 * Returns the id of a row. A watched token account has two rows of one transaction: its lamports and its tokens. A reward
 * has its slot and place instead of a signature.
 */
function idOf({ signature, address, account, mint, isNative, slot, txIndex, index }: RenderedRow): string {
  if (signature === null) return ['reward', slot, txIndex < 0 ? 'before' : 'after', index, address].join(':')
  return [signature, address, account, ...(isNative ? [] : [mint])].join(':')
}
