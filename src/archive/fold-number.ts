import { z } from 'zod'
import { defineDocument } from '../../storage/document-definition.ts'
import type { DocumentStore } from '../../storage/document-store.ts'
import { Documents } from '../../storage/documents.ts'

const PARTITION = 'archive'
const KEY = ['fold']

/** The number of the fold that made a store of an archive. */
const FOLD = defineDocument({
  kind: 'archive fold',
  schema: z.object({ number: z.number() }),
  partition: () => PARTITION,
  key: () => KEY
})

/** Reads how often the facts had been folded again before the store was made: 0 for the first store. */
export async function readFoldNumber(store: { readonly documents: DocumentStore }): Promise<number> {
  return (await new Documents(store.documents, FOLD).get(PARTITION, KEY))?.value.number ?? 0
}

/** Records the number of a new store. */
export async function recordFoldNumber(
  store: { readonly documents: DocumentStore },
  number: number
): Promise<void> {
  await new Documents(store.documents, FOLD).insert({ number })
}
