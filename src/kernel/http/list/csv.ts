/** Line end of CSV (RFC 4180). */
export const CSV_LINE_END = '\r\n'

/**
 * Text that a spreadsheet would take for a formula. Leading apostrophes belong to the pattern, so that one apostrophe can
 * be removed without doubt.
 */
const FORMULA = /^'*[=+\-@\t\r]/
/** A number as text, such as a raw amount: it stays a number. */
const NUMBER = /^-?\d+(\.\d+)?([eE][+-]?\d+)?$/
const NEEDS_QUOTES = /[",\r\n]/

/**
 * Returns a cell of CSV. Null and absent values are empty, and an empty text is `""`. Objects and lists are JSON. A text
 * that a spreadsheet would take for a formula gets an apostrophe in front; numbers are unchanged.
 */
export function csvCell(value: unknown): string {
  if (value === null || value === undefined) return ''
  if (typeof value === 'string') return value === '' ? '""' : quoted(harmless(value))
  return quoted(JSON.stringify(value) ?? '')
}

/** Returns a line of CSV without its end: the values of these columns. An empty line would count as no row. */
export function csvLine(row: object, columns: readonly string[]): string {
  const values = row as Readonly<Record<string, unknown>>
  let line = ''
  for (let i = 0; i < columns.length; i++) line += (i === 0 ? '' : ',') + csvCell(values[columns[i]!])
  return line === '' ? '""' : line
}

const harmless = (text: string): string => (FORMULA.test(text) && !NUMBER.test(text) ? `'${text}` : text)

const quoted = (text: string): string => (NEEDS_QUOTES.test(text) ? `"${text.replaceAll('"', '""')}"` : text)
