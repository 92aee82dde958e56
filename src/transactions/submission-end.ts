import type { Documents } from '../../storage/documents.ts'
import { recheckAtMs } from './landing-recheck.ts'
import { submissionPartition, type Submission, type SubmissionProgress } from './submission.ts'

/**
 * Stores the end of a submission, which is then no longer sent. A submission that already has an end is not changed.
 * Reads the document first, because processes hold only references to thousands of documents. Rejects with the
 * store's error.
 */
export async function storeEnd(
  documents: Pick<Documents<Submission>, 'get' | 'change'>,
  { tenant, signature }: Submission,
  end: SubmissionProgress
): Promise<void> {
  const stored = await documents.get(submissionPartition(tenant, signature), [tenant, signature])
  if (stored === null) return
  await documents.change(stored, (value) => {
    if (value.end !== null) return value
    const { recheckAtMs: _, ...rest } = value
    const nextMs = recheckAtMs(end, value.rechecks ?? 0)
    return { ...rest, wire: null, end, ...(nextMs !== null && { recheckAtMs: nextMs }) }
  })
}
