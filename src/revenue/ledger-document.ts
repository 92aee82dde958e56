import { z } from 'zod'
import { defineDocument, jsonBigint } from '../../storage/document-definition.ts'
import { ledgerEntry } from './ledger-entry.ts'

/** Days for which the ledger is retained: a year's window, and a month. */
const LEDGER_DAYS = 400
export const LEDGER_TTL_MS = LEDGER_DAYS * 86_400_000

/** Maximum entries of one document: 25 KB of JSON; a document has at most 32 KiB. */
export const PIECE_ENTRIES = 40

/** Entries of an address in one block. They never change; a fork deletes them. */
export const LEDGER_PIECE = defineDocument({
  kind: 'ledger-piece',
  schema: z.object({
    address: z.string(),
    slot: z.number(),
    /** Position among the pieces of the block, from 0. */
    piece: z.number(),
    /** Unix seconds. */
    blockTime: z.number(),
    /** Base58; null if the source does not state it. */
    blockhash: z.string().nullable(),
    /** In the order of the block. */
    entries: z.array(ledgerEntry)
  }),
  partition: ({ address }) => address,
  key: ({ slot, piece }) => [slot, piece],
  ttlMs: LEDGER_TTL_MS
})
export type LedgerPiece = z.infer<typeof LEDGER_PIECE.schema>

/** The `mint` of the sums over all mints of an address. */
export const ALL_MINTS = ''

export const ledgerSums = z.object({
  entries: z.number(),
  /** Base units; lamports of SOL and wrapped SOL for the sums over all mints. */
  inflow: jsonBigint,
  outflow: jsonBigint,
  /** Millionths of USD, of the changes with a price. */
  inflowMicroUsd: jsonBigint,
  outflowMicroUsd: jsonBigint,
  /**
   * `counted`: entries of versions that count unpriced ones. `unpriced`: entries without a price, which the sums in
   * USD lack.
   */
  counted: z.number().default(0),
  unpriced: z.number().default(0)
})
export type Sums = z.infer<typeof ledgerSums>

/**
 * The sums of an address over a slot's entries of a mint, or of all mints, and over the entries of all slots up to
 * it. So the sums of any window follow from its first and last document, even if earlier ones have expired.
 */
export const LEDGER_SUM = defineDocument({
  kind: 'ledger-sum',
  schema: z.object({
    address: z.string(),
    mint: z.string(),
    slot: z.number(),
    /** Unix seconds. */
    blockTime: z.number(),
    /** 0 for the sums over all mints. */
    decimals: z.number(),
    own: ledgerSums,
    total: ledgerSums
  }),
  partition: ({ address }) => address,
  key: ({ mint, slot }) => [mint, slot],
  ttlMs: LEDGER_TTL_MS
})
export type LedgerSum = z.infer<typeof LEDGER_SUM.schema>
