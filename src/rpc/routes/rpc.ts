import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { WEIGHT_SETTINGS } from '../../access/call-weights.ts'
import { ServiceError } from '../../kernel/errors.ts'
import type { RpcReply } from '../gateway.ts'
import { openRpcOf } from '../openrpc.ts'
import { costOf, idOf, LONG_BODY_BYTES, parseRequest, type ParsedRequest } from '../requests.ts'
import { BODY_BYTES_MAX, HTTP_BATCH_MAX } from '../rpc-error.ts'
import type { RunPiece } from '../../kernel/work/turns.ts'
import type { AppDeps } from '../../kernel/http/deps.ts'
import { endpoint } from '../../kernel/http/endpoint.ts'
import { setFields } from '../../kernel/http/fields.ts'
import { RPC_PATH } from '../../kernel/http/handshake.ts'
import { WorkBudget } from '../../access/work-budget.ts'
import { isWhole, meteredReply } from '../metered-reply.ts'
import { RPC_WORK, RpcWork } from '../rpc-work.ts'
import type { RateUse } from '../../../storage/cluster/coordination.ts'
import { chargeCall, rateFields } from '../../kernel/http/plugins/limits.ts'
import { Rendering } from '../../kernel/http/rendering.ts'
import { sendRendering, takesGzip } from '../../kernel/http/respond.ts'
import { sendRpcProblem } from './rpc-problem.ts'
import { isTracked, messageOf, RPC_TYPE, sendPieces } from './rpc-reply.ts'

const id = z.union([z.string(), z.number(), z.null()]).describe('Returned byte for byte as it was sent')
const version = z.literal('2.0').describe('The version of JSON-RPC')

const call = z
  .looseObject({
    jsonrpc: version,
    id: id.optional(),
    method: z.string().describe('A method of `/openrpc.json`'),
    params: z.array(z.unknown()).optional().describe('The parameters, in order')
  })
  .meta({ id: 'RpcRequest' })

const answer = z
  .looseObject({
    jsonrpc: version,
    id: id,
    result: z.unknown().optional().describe('As the node returned it'),
    error: z
      .looseObject({
        code: z.int().describe('A code of JSON-RPC 2.0 or of Solana nodes'),
        message: z.string().describe('For people'),
        data: z.unknown().optional().describe('As the node returned it; `retryable` if no node answers')
      })
      .optional()
      .describe('Instead of a result')
  })
  .meta({ id: 'RpcResponse' })

export const rpc = endpoint({
  method: 'POST',
  path: RPC_PATH,
  tag: 'JSON-RPC',
  summary: 'JSON-RPC of a Solana node',
  description: `A drop-in RPC URL: JSON-RPC 2.0, single requests and batches of at most ${HTTP_BATCH_MAX}. \`/openrpc.json\` lists the methods. Each element of a batch counts as one call of the quota, and \`getProgramAccounts\` as \`${WEIGHT_SETTINGS['program-accounts']}\` calls. Methods that read need the scope \`rpc:read\`, others \`rpc:send\`. Errors of this path are JSON-RPC responses. A WebSocket handshake at the same URL opens the subscriptions.`,
  scope: 'any-key',
  work: [...RPC_WORK],
  query: z.object({
    'api-key': z.string().optional().describe('The API key, for clients that cannot set header fields'),
    key: z.string().optional().describe('The API key, under another name')
  }),
  body: z.union([call, z.array(call).min(1).max(HTTP_BATCH_MAX)]),
  answer: z.union([answer, z.array(answer)]),
  otherStatuses: [204, 401, 403, 408, 413, 415, 429, 500, 501, 502, 503],
  examples: [
    {
      name: 'the slot',
      body: { jsonrpc: '2.0', id: 1, method: 'getSlot', params: [{ commitment: 'confirmed' }] }
    },
    {
      name: 'a batch',
      body: [
        { jsonrpc: '2.0', id: 'a', method: 'getHealth' },
        { jsonrpc: '2.0', id: 'b', method: 'getLatestBlockhash' }
      ]
    }
  ]
})

type Deps = Pick<AppDeps, 'rpc' | 'limits' | 'clock' | 'version'> & {
  readonly metrics?: Pick<AppDeps['metrics'], 'work'>
}

/** Serves JSON-RPC, and the document of its methods. */
export const rpcRoutes: FastifyPluginAsync<Deps> = async (
  app,
  { rpc: parts, limits, clock, version, metrics }
) => {
  const budget = new WorkBudget(limits.work, metrics?.work)
  const charge = chargeCall(limits, budget)
  app.served.push({ endpoint: rpc, isCached: false })
  // Bodies stay bytes: ids and params are passed on as they were written.
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_request, body, done) =>
    done(null, body)
  )
  app.route({
    method: 'POST',
    url: rpc.path,
    bodyLimit: BODY_BYTES_MAX,
    config: { scope: rpc.scope, keyInQuery: true, isRpc: true },
    errorHandler: (error, request, reply) => void sendRpcProblem(error, request, reply),
    preParsing: (request, _reply, payload, done) => {
      const coding = request.headers['content-encoding'] ?? 'identity'
      // A compressed body could be far longer than its stated length.
      if (coding !== 'identity')
        done(new ServiceError('MEDIA_TYPE_INVALID', 'the body must not be compressed'))
      else done(null, payload)
    },
    handler: async (request, reply) => {
      const body = Buffer.isBuffer(request.body) ? request.body : NO_BODY
      const parse = (): ParsedRequest => parseRequest(body, HTTP_BATCH_MAX)
      const parsed =
        body.length < LONG_BODY_BYTES ? parse() : await app.turns.run(request.caller!.tenant, parse)
      return answerParsed(parsed, request, reply).catch((error: unknown) => {
        if (error === LEFT) return reply.hijack()
        // The answer is partly sent already.
        if (reply.sent) throw error
        return sendRpcProblem(error, request, reply, idOf(parsed))
      })
    }
  })
  async function answerParsed(
    parsed: ParsedRequest,
    request: FastifyRequest,
    reply: FastifyReply
  ): Promise<FastifyReply> {
    const caller = request.caller!
    const calls = await new Promise<RateUse>((resolve, reject) => {
      const charged = (refusal: Error | undefined, left?: RateUse): void =>
        left === undefined ? reject(refusal!) : resolve(left)
      charge(caller, reply, clock.now(), charged, costOf(parsed, parts.methods, caller.ratePerMinute))
    })
    const left = new AbortController()
    const leave = (): void => left.abort(LEFT)
    reply.raw.once('close', leave)
    const work = new RpcWork(caller, budget, clock)
    try {
      const tracks = isTracked(request.headers)
      const context = { caller, batchMax: HTTP_BATCH_MAX, tracks, signal: left.signal, work }
      const made = await parts.gateway.answer(parsed, context)
      const units = work.charge()
      setFields(reply, rateFields(caller, { calls, work: work.left, units: isWhole(made) ? units : null }))
      const inTurn: RunPiece = (piece) =>
        app.turns.run(caller.tenant, piece, { signal: left.signal, isPatient: true })
      return await sendReply(request, reply, meteredReply(made, work), inTurn)
    } catch (error) {
      // A request that fails is charged for the work until then.
      setFields(reply, rateFields(caller, { calls, units: work.charge(), work: work.left }))
      throw error
    } finally {
      reply.raw.off('close', leave)
    }
  }
  if (!parts.hasNode) return
  const document = new Rendering(JSON.stringify(openRpcOf(parts.methods, version)))
  app.get('/openrpc.json', { config: { scope: 'open', answersWhileDraining: true } }, (request, reply) =>
    sendRendering(
      request,
      reply,
      document,
      { mediaType: RPC_TYPE, cacheControl: 'no-cache', vary: 'Accept-Encoding' },
      () => document.packed ?? document.pack()
    )
  )
}

const NO_BODY = Buffer.alloc(0)
const LEFT = new Error('the client has left')

async function sendReply(
  request: FastifyRequest,
  reply: FastifyReply,
  made: RpcReply,
  inTurn: RunPiece
): Promise<FastifyReply> {
  const message = await messageOf(made, () => takesGzip(request.headers['accept-encoding']))
  const { status, fields, body, packs } = message
  setFields(reply, fields)
  void reply.code(status)
  if (body === null || Buffer.isBuffer(body)) return reply.send(body ?? undefined)
  reply.hijack()
  reply.raw.writeHead(status, reply.getHeaders() as Record<string, string>)
  await sendPieces(reply.raw, body, packs, inTurn)
  return reply
}
