import { z } from 'zod'
import { defineDocument } from '../../storage/document-definition.ts'
import { defineHistory, History } from '../../storage/histories.ts'
import type { DocumentStore } from '../../storage/document-store.ts'
import { Documents, type Stored } from '../../storage/documents.ts'
import { attemptsIn, readAttempt } from './attempt-line.ts'
import { storedAttempt, WEBHOOK, type DeliveryAttempt, type StoredAttempt } from './webhook.ts'
import { tenantShard } from '../access/tenant-shard.ts'

/** Retention of attempts in days, and their maximum number for one webhook (src/docs/webhooks.md). */
const ATTEMPT_DAYS = 7
const ATTEMPT_MS = ATTEMPT_DAYS * 86_400_000
export const ATTEMPTS_MAX = 1_000
/** Attempts of a page. One write stores 32 attempts, and 32 attempts in a webhook's progress are 2.5 KB. */
export const ATTEMPTS_A_PAGE = 32
/**
 * Maximum pages of one webhook, and pages that are listed. The surplus is for the pages of test events, which have
 * one attempt each.
 */
const PAGES_MAX = Math.ceil(ATTEMPTS_MAX / ATTEMPTS_A_PAGE)
const PAGES_LISTED = 4 * PAGES_MAX

const attemptPage = z.object({
  tenant: z.string(),
  id: z.number(),
  /** Start of its last attempt. */
  endMs: z.number(),
  batchId: z.string(),
  attempts: z.array(storedAttempt)
})

/** A page of attempts of a webhook, written once. The newest attempts are in the webhook's progress. */
export const ATTEMPT_HISTORY = defineHistory({
  kind: 'attempts',
  schema: attemptPage,
  owner: ({ tenant, id }) => ownerOf(tenant, id),
  atMs: ({ endMs }) => endMs,
  id: ({ batchId }) => [batchId],
  ttlMs: ATTEMPT_MS,
  // 27 MB of pages at four attempts a second.
  bucketMs: 86_400_000
})

const ownerOf = (tenant: string, id: number): string => JSON.stringify([tenant, id])

/** A page as earlier versions stored it. The last of them expire a week after the upgrade. */
export const ATTEMPT_PAGE = defineDocument({
  kind: 'webhook-attempts',
  schema: attemptPage,
  partition: ({ tenant }) => tenantShard(tenant),
  key: ({ tenant, id, endMs, batchId }) => [tenant, id, endMs, batchId],
  ttlMs: ATTEMPT_MS
})

/** A page of the list of attempts, newest first. */
export interface AttemptList {
  readonly attempts: readonly DeliveryAttempt[]
  /** `after` of the next page; null at the end. */
  readonly next: string | null
}

/**
 * Lists the attempts of a webhook, newest first, reading at most PAGES_LISTED small documents. If `after` is no
 * longer listed, the list continues at its old position.
 */
export async function listAttempts(
  store: DocumentStore,
  webhook: Stored<{ readonly tenant: string; readonly id: number }>,
  options: { readonly after?: string | null; readonly limit: number; readonly nowMs: number }
): Promise<AttemptList> {
  const { after = null, limit, nowMs } = options
  const { tenant, id } = webhook.value
  // Read the progress first, because attempts move from it to a page. In the other order, an attempt that moves
  // between the reads would be missed.
  const [progress] = await new Documents(store, WEBHOOK).hot([webhook])
  const { documents } = await new Documents(store, ATTEMPT_PAGE).list(tenantShard(tenant), {
    prefix: [tenant, id],
    order: 'desc',
    limit: PAGES_LISTED
  })
  const pages = await new History(store, ATTEMPT_HISTORY).newest(ownerOf(tenant, id), PAGES_LISTED)
  // For a moment an attempt is both in a page and in the progress.
  const all = new Map<string, DeliveryAttempt>()
  const stored = [
    ...attemptsIn(progress?.attempts ?? ''),
    ...[...pages, ...documents].flatMap(({ value }) => value.attempts)
  ]
  for (const attempt of stored.map(readAttempt))
    if (attempt.startedAtMs > nowMs - ATTEMPT_MS) all.set(placeOf(attempt), attempt)
  const ordered = [...all].sort(([a], [b]) => (a < b ? 1 : -1)).slice(0, ATTEMPTS_MAX)
  const rest = after === null ? ordered : ordered.filter(([place]) => place < after)
  const page = rest.slice(0, limit)
  return {
    attempts: page.map(([, attempt]) => attempt),
    next: rest.length > limit ? page.at(-1)![0] : null
  }
}

/** Stores attempts, oldest first, in a page. A page that is stored already stays as it is. */
export async function storeAttempts(
  store: DocumentStore,
  tenant: string,
  id: number,
  attempts: readonly StoredAttempt[]
): Promise<void> {
  const { startedAtMs, batchId } = readAttempt(attempts.at(-1)!)
  await new History(store, ATTEMPT_HISTORY).append([
    { tenant, id, endMs: startedAtMs, batchId, attempts: [...attempts] }
  ])
}

/** Deletes the pages of a webhook beyond its newest attempts; with 0, all of them. */
export async function deleteAttempts(
  store: DocumentStore,
  tenant: string,
  id: number,
  kept = ATTEMPTS_MAX
): Promise<void> {
  const history = new History(store, ATTEMPT_HISTORY)
  const owner = ownerOf(tenant, id)
  let attempts = 0
  if (kept === 0) await history.deleteUpTo(owner, null)
  else
    for (const { value, place } of await history.newest(owner, PAGES_LISTED)) {
      if (attempts >= kept) {
        await history.deleteUpTo(owner, place)
        break
      }
      attempts += value.attempts.length
    }
  const earlier = new Documents(store, ATTEMPT_PAGE)
  const options = { prefix: [tenant, id], order: 'desc', limit: PAGES_LISTED } as const
  const { documents } = await earlier.list(tenantShard(tenant), options)
  for (const page of documents) {
    if (attempts >= kept) await earlier.delete(page)
    attempts += page.value.attempts.length
  }
}

/** Returns a text that orders attempts by their start. */
function placeOf({ startedAtMs, batchId, attempt }: DeliveryAttempt): string {
  return `${String(Math.floor(startedAtMs)).padStart(15, '0')}-${batchId}-${attempt}`
}
