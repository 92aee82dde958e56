import { z } from 'zod'
import { ServiceError } from '../errors.ts'
import { wholeNumber } from './parameters.ts'

/** Query of a list in memory, ordered by creation, oldest first; `after` is the id of the last item seen. */
export const idPaging = {
  limit: wholeNumber(1, 1000, 100).describe('Maximum number of items'),
  after: z.string().optional().describe('The `nextCursor` of the previous page')
}

/** Returns a page of such a list. Throws CURSOR_INVALID for an `after` that is not in the list. */
export function idPage<T>(
  list: readonly T[],
  idOf: (item: T) => string,
  { limit, after }: { readonly limit: number; readonly after?: string | undefined }
): { readonly page: readonly T[]; readonly nextCursor: string | null } {
  const start = after === undefined ? 0 : list.findIndex((item) => idOf(item) === after) + 1
  if (after !== undefined && start === 0) {
    throw new ServiceError('CURSOR_INVALID', 'after is not a cursor of this list')
  }
  const page = list.slice(start, start + limit)
  const last = page.at(-1)
  return { page, nextCursor: last !== undefined && start + limit < list.length ? idOf(last) : null }
}
