import { z } from 'zod'
import { defineDocument } from '../../storage/document-definition.ts'
import { ALL_MINTS, LEDGER_TTL_MS, ledgerSums } from './ledger-document.ts'
import { ledgerEntry } from './ledger-entry.ts'

/** A watch whose archived rows are stored. The archives of two tenants are separate, even of one address. */
export interface ArchiveOwner {
  readonly tenant: string
  readonly address: string
}

/** Owners of archives of a tenant begin with this text in the store of ledgers. No live ledger does: an address has no slash. */
export const archivePrefix = ({ tenant }: Pick<ArchiveOwner, 'tenant'>): string => `${tenant}/`

/** Returns the owner of an archive's pages, which is the partition of its documents too. */
export const archivePartition = (owner: ArchiveOwner): string => archivePrefix(owner) + owner.address

/** Entries of an address by one transaction, or by the rewards at one end of a block. They never change. */
const archivePiece = z.object({
  tenant: z.string(),
  address: z.string(),
  slot: z.number(),
  txIndex: z.number(),
  /** Position among the pieces of the transaction, from 0. */
  piece: z.number(),
  /** Unix seconds. */
  blockTime: z.number(),
  entries: z.array(ledgerEntry)
})
export type ArchivePiece = z.infer<typeof archivePiece>

const keyOfPiece = ({ slot, txIndex, piece }: ArchivePiece): readonly number[] => [slot, txIndex, piece]

/**
 * Slots whose staged entries share a partition: with ten transactions of three entries in every slot they take 60 MB. Tests
 * compute this bound.
 */
export const STAGED_SLOTS = 2_048

/** Returns the partition of the staged entries of a slot. */
export const stagedPartition = (owner: ArchiveOwner, slot: number): string =>
  `${archivePartition(owner)}/${Math.floor(slot / STAGED_SLOTS)}`

/**
 * Archived entries until the rows of their range are all there, in any order. Then they are packed into pages. Several
 * processes stage them: each is stored on the condition that it is new.
 */
export const STAGED_PIECE = defineDocument({
  kind: 'ledger-staged-piece',
  schema: archivePiece,
  partition: (piece) => stagedPartition(piece, piece.slot),
  key: keyOfPiece,
  ttlMs: LEDGER_TTL_MS
})

/** Archived entries that an earlier version has stored. */
export const ARCHIVE_PIECE = defineDocument({
  kind: 'ledger-archive-piece',
  schema: archivePiece,
  partition: archivePartition,
  key: keyOfPiece,
  ttlMs: LEDGER_TTL_MS
})

/**
 * Sums of an earlier version: of an address over a slot's archived entries of a mint, or of all mints, and over the archived entries of all
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
