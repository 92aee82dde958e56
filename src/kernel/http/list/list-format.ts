/** Formats of lists of rows. */
export const LIST_FORMATS = ['json', 'csv', 'ndjson'] as const
export type ListFormat = (typeof LIST_FORMATS)[number]
/** Formats without an envelope. */
export type TableFormat = Exclude<ListFormat, 'json'>

/** Media types of the formats, as responses state them. */
export const MEDIA_TYPES: Readonly<Record<ListFormat, string>> = {
  json: 'application/json; charset=utf-8',
  csv: 'text/csv; charset=utf-8; header=present',
  ndjson: 'application/x-ndjson; charset=utf-8'
}

const ACCEPTED: Readonly<Record<string, ListFormat>> = {
  'application/json': 'json',
  'text/csv': 'csv',
  'application/x-ndjson': 'ndjson',
  'application/ndjson': 'ndjson'
}

/**
 * Returns the format that an `Accept` header asks for: of the media types that it names, the one with the largest weight.
 * JSON wins a tie, and is the format if the header names none of them.
 */
export function acceptedFormat(accept: string | undefined): ListFormat {
  // Nearly all requests end here.
  if (accept === undefined || !/csv|ndjson/i.test(accept)) return 'json'
  let format: ListFormat = 'json'
  let largest = 0
  for (const part of accept.toLowerCase().split(',')) {
    const [type = '', ...parameters] = part.split(';').map((text) => text.trim())
    const named = ACCEPTED[type]
    if (named === undefined) continue
    const q = parameters.find((text) => text.startsWith('q='))?.slice(2)
    const weight = q === undefined ? 1 : Number(q)
    const wins = weight > largest || (weight === largest && named === 'json')
    if (!wins || !(weight > 0)) continue
    format = named
    largest = weight
  }
  return format
}
