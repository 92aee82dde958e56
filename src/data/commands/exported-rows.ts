import type { z } from 'zod'
import { maskedUrl } from '../../kernel/config/url-mask.ts'
import type { Row } from '../../kernel/cli/command.ts'
import { Unreachable } from '../../kernel/cli/service-client.ts'
import { Refused, type ServiceAccess } from '../../kernel/cli/service-command.ts'
import { sleep, type Clock } from '../../ports.ts'

/** Maximum attempts in succession that bring no row: the service has half a minute to start again. */
const ATTEMPTS_MAX = 6
const PAUSE_MS = { first: 1_000, max: 15_000 }
/** Statuses that a later attempt may not have. */
const TEMPORARY = [429, 500, 502, 503, 504]
/** Maximum characters of a line. The longest row, a launch with its texts, has some thousands. */
const LINE_MAX = 2 ** 20

/** The parameter with which an export continues after a row. */
export interface NextPlace {
  readonly parameter: 'after' | 'from'
  readonly value: string
}

/** Returns the place after a row. */
export type Continuation = (row: Row) => NextPlace

/** Continues after the cursor of a row. */
export const afterCursor: Continuation = ({ cursor }) => ({ parameter: 'after', value: String(cursor) })

/** Continues after the token and the cursor of a row of all tokens. */
export const afterTokenCursor: Continuation = ({ mint, cursor }) => ({
  parameter: 'after',
  value: `${String(mint)}:${String(cursor)}`
})

/** Continues after a candle of all tokens. */
export const afterPairCandle: Continuation = ({ mint, cash_mint, ts_ms }) => ({
  parameter: 'after',
  value: [mint, cash_mint, Number(ts_ms) / 1_000].map(String).join(':')
})

/** Continues from the second after the start of a candle, which has no cursor. */
export const fromNextSecond: Continuation = ({ ts_ms }) => ({
  parameter: 'from',
  value: String(Math.floor(Number(ts_ms) / 1_000) + 1)
})

/** A list to read, and how. */
export interface ExportRequest {
  readonly access: ServiceAccess
  readonly path: string
  readonly query: Readonly<Record<string, string>>
  readonly continuation: Continuation
  readonly signal: AbortSignal
  readonly clock: Clock
  /** Reports why the export is interrupted, and the pause before it continues. */
  readonly retrying: (reason: string, pauseMs: number) => void
}

/** A row, and its line without the end. */
export interface ExportedRow {
  readonly line: string
  readonly body: Row
}

/** The columns of a file, and the schema of its rows. */
export interface FileColumns {
  readonly columns: readonly string[]
  readonly row: z.ZodObject
}

/** A refusal that a later attempt may not meet. */
class Temporary extends Error {
  readonly pauseMs: number | null

  constructor(message: string, pauseMs: number | null) {
    super(message)
    this.pauseMs = pauseMs
  }
}

/**
 * Yields the rows of an export of a running service. If the answer breaks off, or the service does not answer, it continues
 * after the last whole row. Throws Refused, or Unreachable after too many attempts.
 */
export async function* exportedRows(request: ExportRequest): AsyncGenerator<ExportedRow, void> {
  const { signal, retrying } = request
  let query = request.query
  for (let attempt = 1; ; attempt++) {
    try {
      for await (const row of rowsOf({ ...request, query })) {
        yield row
        attempt = 0
        const { parameter, value } = request.continuation(row.body)
        query = { ...query, [parameter]: value }
      }
      return
    } catch (error) {
      if (!(error instanceof Temporary) || signal.aborted) throw error
      if (attempt >= ATTEMPTS_MAX) throw new Unreachable(error.message, { cause: error })
      const pauseMs = error.pauseMs ?? Math.min(PAUSE_MS.max, PAUSE_MS.first * 2 ** Math.max(0, attempt - 1))
      retrying(error.message, pauseMs)
      await sleep(request.clock, pauseMs, signal)
      signal.throwIfAborted()
    }
  }
}

async function* rowsOf({ access, path, query, signal }: ExportRequest): AsyncGenerator<ExportedRow> {
  const { url, key } = access
  const asked = `${url.replace(/\/$/, '')}${path}?${new URLSearchParams({ ...query, format: 'ndjson' }).toString()}`
  // Redirects are refused, because they would carry the key along.
  const response = await fetch(asked, { headers: { 'x-api-key': key }, redirect: 'error', signal }).catch(
    () => {
      signal.throwIfAborted()
      throw new Temporary(`no service answers at ${maskedUrl(url)}`, null)
    }
  )
  if (response.status !== 200) throw await refusalOf(response, url)
  const decoder = new TextDecoder()
  let rest = ''
  try {
    for await (const bytes of response.body!) {
      const lines = (rest + decoder.decode(bytes as Uint8Array, { stream: true })).split('\n')
      rest = lines.pop()!
      if (rest.length > LINE_MAX) throw new Unreachable(`${maskedUrl(url)} is not a Millrace service`)
      for (const line of lines) yield rowOf(line)
    }
  } catch (error) {
    signal.throwIfAborted()
    if (error instanceof Unreachable) throw error
    throw new Temporary(`the answer of ${maskedUrl(url)} broke off`, null)
  }
  if (rest !== '') throw new Temporary(`the answer of ${maskedUrl(url)} ends within a row`, null)
}

function rowOf(line: string): ExportedRow {
  return { line, body: JSON.parse(line) as Row }
}

async function refusalOf(response: Response, url: string): Promise<Error> {
  const body = (await response.json().catch(() => null)) as Row | null
  if (body === null || typeof body.detail !== 'string')
    return new Unreachable(`${maskedUrl(url)} is not a Millrace service`)
  const { status } = response
  // The quota of a day is used up for longer than a command should wait.
  if (!TEMPORARY.includes(status) || body.code === 'export_rows_exceeded')
    return new Refused({ status, body })
  const seconds = Number(response.headers.get('retry-after') ?? Number.NaN)
  return new Temporary(body.detail, Number.isFinite(seconds) ? Math.min(seconds * 1_000, 60_000) : null)
}
