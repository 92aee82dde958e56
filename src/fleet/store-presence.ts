import { z } from 'zod'
import {
  PRESENCE_MS,
  PROCESSES_MAX,
  type HeardProcess,
  type HeardProcesses,
  type Presence
} from '../../storage/cluster/coordination.ts'
import { defineDocument } from '../../storage/document-definition.ts'
import type { DocumentStore } from '../../storage/document-store.ts'
import { Documents, type Stored } from '../../storage/documents.ts'
import type { Clock } from '../ports.ts'

/** The only partition: processes are few. */
const FLEET = 'fleet'
/** Expiry of a process that ended without a farewell while no other was there to remove it. */
const TTL_MS = 86_400_000
/** Milliseconds of silence after which another process removes a document: long enough for a process that stood still. */
const REMOVED_AFTER_MS = 60_000
/** Fencing token of all hot values: each document has one writer. */
const TOKEN = 1

/** A process that is known to the store. Its announcement is the hot value. */
export const FLEET_PROCESS = defineDocument({
  kind: 'fleet-process',
  schema: z.object({ id: z.string() }),
  partition: () => FLEET,
  key: ({ id }) => [id],
  ttlMs: TTL_MS,
  hot: z.object({
    /** Number of the announcement: a process whose number stands still is silent. */
    beat: z.number(),
    text: z.string()
  })
})

interface Known {
  beat: number
  /** Time at which the number was first read, by the clock of this process. */
  heardAtMs: number
  /** Whether another number was read before. */
  hasChanged: boolean
}

/**
 * Announcements in the store, for processes without Redis and while Redis is unreachable. The clocks of other processes do
 * not matter: a process is heard when its number changes. A number that is read for the first time counts as heard then.
 */
export class StorePresence implements Presence {
  readonly #documents: Documents<{ id: string }, never, never, { beat: number; text: string }>
  readonly #clock: Pick<Clock, 'now'>
  readonly #known = new Map<string, Known>()
  #own: Stored<{ id: string }> | null = null
  #beat = 0
  /** Start of the uninterrupted reads; null before the first and after a failed one. */
  #readingSinceMs: number | null = null

  constructor(store: DocumentStore, clock: Pick<Clock, 'now'>) {
    this.#documents = new Documents(store, FLEET_PROCESS)
    this.#clock = clock
  }

  /** Writes the announcement, without a read of the others. Rejects with the store's error. */
  async write(id: string, text: string): Promise<void> {
    this.#own ??= await this.#insert(id)
    await this.#documents.putHot(this.#own, TOKEN, { beat: ++this.#beat, text })
  }

  async announce(id: string, text: string): Promise<HeardProcesses> {
    try {
      await this.write(id, text)
      return await this.#read(id)
    } catch (error) {
      this.forget()
      throw error
    }
  }

  /** Announces, and resolves with those processes alone whose number has changed since an earlier read. */
  async announceChanged(id: string, text: string): Promise<readonly HeardProcess[]> {
    const { processes } = await this.announce(id, text)
    return processes.filter((each) => this.#known.get(each.id)?.hasChanged === true)
  }

  /** Ends the uninterrupted reads: after a pause, a number that has changed does not tell when. */
  forget(): void {
    this.#readingSinceMs = null
    this.#known.clear()
  }

  async leave(id: string): Promise<void> {
    const own = this.#own ?? (await this.#documents.get(FLEET, [id]).catch(() => null))
    if (own !== null) await this.#documents.delete(own).catch(() => false)
  }

  async #insert(id: string): Promise<Stored<{ id: string }>> {
    const inserted = await this.#documents.insert({ id })
    if (inserted.ok) return inserted.stored
    const stored = await this.#documents.get(FLEET, [id])
    if (stored === null) throw new Error('the document of this process was removed while it was stored')
    return stored
  }

  async #read(id: string): Promise<HeardProcesses> {
    const nowMs = this.#clock.now()
    this.#readingSinceMs ??= nowMs
    const { documents } = await this.#documents.list(FLEET, { limit: PROCESSES_MAX })
    // It was removed by a process that took this one for dead, or has expired.
    if (!documents.some(({ value }) => value.id === id)) this.#own = null
    const hot = await this.#documents.hot(documents)
    const processes: HeardProcess[] = []
    const listed = new Set<string>()
    for (const [at, stored] of documents.entries()) {
      const announced = hot[at] ?? { beat: 0, text: '' }
      listed.add(stored.value.id)
      const silentMs = nowMs - this.#heardAtMs(stored.value.id, announced.beat, nowMs)
      if (silentMs >= REMOVED_AFTER_MS) await this.#documents.delete(stored).catch(() => false)
      if (silentMs <= PRESENCE_MS) processes.push({ id: stored.value.id, text: announced.text, silentMs })
    }
    for (const known of this.#known.keys()) if (!listed.has(known)) this.#known.delete(known)
    return { coversMs: nowMs - this.#readingSinceMs, processes }
  }

  #heardAtMs(id: string, beat: number, nowMs: number): number {
    const known = this.#known.get(id)
    if (known?.beat === beat) return known.heardAtMs
    this.#known.set(id, { beat, heardAtMs: nowMs, hasChanged: known !== undefined })
    return nowMs
  }
}
