import type { FastifyReply, FastifyRequest } from 'fastify'
import plugin from 'fastify-plugin'
import { ERRORS, ServiceError } from '../../errors.ts'
import { isDeclared } from '../endpoint.ts'
import { RPC_SOCKET_PATH, STREAM_PATH } from '../handshake.ts'
import type { HttpKernel } from '../http-kernel.ts'
import { publicOrigin } from '../host.ts'
import { problemOf, serviceErrorOf } from '../problem.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The error that ended the request, for its log line. */
    failure: ServiceError | null
  }
}

/** Answers every error as problem+json, including routes that are unknown or not served here, and wrong methods. */
export const problems = plugin(
  async (app, { roles = [], products = [] }: Pick<HttpKernel, 'roles' | 'products'> = {}) => {
    const notServed = notServedHere(roles, products)
    const methodsByPath: { readonly path: RegExp; readonly method: string }[] = []
    app.addHook('onRoute', ({ url, method }) => {
      const path = new RegExp(`^${url.replace(/:[^/]+/g, '[^/]+')}$`)
      for (const name of [method].flat()) methodsByPath.push({ path, method: name })
    })
    app.decorateRequest('failure', null)
    app.setErrorHandler((thrown, request, reply) => sendProblem(request, reply, serviceErrorOf(thrown)))
    // If no route matches, the body is not read, and its type does not matter.
    app.addHook('preParsing', (request, reply, _payload, done) => {
      if (request.is404) refuseRoute(request, reply)
      else done()
    })
    app.setNotFoundHandler(refuseRoute)

    function refuseRoute(request: FastifyRequest, reply: FastifyReply): FastifyReply {
      const path = request.url.split('?', 1)[0]!
      const methods = methodsByPath.filter((route) => route.path.test(path)).map(({ method }) => method)
      // A route that other processes have is not unknown: a retry may reach one of them.
      if (isRoute(path, methods.length === 0 ? undefined : request.method)) {
        return sendProblem(request, reply, notServed)
      }
      if (methods.length === 0) {
        return sendProblem(request, reply, new ServiceError(ERRORS.ROUTE_NOT_FOUND, 'no such route'))
      }
      const allow = methods.join(', ')
      void reply.header('allow', allow)
      return sendProblem(
        request,
        reply,
        new ServiceError(ERRORS.METHOD_INVALID, `this route accepts ${allow}`)
      )
    }
  },
  { name: 'problems' }
)

/** Sockets, pages and documents, which are no endpoints. */
const OTHER_PATHS: ReadonlySet<string> = new Set([
  ...[STREAM_PATH, RPC_SOCKET_PATH],
  ...['/', '/docs', '/openapi.json', '/asyncapi.json', '/openrpc.json']
])

/** Tells whether the service has a route at a path, for a method or for any. */
const isRoute = (path: string, method?: string): boolean =>
  isDeclared(path, method) || (method === undefined && OTHER_PATHS.has(path))

/** Created once, since a flood of requests may get it. */
const notServedHere = (roles: readonly string[], products: readonly string[]): ServiceError => {
  const has = [
    ...(roles.length === 0 ? [] : [`its roles: ${roles.join(', ')}`]),
    ...(products.length === 0 ? [] : [`its products: ${products.join(', ')}`])
  ]
  return new ServiceError(
    ERRORS.NOT_SERVED_HERE,
    `this process does not serve this route: it lacks the role, the product or the node that the route needs${has.length === 0 ? '' : ` (${has.join('; ')})`}`
  )
}

/** Answers with an error, on any route. */
export function sendProblem(request: FastifyRequest, reply: FastifyReply, error: ServiceError): FastifyReply {
  request.failure = error
  const { status, retryable } = error.kind
  if (status === 401) void reply.header('www-authenticate', 'Bearer')
  if (retryable && !reply.hasHeader('retry-after')) void reply.header('retry-after', '1')
  // A client may send no host; `type` is then a path.
  const problem = problemOf(error, { id: request.id, origin: publicOrigin(request.headers) })
  return reply.code(status).type('application/problem+json').send(JSON.stringify(problem))
}
