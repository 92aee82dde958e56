import type { DocumentStore } from '../../storage/document-store.ts'
import { Documents } from '../../storage/documents.ts'
import type { EncodedEvent } from '../market/log.ts'
import type { Stretch } from '../stream/channel-history.ts'
import { UnsettledBatches } from './unsettled-batches.ts'
import { changeBatches, settle, type ChangeBatch, type PublishedChange } from './change-batch.ts'

/** Batches per read. A batch has at most 32 changes, and mostly one or two. */
const BATCHES_READ = 64

/** Reads the changes of tenants' submissions from the store. */
export class ChangeHistory {
  readonly #documents: Documents<ChangeBatch, 'last'>
  readonly #isShared: boolean
  /** The batches that this process is storing. Of another process's batches, the newest is settled when it is read. */
  readonly unsettled = new UnsettledBatches()

  /** `ttlMs` is the TTL, which restarts when a batch is settled; null for no expiry. */
  constructor(
    store: DocumentStore,
    { isShared, ttlMs }: { readonly isShared: boolean; readonly ttlMs: number | null }
  ) {
    this.#documents = new Documents(store, changeBatches(ttlMs))
    this.#isShared = isShared
  }

  /** Returns the oldest changes of a tenant with cursors above `after` and up to `until`. Rejects with the store's error. */
  async read(tenant: string, after: number, until: number, limit: number): Promise<Stretch> {
    const { found, settledBelow } = await this.unsettled.during(tenant, () =>
      this.#documents.listBy('last', tenant, { above: [after], limit: BATCHES_READ })
    )
    const { documents, next } = found
    const settled = documents.filter(({ value }) => value.number < settledBelow)
    const newest = settled.at(-1)
    // The newest batch may be another process's. Earlier batches are fixed, because a later one exists.
    if (this.#isShared && newest !== undefined)
      settled[settled.length - 1] = await settle(this.#documents, newest)
    const read = settled.flatMap(({ value }) => value.changes).filter(({ cursor }) => cursor > after)
    const changes = read.filter(({ cursor }) => cursor <= until).slice(0, limit)
    const isAll = changes.length < limit && (next === null || changes.length < read.length)
    return { events: changes.map(encodeChange), to: isAll ? until : (changes.at(-1)?.cursor ?? until) }
  }

  /** Returns the cursor of a tenant's newest change; -1 if it has no changes. Rejects with the store's error. */
  async last(tenant: string): Promise<number> {
    const { documents } = await this.#documents.list(tenant, { order: 'desc', limit: 1 })
    return documents[0]?.value.changes.at(-1)!.cursor ?? -1
  }
}

/** Encodes a change up to the value of its cursor, which `eventFrames` appends. */
export function encodeChange({ cursor, ...data }: PublishedChange): EncodedEvent {
  return { cursor, body: Buffer.from(`${JSON.stringify(data).slice(0, -1)},"cursor":`) }
}
