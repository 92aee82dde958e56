import { z } from 'zod'
import { defineDocument } from '../../storage/document-definition.ts'
import { tenantShard } from '../access/tenant-shard.ts'
import { archivePartition } from './archive-document.ts'
import { LEDGER_HOLES } from './ledger-progress.ts'
import { timedRange } from './watch-history.ts'

/**
 * `starting`: finds out which slots are missing. `reading`: reads transactions from the node. `summing`: stores the sums.
 * `checking`: compares the ledger with the chain. `done`: the sum of all changes equals the chain.
 */
export const BACKFILL_PHASES = ['starting', 'reading', 'summing', 'checking', 'done'] as const
export type BackfillPhase = (typeof BACKFILL_PHASES)[number]

/** A balance that differs from the chain. */
export const balanceDifference = z.object({
  account: z.string(),
  mint: z.string(),
  isNative: z.boolean(),
  /** Base units, as text. */
  ledger: z.string(),
  chain: z.string()
})
export type BalanceDifference = z.infer<typeof balanceDifference>

/** Maximum differences that are stored; further ones are counted. */
export const DIFFERENCES_STORED_MAX = 5

/** The checkpoint of a backfill. It is deleted with no watch: a later watch of the address has another request. */
export const BACKFILL_JOB = defineDocument({
  kind: 'ledger-backfill',
  schema: z.object({
    tenant: z.string(),
    address: z.string(),
    /** The request of the watch that it serves; another request begins a new backfill. */
    requestedAtMs: z.number(),
    phase: z.enum(BACKFILL_PHASES),
    /** The requested slot, or the first slot at or after the requested time; null until it is known. */
    sinceSlot: z.number().nullable(),
    /** Slots that are being archived; null between two ranges. */
    run: timedRange.nullable(),
    /** Whether the rows of the range come from files. */
    isImport: z.boolean().default(false),
    /** Generation of the sums that were begun last. */
    generation: z.number(),
    /** Counts since the request. After a restart, the last ones may count twice. */
    signatures: z.number(),
    transactions: z.number(),
    rows: z.number(),
    accounts: z.number(),
    accountsDone: z.number(),
    /** The newest slot that is not read yet, of the account that is being read; null if unknown. */
    reachedSlot: z.number().nullable(),
    /** Slots that the node has no history of, ascending. */
    unavailable: z.array(timedRange),
    /** Transactions that the node lists, and does not have. */
    unread: z.object({ count: z.number(), from: z.number(), to: z.number() }).nullable(),
    /** Sections that transactions do not state. */
    holes: z.array(
      z.object({
        reason: z.enum(LEDGER_HOLES),
        from: z.number(),
        to: z.number(),
        blocks: z.number().nullable()
      })
    ),
    /** The last comparison with the chain; null before the first. */
    check: z
      .object({ slot: z.number(), count: z.number(), differences: z.array(balanceDifference) })
      .nullable(),
    /** The current obstacle, for people; null while nothing is wrong. */
    note: z.string().nullable()
  }),
  partition: ({ tenant }) => tenantShard(tenant),
  key: ({ tenant, address }) => [tenant, address]
})
export type BackfillJob = z.infer<typeof BACKFILL_JOB.schema>

/** The checkpoint of an account's signatures, newest first, within a range of slots. */
export const BACKFILL_ACCOUNT = defineDocument({
  kind: 'ledger-backfill-account',
  schema: z.object({
    tenant: z.string(),
    address: z.string(),
    /** The range of slots. */
    from: z.number(),
    to: z.number(),
    /** The address, or a token account that it owns or has owned. */
    account: z.string(),
    /** The oldest signature that was read, and its slot; null before the first. */
    before: z.string().nullable(),
    slot: z.number().nullable(),
    isDone: z.boolean()
  }),
  partition: archivePartition,
  key: ({ to, from, account }) => [to, from, account],
  indexes: { open: ({ to, from, account, isDone }) => (isDone ? null : [to, from, account]) }
})
export type BackfillAccount = z.infer<typeof BACKFILL_ACCOUNT.schema>

/** Returns the job of a request before its first step. */
export const newJob = (
  { tenant, address }: Pick<BackfillJob, 'tenant' | 'address'>,
  requestedAtMs: number
): BackfillJob => ({
  tenant,
  address,
  requestedAtMs,
  phase: 'starting',
  sinceSlot: null,
  run: null,
  isImport: false,
  generation: 0,
  signatures: 0,
  transactions: 0,
  rows: 0,
  accounts: 0,
  accountsDone: 0,
  reachedSlot: null,
  unavailable: [],
  unread: null,
  holes: [],
  check: null,
  note: null
})
