import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { Caller } from '../../access/caller.ts'
import { countingReads } from '../../access/counted-reads.ts'
import { UNCOUNTED, type WorkCount } from '../../access/work-meter.ts'
import { ERRORS, ServiceError } from '../errors.ts'
import { countRows } from './counted-rows.ts'
import { routeOf, type Endpoint } from './endpoint.ts'
import { inTurn, slicesWithoutTurn, whileClientWaits } from './in-turn.ts'
import { JsonBytes } from './json-bytes.ts'
import { setFields } from './fields.ts'
import { asksForExport, isExportable, sendExport, type ExportPage, type ExportPlace } from './list/export.ts'
import { listChoice } from './list/list-parameters.ts'
import { withPickedRows, type FieldChoice } from './list/row-fields.ts'
import { tableFormOf, tableRendering, type ListBody } from './list/table-rendering.ts'
import { idempotencyKeyOf, type Intended, type StoredAnswer } from './idempotency.ts'
import type { Making } from './answer.ts'
import { withoutNullFields } from './null-fields.ts'
import { reader } from './parameters.ts'
import { Rendering } from './rendering.ts'
import { hasLongList, slicedJson } from './sliced-json.ts'
import { tenantMark, type Unmarked } from './tenant-mark.ts'

/** The argument of a handler: the validated input, the caller, and the limits of the answer. */
export interface Call<P extends z.ZodObject, Q extends z.ZodObject, B extends z.ZodType> extends Making {
  readonly params: z.output<P>
  readonly query: z.output<Q>
  readonly body: z.output<B>
  /** Null if the scope is open. */
  readonly caller: Caller | null
  readonly request: FastifyRequest
  readonly reply: FastifyReply
  /** The fields that the request selects. A handler may render these alone; it need not. */
  readonly fields: FieldChoice
  /** Whether the rows are a page of an export, whose pages are in the order of the list. */
  readonly isExport: boolean
  /** Counts work beyond the rows and bytes of the answer. */
  readonly work: WorkCount
  /**
   * Executes the request once for each `Idempotency-Key` of the tenant, as `Idempotency.once` does. A repeat must equal
   * `content`: usually the body.
   */
  readonly once: <Made>(
    content: unknown,
    prepare: () => Promise<string>,
    make: (intended: Intended) => Promise<Made>
  ) => Promise<Made>
}

/** Serves an endpoint whose answer is computed for each request, as JSON or as the handler's own rendering. */
export function serve<P extends z.ZodObject, Q extends z.ZodObject, B extends z.ZodType, A extends z.ZodType>(
  app: FastifyInstance,
  endpoint: Endpoint<P, Q, B, A>,
  handler: (call: Call<P, Q, B>) => Promise<Unmarked<z.input<A>> | JsonBytes | Rendering>
): void {
  const { responseCache } = app
  const { status, deadlineMs, columns } = endpoint
  const isExported = isExportable(endpoint)
  app.served.push({ endpoint, isCached: false })
  const readParams = reader(endpoint.params)
  const readQuery = reader(endpoint.query)
  const readBody = bodyReader(endpoint.body)
  const mark = tenantMark(endpoint.answer)
  app.route({
    ...routeOf(endpoint),
    handler: async (request, reply) => {
      const params = readParams(request.params)
      const query = readQuery(request.query)
      const body = readBody(request.body)
      const { caller } = request
      // The handler may set another status after that.
      if (status !== 200) void reply.code(status)
      const { idempotency } = app
      const key = endpoint.isIdempotent ? idempotencyKeyOf(request.headers) : null
      const operation = `${endpoint.method} ${request.url.split('?', 1)[0]!}`
      const keyed =
        key === null || idempotency === null
          ? null
          : idempotency.call({ tenant: caller!.tenant, operation, key, body })
      const once: Call<P, Q, B>['once'] = async (content, prepare, make) =>
        keyed === null ? make({ id: await prepare(), isDone: false }) : keyed.once(content, prepare, make)
      const meter = request.charged?.meter
      const choice = listChoice(query, columns, request)
      const { fields } = choice
      const answerTo = async (making: Making, place: Partial<ExportPlace> = {}, isExport = false) => {
        const call = {
          ...{ ...making, params, query: { ...query, ...place }, body, caller, request, reply },
          ...{ work: meter ?? UNCOUNTED, once, fields, isExport }
        }
        const made = await (meter === undefined ? handler(call) : countingReads(meter, () => handler(call)))
        if (meter !== undefined) countRows(meter, made, query)
        return made
      }
      const work = async (making: Making): Promise<unknown> => {
        const made = await answerTo(making)
        if (made instanceof JsonBytes || made instanceof Rendering) return made
        return mark(withPickedRows(made, fields), caller?.tenant ?? '')
      }
      if (isExported && asksForExport(request)) {
        const page = async (making: Making, place: ExportPlace): Promise<ExportPage> =>
          (await answerTo(making, place, true)) as unknown as ExportPage
        return sendExport(app, request, reply, { endpoint, choice, page })
      }
      const changing = <T>(change: (making: Making) => Promise<T>): Promise<T> =>
        responseCache.changing(change, {
          checksMs: deadlineMs,
          slicesOf: slicesWithoutTurn(app, request),
          unknown: (cause) => unknownOutcome(endpoint, request, cause)
        })
      if (endpoint.method === 'GET') {
        const form = tableFormOf(choice, columns)
        const rendered = async (making: Making): Promise<unknown> => {
          const made = await work(making)
          if (made instanceof Rendering) return made
          if (form !== null) return tableRendering(made as ListBody, form, request.raw.url!, making.slices)
          if (!hasLongList(made)) return made
          const text = await slicedJson(made, making.slices)
          void reply.type(JSON_TYPE)
          return text
        }
        const answer = await whileClientWaits(reply, (left) =>
          inTurn(
            app,
            endpoint,
            reply,
            (slicesOf) => responseCache.within(rendered, { deadlineMs, slicesOf, left }),
            left
          )
        )
        if (columns !== null) void reply.header('vary', 'Origin, Accept')
        if (answer instanceof Rendering) {
          setFields(reply, ['content-type', answer.headers!.mediaType, ...answer.headers!.fields])
          return reply.send(answer.payload)
        }
        return answer instanceof JsonBytes ? reply.type(JSON_TYPE).send(answer.bytes) : reply.send(answer)
      }
      if (keyed === null || idempotency === null) return reply.send(await changing(work))
      const answer = await idempotency.answer(keyed, () =>
        changing(async (making) => (await keyed.answer()) ?? keyed.end(answerOf(await work(making), reply)))
      )
      if (answer.isSecret) void reply.header('cache-control', NO_STORE)
      return reply.code(answer.status).type(JSON_TYPE).send(answer.text)
    }
  })
}

const NO_STORE = 'no-store'
const JSON_TYPE = 'application/json; charset=utf-8'

/** Returns the answer of a handler in its stored form. */
const answerOf = (body: unknown, reply: FastifyReply): StoredAnswer => ({
  status: reply.statusCode,
  isSecret: reply.getHeader('cache-control') === NO_STORE,
  text: JSON.stringify(body)
})

/** Returns the error of a request with an unknown outcome: it names where to check, and whether a repeat is safe. */
function unknownOutcome(
  { method, shownBy, isIdempotent }: Endpoint,
  { headers }: FastifyRequest,
  cause: unknown
): ServiceError {
  const look = shownBy === null ? '' : `; ${shownBy} shows it`
  const hasKey = headers['idempotency-key'] !== undefined
  const repeat =
    method === 'DELETE' || (isIdempotent && hasKey)
      ? `repeating it${hasKey ? ' with the same Idempotency-Key' : ''} is safe`
      : 'check before you repeat it, because it had no Idempotency-Key'
  const detail = `the store has not confirmed it, so it is unknown whether this request took effect${look}; ${repeat}`
  return new ServiceError(ERRORS.OUTCOME_UNKNOWN, detail, { cause })
}

/**
 * Returns a reader of the body; if no body is declared, it accepts and ignores any. An optional field that is null counts
 * as absent, unless null has a meaning of its own.
 */
function bodyReader<B extends z.ZodType>(schema: B): (body: unknown) => z.output<B> {
  if (schema instanceof z.ZodObject) {
    const [read, withoutNulls] = [reader(schema, 'body'), withoutNullFields(schema)]
    return (body) => read(withoutNulls(body))
  }
  if (schema instanceof z.ZodOptional) {
    const readBody = bodyReader(schema.unwrap() as z.ZodType)
    return (body) => (body === undefined ? undefined : readBody(body)) as z.output<B>
  }
  return (body) => schema.parse(schema instanceof z.ZodUndefined ? undefined : body)
}
