/** Formats rows as a table with a heading and aligned columns; null values and lists are formatted for people. */
export function tableOf(
  columns: readonly string[],
  rows: readonly Readonly<Record<string, unknown>>[]
): readonly string[] {
  const cells = [columns, ...rows.map((row) => columns.map((column) => cellOf(row[column])))]
  const widths = columns.map((_, at) => Math.max(...cells.map((line) => line[at]!.length)))
  return cells.map((line) =>
    line
      .map((cell, at) => cell.padEnd(widths[at]!))
      .join('  ')
      .trimEnd()
  )
}

function cellOf(value: unknown): string {
  if (value === null || value === undefined || value === '') return '–'
  if (Array.isArray(value)) return value.join(',') || '–'
  return typeof value === 'string' ? value : JSON.stringify(value)
}
