import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import { ERRORS, ServiceError, type ErrorCode } from '../../kernel/errors.ts'
import { problemBody, problemIndex, problemNamed, problemPage } from '../../kernel/http/problem-page.ts'

const POLICY =
  "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

/** Serves the page at the `type` of a problem, as HTML for people and as JSON for programs. */
export const problemRoutes: FastifyPluginAsync = async (app) => {
  const config = { scope: 'open', answersWhileDraining: true } as const

  app.get('/problems', { config }, async (request, reply) =>
    wantsHtml(request)
      ? sendHtml(reply, problemIndex())
      : { data: (Object.keys(ERRORS) as ErrorCode[]).map(problemBody) }
  )

  app.get<{ Params: { name: string } }>('/problems/:name', { config }, async (request, reply) => {
    const error = problemNamed(request.params.name)
    if (error === undefined) throw new ServiceError('ROUTE_NOT_FOUND', 'there is no such problem')
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
