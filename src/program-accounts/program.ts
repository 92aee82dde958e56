import { z } from 'zod'
import { defineDocument } from '../../storage/document-definition.ts'
import type { DocumentStore } from '../../storage/document-store.ts'
import { Documents } from '../../storage/documents.ts'

/** Maximum mirrored programs: each has a connection to the node, and nodes of providers allow about 100. */
export const PROGRAMS_MAX = 50
/** All programs are in one partition, because they are few. */
export const PROGRAMS_PARTITION = 'programs'

/** Maximum indexes of a program: each adds a row of about 100 bytes to a version. */
export const INDEXES_MAX = 4

const range = z.object({
  offset: z.number(),
  /** At most INDEXED_BYTES_MAX. */
  length: z.number()
})

export const PROGRAM_STATES = ['backfilling', 'live'] as const
/** New versions have entries in an index while it is built and once it is ready. Readers use ready ones. */
const INDEX_STATES = ['building', 'ready', 'removing'] as const

const slotRange = z.object({ from: z.number(), to: z.number() })

const progress = z.object({
  /** The newest slot whose accounts are complete; null before the first complete snapshot. */
  slot: z.number().nullable(),
  /** The oldest slot that can still be read. */
  oldestSlot: z.number(),
  /** Accounts at `slot`; before the first complete snapshot, those written so far. */
  accounts: z.number(),
  /** Unix milliseconds at which `slot` was complete. */
  atMs: z.number(),
  /** Reason why the mirror does not advance; null while it advances. */
  reason: z.string().nullable(),
  /** Indexes that the store has, whole or in part. Absent in progress of earlier versions. */
  indexes: z
    .array(
      range.extend({
        state: z.enum(INDEX_STATES),
        /** Versions that were read to build it. */
        versions: z.number()
      })
    )
    .default([]),
  /** The state is exact at each slot from this one to `slot`. Absent in progress of earlier versions. */
  exactFrom: z.number().optional(),
  /** Earlier ranges of exact slots, ascending, with gaps between them. Absent in progress of earlier versions. */
  ended: z.array(slotRange).optional(),
  /**
   * Slots whose versions count as not there: updates of them were perhaps written, and a mirror began again after them.
   * Absent in progress of earlier versions.
   */
  abandoned: z.array(slotRange).optional(),
  /** The version of the node that the newest snapshot came from. Absent if the node does not state it. */
  apiVersion: z.string().optional()
})
export type MirrorProgress = z.infer<typeof progress>
export type IndexProgress = MirrorProgress['indexes'][number]

export const NO_PROGRESS: MirrorProgress = {
  slot: null,
  oldestSlot: 0,
  accounts: 0,
  atMs: 0,
  reason: null,
  indexes: []
}

/** A program of the whitelist, whose accounts are mirrored. */
export const PROGRAM = defineDocument({
  kind: 'program',
  schema: z.object({
    /** Base58. */
    program: z.string(),
    addedAtMs: z.number(),
    /** Whether it was removed from the whitelist, and its accounts are being deleted. */
    isRemoved: z.boolean(),
    /** Ranges of the data that are to be indexed. Absent in programs of earlier versions. */
    indexes: z.array(range).default([])
  }),
  partition: () => PROGRAMS_PARTITION,
  key: ({ program }) => [program],
  hot: progress
})
export type Program = z.infer<typeof PROGRAM.schema>

export type ProgramDocuments = Documents<Program, never, never, MirrorProgress>

export const programsIn = (store: DocumentStore): ProgramDocuments => new Documents(store, PROGRAM)
