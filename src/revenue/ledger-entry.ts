import { z } from 'zod'
import { TRANSACTION_INDEX_MAX } from '../chain/chain-numbers.ts'
import { jsonBigint } from '../../storage/document-definition.ts'
import { COUNTERPARTY_CONFIDENCES, ENTRY_KINDS } from './entry-enums.ts'

/** `txIndex` of rewards of stake and votes, which a block pays before its first transaction. */
export const BEFORE_TRANSACTIONS = -1
/** `txIndex` of rewards for fees, which a block pays at its end: above the index of any transaction. */
export const AFTER_TRANSACTIONS = TRANSACTION_INDEX_MAX + 1

/** A balance change of a watched address by one transaction, or by a reward, as the chain states it. */
export const ledgerChange = z.object({
  /** Base58, like all addresses of an entry; null for a reward, which no transaction causes. */
  signature: z.string().nullable(),
  /** Place of the transaction in its block; `BEFORE_TRANSACTIONS` or `AFTER_TRANSACTIONS` for a reward. */
  txIndex: z.number(),
  /** Position among the address's entries of the transaction, from 0. */
  index: z.number(),
  /** The account whose balance has changed: the address itself for lamports, else a token account. */
  account: z.string(),
  /** The mint of wrapped SOL for lamports (`isNative`). */
  mint: z.string(),
  isNative: z.boolean(),
  decimals: z.number(),
  /** Base units before and after; 0 for a token account that did not exist, or belonged to another owner. */
  pre: jsonBigint,
  post: jsonBigint,
  kind: z.enum(ENTRY_KINDS),
  counterparty: z.string().nullable(),
  confidence: z.enum(COUNTERPARTY_CONFIDENCES),
  /** Fee of the transaction, whoever paid it; 0 for a reward. */
  feeLamports: jsonBigint,
  /** Null for a reward. */
  feePayer: z.string().nullable(),
  /** Index of the outer instruction that changed the balance; null if unknown. */
  ixIndex: z.number().nullable()
})
export type LedgerChange = z.infer<typeof ledgerChange>

/** A balance change with its values at the time of its block. */
export const ledgerEntry = ledgerChange.extend({
  /** USD value of the change, negative for an outflow; null if the price is unknown. */
  valueUsd: z.number().nullable(),
  /** USD value of the fee, on the lamports of the address that paid it; null elsewhere, and if the price is unknown. */
  feeUsd: z.number().nullable()
})
export type LedgerEntry = z.infer<typeof ledgerEntry>

/** The change in base units: positive for an inflow. */
export const deltaOf = ({ pre, post }: Pick<LedgerChange, 'pre' | 'post'>): bigint => post - pre
