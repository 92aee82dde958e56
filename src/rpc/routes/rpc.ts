import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { WEIGHT_SETTINGS } from '../../access/call-weights.ts'
import { ERRORS, ServiceError } from '../../kernel/errors.ts'
import { openRpcOf } from '../openrpc.ts'
import { parseRequest, type ParsedRequest } from '../requests.ts'
import { BODY_BYTES_MAX, HTTP_BATCH_MAX } from '../rpc-error.ts'
import { LONG_BODY_BYTES } from '../../kernel/json-depth.ts'
import type { RpcNeeds } from './needs.ts'
import { endpoint } from '../../kernel/http/endpoint.ts'
import { setFields } from '../../kernel/http/fields.ts'
import { RPC_PATH } from '../../kernel/http/handshake.ts'
import { WorkBudget } from '../../access/work-budget.ts'
import { RPC_WORK } from '../rpc-work.ts'
import { Rendering } from '../../kernel/http/rendering.ts'
import { sendRendering } from '../../kernel/http/respond.ts'
import { RpcExchange, type RpcHttpCall } from './rpc-exchange.ts'
import { sendRpcProblem } from './rpc-problem.ts'
import { RPC_TYPE } from './rpc-reply.ts'

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

type Deps = Pick<
  RpcNeeds,
  'rpc' | 'limits' | 'turns' | 'clock' | 'version' | 'draining' | 'leaving' | 'metrics'
>

/** Serves JSON-RPC, and the document of its methods. */
export const rpcRoutes: FastifyPluginAsync<Deps> = async (app, deps) => {
  const { rpc: parts, limits, turns, version, metrics, draining, leaving = draining } = deps
  const exchangeDeps = { ...deps, budget: new WorkBudget(limits.work, metrics.work) }
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
        done(new ServiceError(ERRORS.MEDIA_TYPE_INVALID, 'the body must not be compressed'))
      else done(null, payload)
    },
    handler: async (request, reply) => {
      const body = Buffer.isBuffer(request.body) ? request.body : NO_BODY
      const parse = (): ParsedRequest => parseRequest(body, HTTP_BATCH_MAX)
      const parsed = body.length < LONG_BODY_BYTES ? parse() : await turns.run(request.caller!.tenant, parse)
      // The exchange writes the response itself, as in front of the framework.
      reply.hijack()
      new RpcExchange(callOf(request, reply, leaving), exchangeDeps).answer(parsed)
    }
  })
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

/** Returns a request as the exchange sees it. The framework's hooks have set fields of its response. */
function callOf(request: FastifyRequest, reply: FastifyReply, leaving: () => boolean): RpcHttpCall {
  return {
    caller: request.caller!,
    requestId: request.id,
    headers: request.headers,
    response: reply.raw,
    writeHead: (status, fields) => {
      setFields(reply, fields)
      if (leaving()) void reply.header('connection', 'close')
      reply.raw.writeHead(status, reply.getHeaders() as Record<string, string>)
    },
    failed: (error) => (request.failure = error),
    sent: () => undefined
  }
}
