import { z } from 'zod'
import { defineDocument } from '../../storage/document-definition.ts'
import type { DocumentStore } from '../../storage/document-store.ts'
import { Documents } from '../../storage/documents.ts'
import type { BlockStore } from '../../storage/port.ts'
import { VENUE_IDS, type VenueId } from '../chain/venue-id.ts'
import { ServiceError } from '../kernel/errors.ts'
import { currentPeriod, isSameDecoding, type DecodingPeriod } from '../market/decoding-period.ts'
import type { SlotRow } from '../market/rows.ts'

const PARTITION = 'chain'
const KEY = ['periods']
/** Maximum periods of a store: 25 KB of JSON; a document has at most 32 KiB. Before the oldest, the decoding is unknown. */
const PERIODS_MAX = 64
/** Attempts to record a period while other processes claim the store: more than two processes need. */
const TRIES = 20

const period = z.object({
  from: z.number(),
  venues: z.array(z.enum(VENUE_IDS)).readonly(),
  decoderVersion: z.number()
})

/** The periods of a store in which blocks were decoded alike, ascending. */
const DECODING = defineDocument({
  kind: 'decoding',
  schema: z.object({ periods: z.array(period).readonly() }),
  partition: () => PARTITION,
  key: () => KEY
})

/** A period in its own document, as an earlier version stored them. */
const DECODING_PERIOD = defineDocument({
  kind: 'decoding period',
  schema: period,
  partition: () => PARTITION,
  key: ({ from }) => [from]
})

/** A store of decoded blocks; only its documents are used. */
export interface DecodedStore {
  readonly documents: DocumentStore
}

/** A store of decoded blocks, for the writer of its blocks. */
export interface WrittenStore extends DecodedStore {
  readonly blocks: Pick<BlockStore, 'confirmClaim'>
}

/** Reads how the blocks of a store were decoded, ascending by slot; empty if the store is older than this record. */
export async function readDecodingPeriods(store: DecodedStore): Promise<readonly DecodingPeriod[]> {
  return (await readStored(store)).periods
}

/**
 * Records how the blocks after the head will be decoded, unless the last period has equal settings. Resolves with all
 * periods once this is durable, so no block is committed without it. The caller has claimed the store and read its head
 * since.
 *
 * P1. A period that begins after the head has no block: the new one replaces it.
 * P2. Earlier blocks of a store without periods stay unknown.
 * P3. Rejects with LostClaim if another process has claimed. Each claimant writes the document, even if nothing changes, so
 *     a write that was delayed until then is refused.
 */
export async function recordDecoding(
  store: WrittenStore,
  head: SlotRow | null,
  venues: ReadonlySet<VenueId> | undefined
): Promise<readonly DecodingPeriod[]> {
  const documents = new Documents(store.documents, DECODING)
  const next = currentPeriod(head === null ? 0 : head.slot + 1, venues)
  for (let tries = 0; tries < TRIES; tries++) {
    const { stored, periods: before } = await readStored(store)
    const earlier = before.filter(({ from }) => from < next.from)
    const isSame = isSameDecoding(earlier.at(-1) ?? null, next)
    const periods = isSame ? earlier : [...earlier, next].slice(-PERIODS_MAX)
    await store.blocks.confirmClaim()
    const { ok } = await (stored === null
      ? documents.insert({ periods })
      : documents.update(stored, { periods }))
    if (ok) return periods
  }
  throw new ServiceError(
    'STORAGE_UNAVAILABLE',
    `the decoding of blocks was changed by other processes ${TRIES} times`
  )
}

async function readStored({ documents }: DecodedStore) {
  const stored = await new Documents(documents, DECODING).get(PARTITION, KEY)
  if (stored !== null) return { stored, periods: stored.value.periods }
  const earlier = await new Documents(documents, DECODING_PERIOD).all(PARTITION)
  return { stored, periods: earlier.map(({ value }) => value) }
}
