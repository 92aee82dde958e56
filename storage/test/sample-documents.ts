import { z } from 'zod'
import { defineDocument, jsonBigint, jsonBytes } from '../document-definition.ts'

/** A document that has everything a document can have. */
export const PARCEL = defineDocument({
  kind: 'parcel',
  schema: z.object({
    owner: z.string(),
    id: z.union([z.string(), z.number()]),
    status: z.enum(['open', 'sent']),
    dueAtMs: z.number().nullable(),
    label: z.string().max(100).nullable(),
    weight: jsonBigint,
    seal: jsonBytes,
    note: z.string().default('')
  }),
  partition: ({ owner }) => owner,
  key: ({ id }) => [id],
  indexes: {
    status: ({ status }) => [status],
    due: ({ dueAtMs }) => (dueAtMs === null ? null : [dueAtMs])
  },
  unique: { label: ({ label }) => (label === null ? null : [label]) },
  hot: z.object({ position: z.number() })
})

export type Parcel = z.infer<typeof PARCEL.schema>

export const parcel = (id: string | number, changes: Partial<Parcel> = {}): Parcel => ({
  owner: 'ann',
  id,
  status: 'open',
  dueAtMs: null,
  label: null,
  weight: 2n ** 70n,
  seal: Uint8Array.of(0, 1, 255),
  note: '',
  ...changes
})

export const TICKET_TTL_MS = 60_000

/** A document that expires. */
export const TICKET = defineDocument({
  kind: 'ticket',
  schema: z.object({ owner: z.string(), id: z.string(), seat: z.string() }),
  partition: ({ owner }) => owner,
  key: ({ id }) => [id],
  indexes: { bySeat: ({ seat }) => [seat] },
  unique: { seat: ({ seat }) => [seat] },
  ttlMs: TICKET_TTL_MS,
  hot: z.object({ position: z.number() })
})

export const LETTER_TTL_MS = 60_000

/** A document of a kind whose number has no limit: without unique values, in lists by number, time and state. */
export const LETTER = defineDocument({
  kind: 'letter',
  schema: z.object({
    owner: z.string(),
    number: z.number(),
    box: z.string(),
    sentAtMs: z.number(),
    isOpen: z.boolean()
  }),
  partition: ({ owner }) => owner,
  key: ({ number }) => [number],
  indexes: {
    byBox: ({ box, sentAtMs }) => [box, sentAtMs],
    open: ({ isOpen, box, sentAtMs }) => (isOpen ? [box, sentAtMs] : null)
  },
  ttlMs: LETTER_TTL_MS,
  hot: z.object({ position: z.number() })
})

export type Letter = z.infer<typeof LETTER.schema>

/** The values of a page. */
export const valuesOf = <T>(documents: readonly { readonly value: T }[]): T[] =>
  documents.map(({ value }) => value)
