import { z } from 'zod'
import type { DocumentStore } from '../../storage/document-store.ts'
import { StoredProgress } from '../views/stored-progress.ts'

const progress = z.object({
  /** All entries of blocks up to this slot are stored, apart from the gaps; null before the first. */
  slot: z.number().nullable(),
  /** Its block time, unix seconds. */
  blockTime: z.number()
})
export type LedgerProgress = z.infer<typeof progress>

/** How far the follower of the ledger has come. */
export const ledgerProgressIn = (store: DocumentStore): StoredProgress<LedgerProgress> =>
  new StoredProgress(store, { kind: 'ledger-progress', schema: progress, none: { slot: null, blockTime: 0 } })
