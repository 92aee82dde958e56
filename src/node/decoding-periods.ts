import { z } from 'zod'
import { defineDocument } from '../../storage/document-definition.ts'
import type { DocumentStore } from '../../storage/document-store.ts'
import { Documents } from '../../storage/documents.ts'
import { VENUE_IDS, type VenueId } from '../chain/venue-id.ts'
import { currentPeriod, isSameDecoding, type DecodingPeriod } from '../market/decoding-period.ts'
import type { SlotRow } from '../market/rows.ts'

const PARTITION = 'chain'

/** A period in which blocks were decoded alike, by its first slot. */
const DECODING_PERIOD = defineDocument({
  kind: 'decoding period',
  schema: z.object({
    from: z.number(),
    venues: z.array(z.enum(VENUE_IDS)).readonly(),
    decoderVersion: z.number()
  }),
  partition: () => PARTITION,
  key: ({ from }) => [from]
})

/** A store of decoded blocks, as far as its documents. */
export interface DecodedStore {
  readonly documents: DocumentStore
}

/** Reads how the blocks of a store were decoded, ascending by slot; empty if the store is older than this record. */
export async function readDecodingPeriods({ documents }: DecodedStore): Promise<DecodingPeriod[]> {
  const stored = await new Documents(documents, DECODING_PERIOD).all(PARTITION)
  return stored.map(({ value }) => value)
}

/**
 * Records how the blocks after the head will be decoded, unless the last period says the same. Resolves with all periods once
 * this is durable, so no block is committed without it. The caller is the only writer of blocks.
 *
 * P1. A period that begins after the head has no block: the new one replaces it.
 * P2. Earlier blocks of a store without periods stay unknown.
 */
export async function recordDecoding(
  store: DecodedStore,
  head: SlotRow | null,
  venues: ReadonlySet<VenueId> | undefined
): Promise<DecodingPeriod[]> {
  const documents = new Documents(store.documents, DECODING_PERIOD)
  const next = currentPeriod(head === null ? 0 : head.slot + 1, venues)
  const kept: DecodingPeriod[] = []
  for (const stored of await documents.all(PARTITION))
    if (stored.value.from < next.from) kept.push(stored.value)
    else await documents.delete(stored)
  if (isSameDecoding(kept.at(-1) ?? null, next)) return kept
  await documents.insert(next)
  return [...kept, next]
}
