import { cursorAt } from '../market/cursor.ts'
import type { SlotRow } from '../market/rows.ts'
import type { PageRequest } from '../../storage/port.ts'

/** The stores from which a page of a list in cursor order can have rows. */
export interface PageParts {
  readonly live: boolean
  readonly archive: boolean
}

/**
 * Returns the stores from which a page can have rows. All cursors of the archive are below the border; no live cursor
 * is.
 */
export function partsOf(
  { from, until, order }: Pick<PageRequest, 'from' | 'until' | 'order'>,
  end: SlotRow
): PageParts {
  const border = cursorAt(end.slot + 1, 0)
  return order === 'desc'
    ? {
        live: from === undefined || from > border,
        archive: until === undefined || until < border
      }
    : {
        live: until === undefined || until >= border,
        archive: from === undefined || from < border - 1
      }
}

/**
 * Reads a page of a list whose oldest rows are in the archive. The second store is read only if the first does not fill
 * the page. Rows that an import adds meanwhile, after `end`, are left out: they are not marked as archived yet.
 */
export async function joinedPage<Row>(
  page: PageRequest,
  end: SlotRow,
  read: {
    readonly live: (page: PageRequest) => Promise<Row[]>
    readonly archive: (page: PageRequest) => Promise<Row[]>
  }
): Promise<Row[]> {
  const parts = partsOf(page, end)
  const names = page.order === 'desc' ? (['live', 'archive'] as const) : (['archive', 'live'] as const)
  const rows: Row[] = []
  for (const name of names) {
    const limit = page.limit - rows.length
    if (!parts[name] || limit === 0) continue
    const asked = name === 'archive' ? upTo(end, page) : page
    rows.push(...(await read[name]({ ...asked, limit })))
  }
  return rows
}

/** Limits a page to rows up to a block. */
function upTo(end: SlotRow, page: PageRequest): PageRequest {
  const border = cursorAt(end.slot + 1, 0)
  return page.order === 'desc'
    ? { ...page, from: Math.min(page.from ?? border, border) }
    : { ...page, until: Math.min(page.until ?? border, border - 1) }
}
