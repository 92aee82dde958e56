import type { ReplyFacts } from '../gateway.ts'
import type { Fields } from '../../kernel/http/fields.ts'

/** Header fields with the origin of a JSON-RPC answer; pages of other origins may read them. */
export const RPC_FACT_FIELDS = ['X-Millrace-Cache', 'X-Millrace-Age-Ms', 'X-Millrace-Slot'] as const

/** Returns the header fields of an answer's facts. Facts that do not apply are left out. */
export function factFields({ cache, ageMs, slot }: ReplyFacts): Fields {
  const fields: string[] = []
  if (cache !== null) fields.push('x-millrace-cache', cache)
  if (ageMs !== null) fields.push('x-millrace-age-ms', String(ageMs))
  if (slot !== null) fields.push('x-millrace-slot', String(slot))
  return fields
}
