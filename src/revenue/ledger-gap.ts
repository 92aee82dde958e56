import { z } from 'zod'
import { defineDocument } from '../../storage/document-definition.ts'
import type { DocumentStore } from '../../storage/document-store.ts'
import { Documents } from '../../storage/documents.ts'

/** The partition of all gaps. They are few: one for each outage of the follower. */
const PARTITION = 'ledger-gaps'

/** Slots, both ends included, whose balance changes no ledger has. */
export const LEDGER_GAP = defineDocument({
  kind: 'ledger-gap',
  schema: z.object({
    from: z.number(),
    to: z.number(),
    /** Block times of the two slots, unix seconds; null if unknown. */
    fromTs: z.number().nullable(),
    toTs: z.number().nullable(),
    /** `ingest_down`: blocks passed while the follower was down. `upstream_missing`: no source had the blocks. */
    reason: z.enum(['ingest_down', 'upstream_missing'])
  }),
  partition: () => PARTITION,
  key: ({ from }) => [from]
})
export type LedgerGap = z.infer<typeof LEDGER_GAP.schema>

/** Lists the gaps that end at or after a slot, ascending by their first slot. */
export async function ledgerGapsAfter(store: DocumentStore, slot: number): Promise<readonly LedgerGap[]> {
  const stored = await new Documents(store, LEDGER_GAP).all(PARTITION)
  return stored.map(({ value }) => value).filter(({ to }) => to >= slot)
}
