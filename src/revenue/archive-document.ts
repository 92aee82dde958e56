import { z } from 'zod'
import { defineDocument } from '../../storage/document-definition.ts'
import { ALL_MINTS, LEDGER_TTL_MS, ledgerSums } from './ledger-document.ts'
import { ledgerEntry } from './ledger-entry.ts'

/** A watch whose archived rows are stored. The archives of two tenants are separate, even of one address. */
export interface ArchiveOwner {
  readonly tenant: string
  readonly address: string
}

/** Returns the partition of an archive. An address has no slash. */
export const archivePartition = ({ tenant, address }: ArchiveOwner): string => `${tenant}/${address}`

/** Archived entries of an address by one transaction, or by the rewards at one end of a block. They never change. */
export const ARCHIVE_PIECE = defineDocument({
  kind: 'ledger-archive-piece',
  schema: z.object({
    tenant: z.string(),
    address: z.string(),
    slot: z.number(),
    txIndex: z.number(),
    /** Position among the pieces of the transaction, from 0. */
    piece: z.number(),
    /** Unix seconds. */
    blockTime: z.number(),
    entries: z.array(ledgerEntry)
  }),
  partition: archivePartition,
  key: ({ slot, txIndex, piece }) => [slot, txIndex, piece],
  ttlMs: LEDGER_TTL_MS
})
export type ArchivePiece = z.infer<typeof ARCHIVE_PIECE.schema>

/**
 * The sums of an address over a slot's archived entries of a mint, or of all mints, and over the archived entries of all
 * slots up to it. A longer archive has new sums, under the next generation: readers change over to them at once.
 */
export const ARCHIVE_SUM = defineDocument({
  kind: 'ledger-archive-sum',
  schema: z.object({
    tenant: z.string(),
    address: z.string(),
    generation: z.number(),
    mint: z.string(),
    slot: z.number(),
    /** Unix seconds. */
    blockTime: z.number(),
    /** 0 for the sums over all mints. */
    decimals: z.number(),
    own: ledgerSums,
    total: ledgerSums
  }),
  partition: archivePartition,
  key: ({ generation, mint, slot }) => [generation, mint, slot],
  indexes: {
    time: ({ generation, mint, blockTime, slot }) =>
      mint === ALL_MINTS ? [generation, blockTime, slot] : null
  },
  ttlMs: LEDGER_TTL_MS
})
export type ArchiveSum = z.infer<typeof ARCHIVE_SUM.schema>
