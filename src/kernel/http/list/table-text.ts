import type { Slices } from '../../work/slices.ts'
import type { LateRows } from './late-rows.ts'
import { CSV_LINE_END, csvLine } from './csv.ts'
import type { TableFormat } from './list-format.ts'

/** The format of a table and its columns, in order. */
export interface TableForm {
  readonly format: TableFormat
  readonly columns: readonly string[]
}

/** Returns the lines before the rows: the header of CSV. */
export const tableHead = ({ format, columns }: TableForm): string =>
  format === 'csv' ? columns.join(',') + CSV_LINE_END : ''

/** Renders rows as lines, in slices. Rejects as `Slices.map` does. */
export async function tableLines(
  rows: LateRows<object>,
  { format, columns }: TableForm,
  slices: Slices
): Promise<string> {
  const lineOf =
    format === 'csv'
      ? (row: object): string => csvLine(row, columns) + CSV_LINE_END
      : (row: object): string => `${JSON.stringify(row)}\n`
  const lines: string[] = []
  await rows.each(slices, (row) => {
    const line = lineOf(row)
    lines.push(line)
    return line.length
  })
  return lines.join('')
}

/** Returns the header with the next page of a list: its URL has `nextCursor` as `after`. No header on the last page. */
export function nextLink(url: string, nextCursor: string | null): readonly string[] {
  if (nextCursor === null) return []
  const [path = '', query = ''] = url.split('?', 2)
  const parameters = new URLSearchParams(query)
  parameters.set('after', nextCursor)
  // An offset counts from the first page.
  parameters.delete('offset')
  return ['link', `<${path}?${parameters.toString()}>; rel="next"`]
}
