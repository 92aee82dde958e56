import type { Slices } from '../../work/slices.ts'
import { Rendering } from '../rendering.ts'
import { ANSWER_TERMS, type AnswerTerms } from '../respond.ts'
import { LateRows } from './late-rows.ts'
import { MEDIA_TYPES } from './list-format.ts'
import type { ListChoice } from './list-parameters.ts'
import { nextLink, tableHead, tableLines, type TableForm } from './table-text.ts'

/** Terms of the answers of a list with several formats: `Accept` selects one of them. */
export const TABLE_TERMS: AnswerTerms = { ...ANSWER_TERMS, vary: `Accept, ${ANSWER_TERMS.vary}` }

/** A page of a list, as its handler returns it. */
export interface ListBody {
  readonly data: readonly object[] | LateRows<object>
  readonly nextCursor: string | null
}

/** Returns the table that a request chooses; null for JSON. */
export function tableFormOf(
  { format, fields }: ListChoice,
  columns: readonly string[] | null
): TableForm | null {
  return format === 'json' || columns === null ? null : { format, columns: fields ?? columns }
}

/** Renders a page as a table. The header `Link` leads to the next page. */
export async function tableRendering(
  { data, nextCursor }: ListBody,
  form: TableForm,
  url: string,
  slices: Slices
): Promise<Rendering> {
  const text = tableHead(form) + (await tableLines(LateRows.in(data), form, slices))
  return new Rendering(text, { mediaType: MEDIA_TYPES[form.format], fields: nextLink(url, nextCursor) })
}
