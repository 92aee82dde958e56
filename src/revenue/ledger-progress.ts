import { z } from 'zod'
import type { DocumentStore } from '../../storage/document-store.ts'
import { StoredProgress } from '../views/stored-progress.ts'

const progress = z.object({
  /** All entries of blocks up to this slot are stored, apart from the gaps; null before the first. */
  slot: z.number().nullable(),
  /** Hash of its block, base58; null if unknown. */
  blockhash: z.string().nullable(),
  /** Its block time, unix seconds; 0 if unknown. */
  blockTime: z.number()
})
export type LedgerProgress = z.infer<typeof progress>

export const NO_PROGRESS: LedgerProgress = { slot: null, blockhash: null, blockTime: 0 }

/** How far the follower of the ledger has come. */
export const ledgerProgressIn = (store: DocumentStore): StoredProgress<LedgerProgress> =>
  new StoredProgress(store, { kind: 'ledger-progress', schema: progress, none: NO_PROGRESS })
