import type { Test } from 'tap'
import { contractOf } from '../http/checked-requests.ts'
import type { Contract } from '../http/contract.ts'
import type { Answer, MarketApp, Row } from '../http/market-app.ts'

/** Asserts equality only on a difference, because thousands of passing assertions are slow. */
export function same(t: Test, found: unknown, expected: unknown, what: string): void {
  const { found: a, expected: b } = { found: sorted(found), expected: sorted(expected) }
  if (JSON.stringify(a) !== JSON.stringify(b)) t.strictSame(a, b, what)
}

/** Returns a value with its fields sorted by name and without undefined ones, so that texts can be compared. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== 'object' || value === null) return value
  const fields = Object.entries(value).filter(([, field]) => field !== undefined)
  return Object.fromEntries(
    fields.toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([name, field]) => [name, sorted(field)])
  )
}

/** Answers of each kind that are checked against the document: compiling a schema takes a millisecond. */
const HELD_TO_DOCUMENT = 25

/**
 * Sends requests as a client does, and checks some answers of each kind against the OpenAPI document with closed schemas.
 */
export class Reader {
  readonly #app: MarketApp
  readonly #contract: Contract
  readonly #held = new Map<string, number>()

  constructor(app: MarketApp, contract: Contract) {
    this.#app = app
    this.#contract = contract
  }

  static async of(app: MarketApp): Promise<Reader> {
    return new Reader(app, await contractOf(app))
  }

  async list(path: string): Promise<readonly Row[]> {
    const { status, body, text } = await this.#get(path)
    if (status !== 200) throw new Error(`${path}: ${text}`)
    return body.data
  }

  /** Returns an object, or null if the service does not know it. */
  async object(path: string): Promise<unknown> {
    const { status, body, text } = await this.#get(path)
    if (status === 404) return null
    if (status !== 200) throw new Error(`${path}: ${text}`)
    return body
  }

  async #get(path: string): Promise<Answer> {
    const answer = await this.#app.get(path)
    const kind = `${answer.status} ${path.split('?')[0]!.replaceAll(/\/\w{32,44}/g, '/*')}`
    const held = this.#held.get(kind) ?? 0
    this.#held.set(kind, held + 1)
    const breach = held < HELD_TO_DOCUMENT ? this.#contract.breach({ ...answer, method: 'GET', path }) : null
    if (breach !== null) throw new Error(`${path}: ${breach}`)
    return answer
  }
}
