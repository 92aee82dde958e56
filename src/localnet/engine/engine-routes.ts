import type { FastifyInstance } from 'fastify'
import { decodeBase58, encodeBase58 } from '../../chain/base58.ts'
import { bundleIdOf } from '../../signing/bundle-id.ts'
import { readWire } from '../../chain/wire.ts'
import { SendFailure } from '../chain.ts'
import { answer, type Run } from '../node/json-rpc.ts'
import { isMap } from '../node/params.ts'
import { internalError, invalidParams, methodNotFound, RpcError } from '../node/rpc-error.ts'
import { BundleRefusal, type LocalEngine } from './local-engine.ts'
import { TIP_ACCOUNTS } from './tip-accounts.ts'

/** Maximum bundle ids of one call, as at the real engine. */
const IDS_MAX = 5

/**
 * Adds the JSON interface of the block engine at its usual paths. An error other than a refusal is a bug: it is passed to
 * `onFault`.
 */
export function engineRoutes(
  app: FastifyInstance,
  engine: LocalEngine,
  onFault: (error: unknown) => void
): void {
  const run =
    (methods: Readonly<Record<string, (params: readonly unknown[]) => unknown>>): Run =>
    (name, params) => {
      const method = Object.hasOwn(methods, name) ? methods[name] : undefined
      if (method === undefined) throw methodNotFound()
      if (params !== undefined && !Array.isArray(params)) throw invalidParams('params must be an array')
      try {
        return JSON.stringify(method(params ?? []))
      } catch (error) {
        throw refusalOf(error, onFault)
      }
    }
  const bundles = run({
    sendBundle: ([wires, options]) => engine.sendBundle(list(wires).map((text) => bytesOf(text, options))),
    getTipAccounts: () => TIP_ACCOUNTS,
    getInflightBundleStatuses: ([ids]) => ({
      context: { slot: engine.slot },
      value: engine.inflight(idsOf(ids))
    }),
    getBundleStatuses: ([ids]) => ({ context: { slot: engine.slot }, value: engine.statuses(idsOf(ids)) })
  })
  app.post('/api/v1/bundles', async (request, reply) => {
    const text = typeof request.body === 'string' ? answer(request.body, bundles) : null
    return reply.type('application/json').send(text ?? '')
  })
  app.post<{ Querystring: { bundleOnly?: string } }>('/api/v1/transactions', async (request, reply) => {
    const isBundle = request.query.bundleOnly === 'true'
    const transactions = run({
      sendTransaction: ([text, options]) => {
        const bytes = bytesOf(text, options)
        const read = readWire(bytes)
        if (read.kind === 'unreadable') throw new BundleRefusal(`transaction cannot be read: ${read.reason}`)
        const signature = encodeBase58(read.wire.signatures[0]!)
        if (!isBundle) return engine.sendTransaction(bytes)
        engine.sendBundle([bytes])
        void reply.header('x-bundle-id', bundleIdOf([signature]))
        return signature
      }
    })
    const text = typeof request.body === 'string' ? answer(request.body, transactions) : null
    return reply.type('application/json').send(text ?? '')
  })
  app.get('/api/v1/bundles/tip_floor', async () => [engine.tipFloor()])
}

function refusalOf(error: unknown, onFault: (error: unknown) => void): RpcError {
  if (error instanceof RpcError) return error
  if (error instanceof BundleRefusal) return invalidParams(error.message)
  if (error instanceof SendFailure) {
    return error.problem.kind === 'full'
      ? internalError('the queue is full')
      : invalidParams(`transaction is invalid: ${error.problem.kind}`)
  }
  onFault(error)
  return internalError()
}

function list(value: unknown): readonly unknown[] {
  if (!Array.isArray(value)) throw invalidParams('the first parameter must be an array')
  return value
}

function idsOf(value: unknown): readonly string[] {
  const ids = list(value)
  if (ids.length === 0 || ids.length > IDS_MAX || !ids.every((id) => typeof id === 'string'))
    throw invalidParams(`1 to ${IDS_MAX} bundle ids can be requested at once`)
  return ids
}

/** Decodes a transaction: from base58 unless the options state base64, like the real engine. */
function bytesOf(text: unknown, options: unknown): Uint8Array {
  if (typeof text !== 'string') throw invalidParams('a transaction must be text')
  const encoding = isMap(options) ? (options.encoding ?? 'base58') : 'base58'
  if (encoding === 'base64') return new Uint8Array(Buffer.from(text, 'base64'))
  if (encoding !== 'base58') throw invalidParams('encoding must be base58 or base64')
  try {
    return decodeBase58(text)
  } catch {
    throw invalidParams('a transaction is not base58')
  }
}
