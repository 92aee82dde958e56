import { z } from 'zod'
import { BLOCK_TIME_MAX, SLOT_MAX } from '../../chain/chain-numbers.ts'
import { pubkeyToBase58 } from '../../chain/pubkey.ts'
import { address } from '../../kernel/http/parameters.ts'
import * as schema from '../../kernel/http/schema.ts'
import { COUNTERPARTY_CONFIDENCES, ENTRY_KINDS } from '../entry-enums.ts'
import { AFTER_TRANSACTIONS, BEFORE_TRANSACTIONS, type LedgerChange } from '../ledger-entry.ts'

/** Rows of an address by one transaction: each of its accounts has two, and a transaction has at most 256 accounts. */
const INDEX_MAX = 1_023
const U64_MAX = 2n ** 64n - 1n

const slot = z.int().min(0).max(SLOT_MAX)
const pubkey = address.transform(pubkeyToBase58)
const amount = z
  .string()
  .regex(/^\d{1,20}$/, 'must be base units, as text of digits')
  .transform(BigInt)
  .refine((value) => value <= U64_MAX, 'must be below 2^64')
const usd = z.number().nullable().optional()

/** Schema of an imported row: the fields of a row of `GET /v1/revenue/events`, and its place in the block. */
export const archivedRow = z.looseObject({
  slot: slot.describe('Slot of the block'),
  tx_index: z
    .int()
    .min(BEFORE_TRANSACTIONS)
    .max(AFTER_TRANSACTIONS)
    .describe(
      `Index of the transaction in its block; ${BEFORE_TRANSACTIONS} for rewards before the transactions, ${AFTER_TRANSACTIONS} for those after them`
    ),
  index: z
    .int()
    .min(0)
    .max(INDEX_MAX)
    .describe('Place among the rows of the address by this transaction, from 0 without a gap'),
  ts_ms: z
    .int()
    .min(0)
    .max(BLOCK_TIME_MAX * 1_000)
    .multipleOf(1_000)
    .describe(schema.unixMs('Time of the block', 'block').description!),
  signature: schema.signature('The transaction').nullable().describe('Null for a reward'),
  account: pubkey.describe('The account with the changed balance'),
  mint: pubkey.describe('Mint of the balance; that of wrapped SOL for lamports'),
  is_native: z.boolean().describe('Whether lamports changed'),
  decimals: z.int().min(0).max(255).describe('Decimals of the mint'),
  pre_raw: amount.describe('Balance before, in base units'),
  post_raw: amount.describe('Balance after, in base units'),
  kind: z.enum(ENTRY_KINDS).describe('Cause of the change'),
  counterparty: pubkey.nullable().describe('The other side of the change'),
  counterparty_confidence: z.enum(COUNTERPARTY_CONFIDENCES).describe('How the counterparty is known'),
  fee_lamports: z.int().min(0).describe('Fee of the transaction in lamports'),
  fee_payer: pubkey.nullable().describe('Payer of the fee; null for a reward'),
  ix_index: z.int().min(0).max(65_535).nullable().describe('Index of the outer instruction; null if unknown'),
  value_usd: usd.describe('Value in USD; if absent, the price at the time of the block is looked up'),
  attributed_fee_usd: usd.describe('The fee in USD, on the lamports of its payer')
})
export type ArchivedRow = z.output<typeof archivedRow>

/** Returns the change that a row states. */
export const changeOf = (row: ArchivedRow): LedgerChange => ({
  signature: row.signature,
  txIndex: row.tx_index,
  index: row.index,
  account: row.account,
  mint: row.mint,
  isNative: row.is_native,
  decimals: row.decimals,
  pre: row.pre_raw,
  post: row.post_raw,
  kind: row.kind,
  counterparty: row.counterparty,
  confidence: row.counterparty_confidence,
  feeLamports: BigInt(row.fee_lamports),
  feePayer: row.fee_payer,
  ixIndex: row.ix_index
})

/** Returns why rows cannot be stored, with the name of the field; null if they can. */
export function faultIn(rows: readonly ArchivedRow[], nowMs: number): string | null {
  const transactions = new Map<string, number[]>()
  for (const [at, row] of rows.entries()) {
    if (row.ts_ms > nowMs) return `rows[${at}].ts_ms is in the future`
    if (row.pre_raw === row.post_raw) return `rows[${at}].post_raw equals pre_raw: it is no change`
    const key = `${row.slot} ${row.tx_index}`
    const known = transactions.get(key)
    if (known === undefined) transactions.set(key, [row.index])
    else known.push(row.index)
  }
  for (const [key, indexes] of transactions)
    if (indexes.toSorted((a, b) => a - b).some((index, at) => index !== at))
      return `rows must have every row of transaction ${key.replace(' ', ', place ')}: index has a gap or repeats`
  return null
}
