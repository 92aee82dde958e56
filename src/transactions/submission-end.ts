import type { Documents } from '../../storage/documents.ts'
import { submissionPartition, type Submission, type SubmissionProgress } from './submission.ts'

/**
 * Stores the end of a submission, which is then sent no more; one that has an end stays as it is. It is read first: processes
 * hold of thousands of documents only what a reference needs. Rejects with the store's error.
 */
export async function storeEnd(
  documents: Pick<Documents<Submission>, 'get' | 'change'>,
  { tenant, signature }: Submission,
  end: SubmissionProgress
): Promise<void> {
  const stored = await documents.get(submissionPartition(tenant, signature), [tenant, signature])
  if (stored === null) return
  await documents.change(stored, (value) => (value.end === null ? { ...value, wire: null, end } : value))
}
