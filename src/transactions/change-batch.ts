import { z } from 'zod'
import { defineDocument, type DocumentDefinition } from '../../storage/document-definition.ts'
import type { Documents, Stored } from '../../storage/documents.ts'
import { SUBMISSION_CHANGE } from './bodies/submission-change.ts'
import { isSameChange } from './changes.ts'

/**
 * Changes of a tenant's submissions that were stored together, in the order of their cursors. A tenant's batches are
 * numbered without gaps, so a process that stores the next one has seen all before it.
 */
const changeBatch = z.object({
  tenant: z.string(),
  number: z.number(),
  /** Fencing token of the process that wrote this. Tokens never fall from batch to batch. */
  token: z.number(),
  /** Cursor of the tenant's previous change; -1 before the first. */
  after: z.number(),
  /** Set by a reader in another process. Afterwards the writer must not change the cursors. */
  isSettled: z.boolean().optional(),
  changes: z.array(SUBMISSION_CHANGE.extend({ signature: z.string() })).min(1)
})
export type ChangeBatch = z.output<typeof changeBatch>
/** A change at its cursor. */
export type PublishedChange = ChangeBatch['changes'][number]

/** Returns whether two batches contain equal changes. Their cursors may differ, because a batch can be moved. */
export const isSameBatch = (a: ChangeBatch, b: ChangeBatch): boolean =>
  a.changes.length === b.changes.length &&
  a.changes.every((change, at) => {
    const other = b.changes[at]!
    return change.signature === other.signature && isSameChange(change, other)
  })

export type ChangeBatchDefinition = DocumentDefinition<ChangeBatch, 'last'>

/**
 * Time for which changes are stored beyond the replay horizon, in milliseconds. The horizon counts from the head's
 * block time; a replay misses changes only if the chain is silent for longer than this.
 */
const MARGIN_MS = 86_400_000

/** Returns the milliseconds for which changes are stored at a replay horizon; null for no expiry. */
export const changesTtlMs = (horizonSeconds: number | null): number | null =>
  horizonSeconds === null ? null : horizonSeconds * 1_000 + MARGIN_MS

/** Returns the document definition of changes with a TTL; null for no expiry. */
export function changeBatches(ttlMs: number | null): ChangeBatchDefinition {
  return defineDocument({
    kind: 'submission-changes',
    schema: changeBatch,
    partition: ({ tenant }) => tenant,
    key: ({ number }) => [number],
    indexes: { last: ({ changes }) => [changes.at(-1)!.cursor] },
    ...(ttlMs === null ? {} : { ttlMs })
  })
}

/**
 * Fixes the cursors of a batch that its writer may be about to change, and returns the fixed batch. Rejects with the store's
 * error.
 */
export async function settle(
  documents: Pick<Documents<ChangeBatch>, 'change'>,
  batch: Stored<ChangeBatch>
): Promise<Stored<ChangeBatch>> {
  const outcome = await documents.change(batch, (value) =>
    value.isSettled === true ? value : { ...value, isSettled: true }
  )
  return outcome.ok ? outcome.stored : batch
}

/** Reads a batch from the data of a hint; null for any other data. */
export const changeBatchIn = (data: unknown): ChangeBatch | null => changeBatch.safeParse(data).data ?? null
