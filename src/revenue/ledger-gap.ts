import { z } from 'zod'
import { defineDocument } from '../../storage/document-definition.ts'
import type { DocumentStore } from '../../storage/document-store.ts'
import { Documents } from '../../storage/documents.ts'

const PARTITION = 'ledger-gaps'

/**
 * Reasons why slots are missing: no process has read their blocks for the ledger, or the index itself lacks them and may
 * still get them.
 */
export const GAP_REASONS = ['ingest_down', 'upstream_missing'] as const

/** Slots that the ledger of every address lacks, both ends included. Some of them may have no block. */
const LEDGER_GAP = defineDocument({
  kind: 'ledger-gap',
  schema: z.object({
    from: z.number(),
    to: z.number(),
    /** Block times of the blocks before and after it, unix seconds; null if unknown. */
    fromTs: z.number().nullable(),
    toTs: z.number().nullable(),
    reason: z.enum(GAP_REASONS)
  }),
  partition: () => PARTITION,
  key: ({ from }) => [from]
})
export type LedgerGap = z.infer<typeof LEDGER_GAP.schema>

/** The gaps of the ledger. A crash during a change leaves a gap that is too long, never one that is too short. */
export class LedgerGaps {
  readonly #documents: Documents<LedgerGap>

  constructor(store: DocumentStore) {
    this.#documents = new Documents(store, LEDGER_GAP)
  }

  /** Lists the gaps that end at or after a slot, oldest first. */
  async since(slot: number): Promise<readonly LedgerGap[]> {
    const all = await this.#documents.all(PARTITION)
    return all.map(({ value }) => value).filter(({ to }) => to >= slot)
  }

  async add(gap: LedgerGap): Promise<void> {
    const outcome = await this.#documents.insert(gap)
    if (outcome.ok) return
    const before = await this.#documents.get(PARTITION, [gap.from])
    if (before === null) return this.add(gap)
    await this.#documents.change(before, (value) => (value.to >= gap.to ? value : gap))
  }

  /** Removes slots from the gaps, both ends included: their blocks are in the ledger, or on a lost fork. */
  async close(from: number, to: number): Promise<void> {
    for (const document of await this.#documents.all(PARTITION)) {
      const gap = document.value
      if (gap.to < from || gap.from > to) continue
      if (gap.to > to) await this.add({ ...gap, from: to + 1 })
      if (gap.from < from) await this.#documents.change(document, (value) => ({ ...value, to: from - 1 }))
      else await this.#documents.delete(document)
    }
  }
}
