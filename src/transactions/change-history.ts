import type { DocumentStore } from '../../storage/document-store.ts'
import { Documents } from '../../storage/documents.ts'
import type { EncodedEvent } from '../market/log.ts'
import type { Stretch } from '../stream/channel-history.ts'
import { UnsettledBatches } from './unsettled-batches.ts'
import { changeBatches, type ChangeBatch, type ToldChange } from './change-batch.ts'

/** Batches of one read. Chosen: one has 32 changes at most, and mostly one or two. */
const BATCHES_READ = 64

/** Reads the changes of tenants' submissions from the store. */
export class ChangeHistory {
  readonly #documents: Documents<ChangeBatch, 'last'>
  /** The batches that this process stores; those of other processes are read as they are. */
  readonly unsettled = new UnsettledBatches()

  constructor(store: DocumentStore) {
    // The time to live counts for writes alone.
    this.#documents = new Documents(store, changeBatches(null))
  }

  /** Returns the oldest changes of a tenant after one cursor and up to another. Rejects with the store's error. */
  async read(tenant: string, after: number, until: number, limit: number): Promise<Stretch> {
    const { found, settledBelow } = await this.unsettled.during(tenant, () =>
      this.#documents.listBy('last', tenant, { above: [after], limit: BATCHES_READ })
    )
    const { documents, next } = found
    const read = documents
      .filter(({ value }) => value.number < settledBelow)
      .flatMap(({ value }) => value.changes)
      .filter(({ cursor }) => cursor > after)
    const changes = read.filter(({ cursor }) => cursor <= until).slice(0, limit)
    const isAll = changes.length < limit && (next === null || changes.length < read.length)
    return { events: changes.map(encodeChange), to: isAll ? until : (changes.at(-1)?.cursor ?? until) }
  }

  /** Returns the cursor of a tenant's newest change; -1 for none. Rejects with the store's error. */
  async last(tenant: string): Promise<number> {
    const { documents } = await this.#documents.list(tenant, { order: 'desc', limit: 1 })
    return documents[0]?.value.changes.at(-1)!.cursor ?? -1
  }
}

/** Encodes a change up to the value of its cursor, as `eventFrames` continues it. */
export function encodeChange({ cursor, ...data }: ToldChange): EncodedEvent {
  return { cursor, body: Buffer.from(`${JSON.stringify(data).slice(0, -1)},"cursor":`) }
}
