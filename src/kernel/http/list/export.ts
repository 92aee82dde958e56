import { Readable } from 'node:stream'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Caller } from '../../../access/caller.ts'
import { ERRORS, ServiceError } from '../../errors.ts'
import { slicesOfTurn, type Slices } from '../../work/slices.ts'
import type { Making } from '../answer.ts'
import type { Endpoint } from '../endpoint.ts'
import { invalid } from '../parameters.ts'
import { LateRows } from './late-rows.ts'
import { acceptedFormat, MEDIA_TYPES } from './list-format.ts'
import type { ListChoice } from './list-parameters.ts'
import { pickFields } from './row-fields.ts'
import { tableFormOf, TABLE_TERMS } from './table-rendering.ts'
import { tableHead, tableLines, type TableForm } from './table-text.ts'

/** Rows that an export reads at a time: 1.2 MB of trades as CSV. An export holds two pages if its reader is slow. */
export const EXPORT_PAGE_ROWS = 1_000
/** The trailer with the number of rows of a complete export. */
export const EXPORT_TRAILER = 'X-Export-Rows'

/** A page of an export, as the list's handler returns it. */
export interface ExportPage {
  readonly data: readonly object[] | LateRows<object>
  readonly nextCursor: string | null
}

/** The parameters of a page of an export that replace those of the request. */
export interface ExportPlace {
  readonly limit: number
  /** Absent for the first page. */
  readonly after?: string
  /** 0 after the first page. */
  readonly offset?: number
}

/** An export to send: its pages are read one after another. */
export interface ExportOrder {
  readonly endpoint: Pick<Endpoint, 'columns' | 'deadlineMs'>
  readonly choice: ListChoice
  readonly page: (making: Making, place: ExportPlace) => Promise<ExportPage>
}

/** Tells whether a list can be exported: rows of a range of times, as a table. */
export const isExportable = ({ columns, query }: Pick<Endpoint, 'columns' | 'query'>): boolean =>
  columns !== null && 'from' in query.shape && 'to' in query.shape

/** Tells whether a request asks for an export: a table of a range of times, without a limit. */
export function asksForExport({ method, query, headers }: FastifyRequest): boolean {
  const { from, to, limit, format } = query as Readonly<Record<string, unknown>>
  if (method !== 'GET' || from === undefined || to === undefined || limit !== undefined) return false
  return (format ?? acceptedFormat(headers.accept)) !== 'json'
}

/**
 * Sends all rows of a list in a stream. A page is read when the client has read the page before the last one, in a turn of
 * the tenant. Rows are counted against the quota of the key before they are sent. The rows of a complete answer are
 * in its trailer; any other answer breaks off without the end that HTTP requires.
 */
export async function sendExport(
  app: FastifyInstance,
  request: FastifyRequest,
  reply: FastifyReply,
  order: ExportOrder
): Promise<FastifyReply> {
  const form = tableFormOf(order.choice, order.endpoint.columns)!
  if (request.raw.httpVersionMajor === 1 && request.raw.httpVersionMinor === 0)
    throw invalid(
      'format',
      'needs HTTP/1.1 for a whole range, because HTTP/1.0 cannot show that an answer is complete; give limit'
    )
  const { pages, first, leave } = await begin(app, request, reply, order, form)
  const stream = Readable.from(pages.texts(tableHead(form) + first), { objectMode: false })
  stream.once('close', leave)
  void reply
    .type(MEDIA_TYPES[form.format])
    .header('cache-control', 'private, no-store')
    .header('vary', TABLE_TERMS.vary)
    .trailer(EXPORT_TRAILER, async () => String(pages.rows))
  return reply.send(stream)
}

/** Admits an export and reads its first page, so that its refusal is an answer of its own. */
async function begin(
  app: FastifyInstance,
  request: FastifyRequest,
  reply: FastifyReply,
  order: ExportOrder,
  form: TableForm
) {
  const caller = request.caller!
  try {
    const leave = await app.exports.enter(caller)
    try {
      const pages = new ExportPages(app, request, reply, order, form, caller)
      return { pages, first: await pages.next(true), leave }
    } catch (error) {
      leave()
      throw error
    }
  } catch (error) {
    if (error instanceof ServiceError && error.kind === ERRORS.EXPORT_ROWS_EXCEEDED)
      void reply.header('retry-after', error.members['retry_after'])
    throw error
  }
}

/** Reads the pages of one export. */
class ExportPages {
  /** Rows sent so far. */
  rows = 0
  readonly #app: FastifyInstance
  readonly #request: FastifyRequest
  readonly #order: ExportOrder
  readonly #form: TableForm
  readonly #caller: Caller
  readonly #left = new AbortController()
  /** The `after` of the next page: null at the end, undefined for the first page. */
  #after: string | null | undefined
  #isUsedUp = false

  constructor(
    app: FastifyInstance,
    request: FastifyRequest,
    { raw }: FastifyReply,
    order: ExportOrder,
    form: TableForm,
    caller: Caller
  ) {
    this.#app = app
    this.#request = request
    this.#order = order
    this.#form = form
    this.#caller = caller
    const leave = (): void =>
      this.#left.abort(new ServiceError(ERRORS.DEADLINE_EXCEEDED, 'the client has left'))
    if (raw.destroyed) leave()
    raw.once('close', leave)
  }

  /** Yields the first text, and then the text of each further page. Throws if it cannot continue. */
  async *texts(first: string): AsyncGenerator<string> {
    if (first !== '') yield first
    while (this.#after !== null) {
      if (this.#isUsedUp) throw this.#app.exports.usedUp(this.#caller)
      if (this.#app.exports.isEnding())
        throw new ServiceError(ERRORS.SERVICE_DRAINING, 'the service is draining; resume the export')
      const text = await this.next(false)
      if (text !== '') yield text
    }
    if (this.#isUsedUp) throw this.#app.exports.usedUp(this.#caller)
  }

  /** Returns the text of the next page. Rejects if no row of the first page is within the quota. */
  async next(isFirst: boolean): Promise<string> {
    const { turns, responseCache, exports } = this.#app
    const { endpoint, choice, page } = this.#order
    const { deadlineMs } = endpoint
    const meter = this.#request.charged?.meter
    const left = this.#left.signal
    const after = this.#after
    const place = { limit: EXPORT_PAGE_ROWS, ...(after != null && { after, offset: 0 }) }
    // Only the first page has a client that still waits for an answer.
    const turn = { signal: left, isPatient: !isFirst }
    return turns.run(
      this.#caller.tenant,
      async (handle) => {
        const slicesOf = (signal: AbortSignal): Slices => slicesOfTurn(handle, signal)
        const { data, nextCursor } = await responseCache.within((making) => page(making, place), {
          deadlineMs,
          slicesOf,
          left
        })
        const granted = await exports.take(this.#caller, data.length)
        if (isFirst && granted === 0 && data.length > 0) throw exports.usedUp(this.#caller)
        const slices = slicesOf(left)
        const rows = LateRows.in(data).first(granted)
        const { fields } = choice
        const picked = fields === null ? rows : rows.map((row) => pickFields(row, fields))
        const text = await tableLines(picked, this.#form, slices)
        this.#isUsedUp = granted < data.length
        this.#after = nextCursor
        this.rows += granted
        meter?.countListed(this.rows)
        meter?.countBytes(Buffer.byteLength(text))
        return text
      },
      turn
    )
  }
}
