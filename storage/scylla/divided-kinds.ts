import { hash } from 'node:crypto'
import { POSITIONS_PER_SLOT } from '../../src/market/cursor.ts'

/** The layout of a kind of documents whose number has no limit. Such a kind has no unique values. */
export interface Division {
  /** Partitions of the documents of one logical partition, by a hash of the key. */
  readonly shares: number
  /** The ordered lists of the kind, by the name of the index; `keys` is the list by key. No other list can be read. */
  readonly lists: Readonly<Record<string, DividedList>>
}

export interface DividedList {
  /** Number of leading parts of an entry that name a list of its own, such as the tenant. A query states all of them. */
  readonly owner: number
  /** Range of the number after them, such as milliseconds, whose entries share a partition. Null: all entries share one. */
  readonly width: number | null
}

/** Divisions by kind. A kind that is missing here has all documents of a logical partition in one partition. */
export type DividedKinds = Readonly<Record<string, Division>>

const HOUR_MS = 3_600_000
/** Slots of an hour, at 400 ms each. */
const HOUR_SLOTS = 9_000

/** One list with few entries at a time. */
const WHOLE: DividedList = { owner: 0, width: null }

/**
 * The kinds that grow with every request or attempt. The figures follow from the table of partitions in
 * src/docs/decisions/0008-scylla.md, which a test computes.
 */
export const DIVIDED_KINDS: DividedKinds = {
  submission: {
    shares: 4_096,
    lists: {
      tracked: WHOLE,
      rechecks: WHOLE,
      received: { owner: 1, width: HOUR_MS },
      ended: { owner: 2, width: HOUR_MS }
    }
  },
  bundle: { shares: 1_024, lists: { tracked: WHOLE } },
  'bundle-member': { shares: 1_024, lists: {} },
  'submission-changes': {
    shares: 1_024,
    lists: {
      keys: { owner: 0, width: 65_536 },
      last: { owner: 0, width: HOUR_SLOTS * POSITIONS_PER_SLOT }
    }
  },
  'idempotent-request': { shares: 256, lists: {} }
}

/** The layout of the documents of a keyspace. */
export interface DocumentLayout {
  readonly divided: DividedKinds
  /** Whether documents of divided kinds may also be where other documents are, stored by an earlier version. */
  readonly hasEarlier: boolean
}

/** The layout of a keyspace that no earlier version has used. */
export const NEW_LAYOUT: DocumentLayout = { divided: DIVIDED_KINDS, hasEarlier: false }

/** Returns the share of a key: SHA-256, because keys may be chosen by clients. */
export const shareOf = ({ shares }: Division, key: Uint8Array): number =>
  hash('sha256', key, 'buffer').readUInt16BE(0) % shares
