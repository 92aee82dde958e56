import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import { ERRORS, ServiceError } from '../../kernel/errors.ts'
import type { EdgeNeeds } from './needs.ts'
import { problemPath } from '../../kernel/http/problem.ts'
import { problemBody, problemIndex, problemPage, problemsByPath } from '../../kernel/http/problem-page.ts'

const POLICY =
  "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

/** Serves the page at the `type` of a problem, as HTML for people and as JSON for programs. */
export const problemRoutes: FastifyPluginAsync<Pick<EdgeNeeds, 'errors'>> = async (app, { errors }) => {
  const config = { scope: 'open', answersWhileDraining: true } as const
  const byPath = problemsByPath(errors)

  app.get('/problems', { config }, async (request, reply) =>
    wantsHtml(request) ? sendHtml(reply, problemIndex(errors)) : { data: errors.map(problemBody) }
  )

  app.get<{ Params: { name: string } }>('/problems/:name', { config }, async (request, reply) => {
    // A code in a body, or in the path of its page, in any letter case.
    const error = byPath.get(problemPath(request.params.name.toLowerCase()))
    if (error === undefined) throw new ServiceError(ERRORS.ROUTE_NOT_FOUND, 'there is no such problem')
    void reply.header('vary', 'Accept')
    return wantsHtml(request) ? sendHtml(reply, problemPage(error)) : problemBody(error)
  })
}

function wantsHtml({ headers }: FastifyRequest): boolean {
  return headers.accept?.includes('text/html') === true
}

function sendHtml(reply: FastifyReply, text: string): FastifyReply {
  return reply.header('content-security-policy', POLICY).type('text/html; charset=utf-8').send(text)
}
