import { z } from 'zod'
import { defineDocument } from '../../storage/document-definition.ts'
import type { DocumentStore } from '../../storage/document-store.ts'
import { Documents, type Stored } from '../../storage/documents.ts'
import type { Caller } from './caller.ts'

const DAY_MS = 86_400_000

/** Rows that a key has exported on a day of UTC. */
const EXPORT_USE = defineDocument({
  kind: 'export-use',
  schema: z.object({
    tenant: z.string(),
    keyId: z.string(),
    /** Days since 1970. */
    day: z.number(),
    rows: z.number()
  }),
  partition: ({ tenant }) => tenant,
  key: ({ keyId, day }) => [keyId, day],
  // A day beyond its own, so that processes whose clocks differ count together.
  ttlMs: 2 * DAY_MS
})
type ExportUse = z.infer<typeof EXPORT_USE.schema>

/**
 * Counts the rows that keys export, by day of UTC. The counts are documents: they survive a restart, and all processes of a
 * store share them. An export counts its rows by page, so a count changes a few times a second.
 */
export class ExportQuota {
  readonly #uses: Documents<ExportUse>

  constructor(documents: DocumentStore) {
    this.#uses = new Documents(documents, EXPORT_USE)
  }

  /** Returns the rows that are left to a key today. */
  async left(caller: Caller, nowMs: number): Promise<number> {
    const use = await this.#uses.get(caller.tenant, [caller.keyId, dayOf(nowMs)])
    return Math.max(0, caller.exportRowsPerDay - (use?.value.rows ?? 0))
  }

  /** Takes rows from what is left to a key today. Returns how many were left, at most `rows`; these are counted. */
  async take(caller: Caller, rows: number, nowMs: number): Promise<number> {
    if (rows === 0) return 0
    let granted = 0
    const use = await this.#useOf(caller, dayOf(nowMs))
    const changed = await this.#uses.change(use, (now) => {
      granted = Math.max(0, Math.min(rows, caller.exportRowsPerDay - now.rows))
      return granted === 0 ? now : { ...now, rows: now.rows + granted }
    })
    // The document is gone only if it expired, and then belongs to a past day.
    return changed.ok ? granted : 0
  }

  /** Returns the count of a key's day, which is stored first if it is new. */
  async #useOf({ tenant, keyId }: Caller, day: number): Promise<Stored<ExportUse>> {
    const known = await this.#uses.get(tenant, [keyId, day])
    if (known !== null) return known
    const made = await this.#uses.insert({ tenant, keyId, day, rows: 0 })
    const stored = made.ok ? made.stored : await this.#uses.get(tenant, [keyId, day])
    if (stored === null) throw new Error('a count of exported rows is neither new nor known')
    return stored
  }
}

const dayOf = (nowMs: number): number => Math.floor(nowMs / DAY_MS)

/** Returns the seconds until the next day of UTC, at least 1. */
export const secondsToNextDay = (nowMs: number): number =>
  Math.max(1, Math.ceil((DAY_MS - (nowMs % DAY_MS)) / 1_000))
