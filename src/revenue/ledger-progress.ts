import { z } from 'zod'
import type { DocumentStore } from '../../storage/document-store.ts'
import { StoredProgress } from '../kernel/feed/stored-progress.ts'

/** Sections that blocks of the ledger have not stated, so that rows may be missing. */
export const LEDGER_HOLES = [
  'rewards-absent',
  'balances-absent',
  'token-balances-absent',
  'transactions-unreadable'
] as const
export type LedgerHole = (typeof LEDGER_HOLES)[number]

/** A range of slots in which some blocks have a hole, both ends included. */
const holeRange = z.object({
  reason: z.enum(LEDGER_HOLES),
  from: z.number(),
  to: z.number(),
  /** Number of blocks with the hole; null if they were not counted. */
  blocks: z.number().nullable()
})
export type LedgerHoleRange = z.infer<typeof holeRange>

const progress = z.object({
  /** All entries of blocks up to this slot are stored, apart from the gaps; null before the first. */
  slot: z.number().nullable(),
  /** Hash of its block, base58; null if unknown. */
  blockhash: z.string().nullable(),
  /** Its block time, unix seconds; 0 if unknown. */
  blockTime: z.number(),
  /** At most one for each reason; absent in progress of versions that read no rewards. */
  holes: z.array(holeRange).optional(),
  /**
   * The last slot whose entries are documents, not pages; -1 if none are. Absent in progress of versions that write
   * documents.
   */
  documentsTo: z.number().optional(),
  /**
   * Grows with each late block, lost fork and restart of the follower: entries of slots up to an earlier progress may have
   * changed since. Absent in progress of versions that write documents.
   */
  edits: z.number().optional()
})
export type LedgerProgress = z.infer<typeof progress>

export const NO_PROGRESS: LedgerProgress = {
  slot: null,
  blockhash: null,
  blockTime: 0,
  holes: [],
  documentsTo: -1
}

/** Returns the last slot whose entries are documents; Infinity if all are, and -1 if none are. */
export const documentsToOf = ({ slot, documentsTo }: LedgerProgress): number =>
  documentsTo ?? (slot === null ? -1 : Infinity)

/** Returns the holes of a stored progress: blocks of versions that read no rewards lack them. */
export function holesOf({ slot, holes }: LedgerProgress): readonly LedgerHoleRange[] {
  if (holes !== undefined) return holes
  return slot === null ? [] : [{ reason: 'rewards-absent', from: 0, to: slot, blocks: null }]
}

/** Adds the holes of a block. */
export function plusHoles(
  before: readonly LedgerHoleRange[],
  slot: number,
  reasons: readonly LedgerHole[]
): readonly LedgerHoleRange[] {
  if (reasons.length === 0) return before
  const others = before.filter(({ reason }) => !reasons.includes(reason))
  const grown = reasons.map((reason) => {
    const known = before.find((each) => each.reason === reason)
    if (known === undefined) return { reason, from: slot, to: slot, blocks: 1 }
    const { from, to, blocks } = known
    // A block within the range has been counted: a restart reads the newest blocks again.
    const isCounted = slot >= from && slot <= to
    const count = blocks === null || isCounted ? blocks : blocks + 1
    return { reason, from: Math.min(from, slot), to: Math.max(to, slot), blocks: count }
  })
  return [...others, ...grown]
}

/** Returns the stored progress of the follower of the ledger. */
export const ledgerProgressIn = (store: DocumentStore): StoredProgress<LedgerProgress> =>
  new StoredProgress(store, { kind: 'ledger-progress', schema: progress, none: NO_PROGRESS })
