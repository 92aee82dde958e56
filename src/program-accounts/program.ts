import { z } from 'zod'
import { defineDocument } from '../../storage/document-definition.ts'
import type { DocumentStore } from '../../storage/document-store.ts'
import { Documents } from '../../storage/documents.ts'

/** Programs that are mirrored at most. Chosen: each has a connection to the node; nodes of providers allow about 100. */
export const PROGRAMS_MAX = 50
/** All programs are in one partition: there are few. */
export const PROGRAMS_PARTITION = 'programs'

export const PROGRAM_STATES = ['backfilling', 'live'] as const

const progress = z.object({
  /** The newest slot whose accounts are complete; null before the first snapshot is. */
  slot: z.number().nullable(),
  /** The oldest slot that can still be read. */
  oldestSlot: z.number(),
  /** Accounts at `slot`; before the first snapshot is complete, those that were written. */
  accounts: z.number(),
  /** Unix milliseconds at which `slot` was complete. */
  atMs: z.number(),
  /** Why the mirror does not advance; null while it does. */
  reason: z.string().nullable()
})
export type MirrorProgress = z.infer<typeof progress>

export const NO_PROGRESS: MirrorProgress = { slot: null, oldestSlot: 0, accounts: 0, atMs: 0, reason: null }

/** A program of the whitelist, whose accounts are mirrored. */
export const PROGRAM = defineDocument({
  kind: 'program',
  schema: z.object({
    /** Base58. */
    program: z.string(),
    addedAtMs: z.number(),
    /** Whether it is off the whitelist, and its accounts are being deleted. */
    isRemoved: z.boolean()
  }),
  partition: () => PROGRAMS_PARTITION,
  key: ({ program }) => [program],
  hot: progress
})
export type Program = z.infer<typeof PROGRAM.schema>

export type ProgramDocuments = Documents<Program, never, never, MirrorProgress>

export const programsIn = (store: DocumentStore): ProgramDocuments => new Documents(store, PROGRAM)
