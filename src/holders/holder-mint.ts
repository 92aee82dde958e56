import { z } from 'zod'
import { TOKEN_PROGRAM_NAMES } from '../accounts/token-program.ts'
import { defineDocument } from '../../storage/document-definition.ts'
import type { DocumentStore } from '../../storage/document-store.ts'
import { Documents } from '../../storage/documents.ts'
import { StoredProgress } from '../kernel/feed/stored-progress.ts'

/** Partition of all mints; one suffices, because a setting bounds their number. */
export const HOLDER_MINTS_PARTITION = 'holder-mints'

const list = z.object({
  /**
   * `loading`: its accounts are being read, and no list can be served yet. `stale`: its accounts are being read, and
   * the old list is served.
   */
  state: z.enum(['loading', 'live', 'stale']),
  /** Number of the served reading; 0 before the first. */
  reading: z.number(),
  /** Number of the newest reading that was begun. Earlier versions did not store it. */
  begun: z.number().default(0),
  /** The first slot at which the list can be read; null before the first reading is stored. */
  fromSlot: z.number().nullable(),
  /** Slot and time at which a stale list was complete. */
  slot: z.number().nullable(),
  atMs: z.number(),
  /** Accounts of the list; while it is loading, the number stored so far. */
  accounts: z.number(),
  /** Why its accounts could not be read; null while they can be read. */
  fault: z.string().nullable(),
  /** Why it is stale; null otherwise. */
  reason: z.string().nullable(),
  /** Layout of its rows. Lists of the first one, of versions by slot, are read again. */
  layout: z.number().default(1)
})
export type HolderListState = z.infer<typeof list>

/** The layout of this version: a snapshot and a log. */
export const LIST_LAYOUT = 2

export const NO_LIST: HolderListState = {
  state: 'loading',
  reading: 0,
  begun: 0,
  fromSlot: null,
  slot: null,
  atMs: 0,
  accounts: 0,
  fault: null,
  reason: null,
  layout: LIST_LAYOUT
}

/** Returns the state of a list that can no longer be served. */
export const emptied = ({ reading, begun }: HolderListState): HolderListState => ({
  ...NO_LIST,
  reading,
  begun
})

/** A mint whose holders were requested. */
export const HOLDER_MINT = defineDocument({
  kind: 'holder-mint',
  schema: z.object({
    /** Base58. */
    mint: z.string(),
    decimals: z.number(),
    tokenProgram: z.enum(TOKEN_PROGRAM_NAMES),
    /**
     * Unix milliseconds of a recent request. The mint that has gone longest without a request is dropped to make room
     * for others.
     */
    askedAtMs: z.number()
  }),
  partition: () => HOLDER_MINTS_PARTITION,
  key: ({ mint }) => [mint],
  hot: list
})
export type HolderMint = z.infer<typeof HOLDER_MINT.schema>

const progress = z.object({
  /** The slot at which all live lists are complete; null before the first. */
  slot: z.number().nullable(),
  /** The oldest slot that can still be read. */
  oldestSlot: z.number(),
  /** Unix milliseconds at which `slot` was complete. */
  atMs: z.number(),
  /** How often blocks were rolled back: what a reader has cached before is of another fork. */
  rollbacks: z.number().default(0)
})
export type HolderProgress = z.infer<typeof progress>
export const NO_PROGRESS: HolderProgress = { slot: null, oldestSlot: 0, atMs: 0, rollbacks: 0 }

/** Returns the progress of the follower of all lists. */
export const holderProgressIn = (store: DocumentStore): StoredProgress<HolderProgress> =>
  new StoredProgress(store, { kind: 'holder-progress', schema: progress, none: NO_PROGRESS })

export type HolderMints = Documents<HolderMint, never, never, HolderListState>
export const holderMintsIn = (store: DocumentStore): HolderMints => new Documents(store, HOLDER_MINT)
