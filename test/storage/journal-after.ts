import type { BlockCommit, Storage } from '../../storage/port.ts'

type Stores = Pick<Storage, 'blocks' | 'journal'>

/** Reads the journal of a store after it has found out about the newest blocks, as followers do. */
export async function followedAfter(
  { blocks, journal }: Stores,
  slot: number | null,
  limit: number
): Promise<readonly BlockCommit[] | null> {
  await blocks.head()
  return journal!.after(slot, limit)
}

/** As `followedAfter`, with the rows of all blocks. */
export async function journalAfter(
  storage: Stores,
  slot: number | null,
  limit: number
): Promise<readonly BlockCommit[] | null> {
  const blocks = await followedAfter(storage, slot, limit)
  await Promise.all((blocks ?? []).map((block) => storage.journal!.read(block, 'rows')))
  return blocks
}
