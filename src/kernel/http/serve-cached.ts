import type { FastifyInstance } from 'fastify'
import type { z } from 'zod'
import { countingReads } from '../../access/counted-reads.ts'
import { UNCOUNTED, type WorkCount } from '../../access/work-meter.ts'
import type { Slices } from '../work/slices.ts'
import { countRows } from './counted-rows.ts'
import { routeOf, type Endpoint } from './endpoint.ts'
import { inTurn, type SlicesOf } from './in-turn.ts'
import { answerKey, isRenderer, type Answer, type Making } from './answer.ts'
import { reader } from './parameters.ts'
import type { Rendering } from './rendering.ts'
import { ANSWER_TERMS, sendRendering } from './respond.ts'
import { asksForExport, isExportable, sendExport, type ExportPage, type ExportPlace } from './list/export.ts'
import type { LateBody } from './list/late-rows.ts'
import { acceptedFormat } from './list/list-format.ts'
import { listChoice, type ListChoice } from './list/list-parameters.ts'
import { withPickedRows, withPickedRowsNow, type FieldChoice } from './list/row-fields.ts'
import { tableFormOf, tableRendering, TABLE_TERMS, type ListBody } from './list/table-rendering.ts'
import { tenantMark, type Unmarked } from './tenant-mark.ts'

/**
 * The argument of a cached endpoint's handler. The answer is shared by all keys of a tenant, so only the tenant is
 * known.
 */
export interface CachedCall<P extends z.ZodObject, Q extends z.ZodObject> extends Making {
  readonly params: z.output<P>
  readonly query: z.output<Q>
  /** Empty if the scope is open. */
  readonly tenant: string
  /** Counts work beyond the rows and bytes of the answer; the request that makes it is charged. */
  readonly work: WorkCount
  /** The fields that the request selects. A handler may render these alone; it need not. */
  readonly fields: FieldChoice
  /** Whether the rows are a page of an export, whose pages are in the order of the list. */
  readonly isExport: boolean
}

/** The answer of a cached endpoint, whose list may be made late. */
type CachedAnswerOf<A extends z.ZodType> = Answer<Unmarked<z.input<A>> | LateBody<Unmarked<z.input<A>>>>

/**
 * Serves an endpoint with cached answers, entity tags and gzip. A repeated URL gets the same bytes for all keys of a
 * tenant, until a block changes a value that the answer depends on. A cache hit is served before the URL is parsed.
 */
export function serveCached<P extends z.ZodObject, Q extends z.ZodObject, A extends z.ZodType>(
  app: FastifyInstance,
  endpoint: Endpoint<P, Q, z.ZodUndefined, A>,
  handler: (call: CachedCall<P, Q>) => Promise<CachedAnswerOf<A>>
): void {
  const { responseCache } = app
  const { url, config } = routeOf(endpoint)
  const { deadlineMs, columns } = endpoint
  const terms = columns === null ? ANSWER_TERMS : TABLE_TERMS
  const route = { path: url, scope: config.scope, terms }
  const isExported = isExportable(endpoint)
  app.served.push({ endpoint, isCached: true })
  const readParams = reader(endpoint.params)
  const readQuery = reader(endpoint.query)
  const mark = tenantMark(endpoint.answer)
  app.route({
    ...routeOf(endpoint),
    handler: (request, reply) => {
      const tenant = request.caller?.tenant ?? ''
      const meter = request.charged?.meter
      /** Calls the handler. Its rows are counted. */
      const answerTo = async (call: CachedCall<P, Q>): Promise<CachedAnswerOf<A>> => {
        if (meter === undefined) return handler(call)
        const made = await countingReads(meter, () => handler(call))
        countRows(meter, made.body, call.query)
        return made
      }
      const callOf = (making: Making, query: z.output<Q>, { fields }: ListChoice, isExport = false) => {
        const params = readParams(request.params)
        return { ...making, params, query, tenant, work: meter ?? UNCOUNTED, fields, isExport }
      }
      // Bytes that another request made cost nothing.
      meter?.countBytes(0)
      if (isExported && asksForExport(request)) {
        const query = readQuery(request.query)
        const choice = listChoice(query, columns, request)
        const page = async (making: Making, place: ExportPlace): Promise<ExportPage> => {
          const made = await answerTo(callOf(making, { ...query, ...place }, choice, true))
          return made.body as unknown as ExportPage
        }
        return sendExport(app, request, reply, { endpoint, choice, page })
      }
      const key = answerKey(
        request.raw.url!,
        tenant,
        columns === null ? 'json' : acceptedFormat(request.headers.accept)
      )
      const send = (made: Rendering) =>
        sendRendering(request, reply, made, terms, () => responseCache.packed(key, made))
      // To copy a long answer to a socket takes time, and hundreds of clients may wait for the same one.
      const give = (made: Rendering) => {
        made.useFor(reply.raw)
        return made.isText ? send(made) : inTurn(app, endpoint, reply, async () => send(made))
      }
      const found = responseCache.find(key)
      if (found !== null) return found instanceof Promise ? found.then(give) : give(found)
      let isMade = false
      const make = (slicesOf: SlicesOf): Promise<Rendering> =>
        responseCache.make(
          key,
          route,
          async (making) => {
            isMade = true
            const query = readQuery(request.query)
            const choice = listChoice(query, columns, request)
            const { fields } = choice
            const made = await answerTo(callOf(making, query, choice))
            const { body } = made
            if (isRenderer(body)) return { ...made, body: markedRenderer(body, fields, mark, tenant) }
            const form = tableFormOf(choice, columns)
            const rows = made.isSelected === true ? null : fields
            return {
              ...made,
              body: mark(withPickedRows<Unmarked<z.input<A>>>(body, rows), tenant),
              ...(form !== null && {
                render: (list: unknown, slices: Slices) =>
                  tableRendering(list as ListBody, form, request.raw.url!, slices)
              })
            }
          },
          { deadlineMs, slicesOf }
        )
      // While it waited for its turn, an equal request may have begun to make the answer. It is waited for without a turn: if
      // all turns of the tenant waited for an answer, that answer would have none.
      const making = inTurn(app, endpoint, reply, async (slicesOf) => {
        const known = responseCache.find(key)
        return known instanceof Promise ? { joined: known } : (known ?? make(slicesOf))
      })
      return making.then((made) => {
        if ('joined' in made) return made.joined.then(give)
        if (isMade) meter?.countBytes(made.length)
        made.useFor(reply.raw)
        return send(made)
      })
    }
  })
}

/** Returns a renderer of marked bodies. A cached answer keeps it, so it holds nothing else of the request. */
function markedRenderer<Body>(
  body: (headTime: number) => Body,
  fields: FieldChoice,
  mark: ReturnType<typeof tenantMark>,
  tenant: string
): (headTime: number) => Body {
  return (headTime) => mark(withPickedRowsNow(body(headTime), fields), tenant)
}
