import { z } from 'zod'
import { ServiceError } from '../errors.ts'
import { wholeNumber } from './parameters.ts'

/** The paging of a list that is in memory and ordered by age, oldest first; `after` is the id of the last one seen. */
export const idPaging = {
  limit: wholeNumber(1, 1000, 100).describe('How many'),
  after: z.string().max(64).optional().describe('The `nextCursor` of the page before')
}

/** A page of such a list. Throws CURSOR_INVALID for an `after` that is not in it. */
export function idPage<T>(
  list: readonly T[],
  idOf: (item: T) => string,
  { limit, after }: { readonly limit: number; readonly after?: string | undefined }
): { readonly page: readonly T[]; readonly nextCursor: string | null } {
  const start = after === undefined ? 0 : list.findIndex((item) => idOf(item) === after) + 1
  if (after !== undefined && start === 0) {
    throw new ServiceError('CURSOR_INVALID', 'after is no cursor of this list')
  }
  const page = list.slice(start, start + limit)
  const last = page.at(-1)
  return { page, nextCursor: last !== undefined && start + limit < list.length ? idOf(last) : null }
}
