import type { Test } from 'tap'
import type { MarketApp, Row } from './market-app.ts'

/** Compares without a passing assertion for each of thousands. */
export function same(t: Test, found: unknown, expected: unknown, what: string): void {
  const { found: a, expected: b } = { found: sorted(found), expected: sorted(expected) }
  if (JSON.stringify(a) !== JSON.stringify(b)) t.strictSame(a, b, what)
}

/** Fields in order of their names, so that texts can be compared; undefined fields are none. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== 'object' || value === null) return value
  const fields = Object.entries(value).filter(([, field]) => field !== undefined)
  return Object.fromEntries(
    fields.toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([name, field]) => [name, sorted(field)])
  )
}

export async function list(app: MarketApp, path: string): Promise<readonly Row[]> {
  const { status, body, text } = await app.get(path)
  if (status !== 200) throw new Error(`${path}: ${text}`)
  return body.data
}

/** An object, or null where the service knows none. */
export async function object(app: MarketApp, path: string): Promise<unknown> {
  const { status, body, text } = await app.get(path)
  if (status === 404) return null
  if (status !== 200) throw new Error(`${path}: ${text}`)
  return body
}
