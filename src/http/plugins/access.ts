import type { FastifyRequest } from 'fastify'
import plugin from 'fastify-plugin'
import { hashApiKey, isWellFormedApiKey, sameHash } from '../../access/api-key.ts'
import type { Scope } from '../../access/scopes.ts'
import { ServiceError } from '../../errors.ts'
import type { AppDeps } from '../app.ts'

/** Who asks: resolved from the request's key. */
export interface Caller {
  readonly tenant: string
  readonly keyId: string
  readonly scopes: readonly string[]
}

declare module 'fastify' {
  interface FastifyRequest {
    caller: Caller | null
  }
  interface FastifyContextConfig {
    /** What a key needs for this route; `open` needs none. */
    scope?: Scope | 'open' | 'loopback-or-admin'
  }
}

/**
 * Admits requests by API key: `X-API-Key` before `Authorization: Bearer`; two that differ are refused
 * (spec choices, section 10). Every route names its scope; one that names none is closed.
 */
export const access = plugin(
  async (app, { storage }: Pick<AppDeps, 'storage'>) => {
    app.decorateRequest('caller', null)
    app.addHook('onRequest', async (request) => {
      if (request.is404) return
      const { scope } = request.routeOptions.config
      if (scope === undefined) throw new Error(`the route ${request.routeOptions.url} names no scope`)
      if (scope === 'open' || (scope === 'loopback-or-admin' && isLoopback(request.socket.remoteAddress)))
        return
      request.caller = await callerOf(request, storage)
      const needed = scope === 'loopback-or-admin' ? 'admin' : scope
      if (!request.caller.scopes.includes(needed)) {
        throw new ServiceError('SCOPE_MISSING', `this key lacks the scope ${needed}`)
      }
    })
  },
  { name: 'access', dependencies: ['problems'] }
)

async function callerOf(request: FastifyRequest, storage: AppDeps['storage']): Promise<Caller> {
  const key = presentedKey(request)
  if (key === null) {
    throw new ServiceError('KEY_MISSING', 'send an API key in X-API-Key or Authorization: Bearer')
  }
  const hash = hashApiKey(key)
  const row = isWellFormedApiKey(key) || key.length >= 16 ? await storage.keys.byHash(hash) : null
  if (row === null || !sameHash(row.hash, hash))
    throw new ServiceError('KEY_INVALID', 'this API key is not known')
  return { tenant: row.tenant, keyId: row.id, scopes: row.scopes }
}

function presentedKey(request: FastifyRequest): string | null {
  const header = request.headers['x-api-key']
  const bearer = /^Bearer +(\S+)$/i.exec(request.headers.authorization ?? '')?.[1]
  const given = [header, bearer].flat().filter((text) => text !== undefined && text !== '')
  if (new Set(given).size > 1) throw new ServiceError('KEY_INVALID', 'the request carries two different keys')
  return given[0] ?? null
}

function isLoopback(remoteAddress: string | undefined): boolean {
  return /^(::ffff:)?127\.|^::1$/.test(remoteAddress ?? '')
}
