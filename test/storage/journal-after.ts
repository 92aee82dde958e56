import type { BlockCommit, Storage } from '../../storage/port.ts'

/** Reads the journal of a store after it has found out about the newest blocks, as followers do. */
export async function journalAfter(
  { blocks, journal }: Pick<Storage, 'blocks' | 'journal'>,
  slot: number | null,
  limit: number
): Promise<readonly BlockCommit[] | null> {
  await blocks.head()
  return journal!.after(slot, limit)
}
