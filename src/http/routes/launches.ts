import type { FastifyPluginAsync } from 'fastify'
import { z } from 'zod'
import { launchBody } from '../../bodies/launch.ts'
import type { AppDeps } from '../app.ts'
import { readPageCursor, writePageCursor } from '../page-cursor.ts'
import { checkPaging, oneOf, paging, read } from '../parameters.ts'

const query = z.object({ ...paging(500, 50), status: oneOf(['created', 'trading', 'graduated']).optional() })

export const launchRoutes: FastifyPluginAsync<Pick<AppDeps, 'storage'>> = async (app, { storage }) => {
  app.get('/v1/launches', { config: { scope: 'data:read' } }, async (request) => {
    const { limit, offset, order, after, status } = read(query, request.query)
    checkPaging({ limit, offset, after })
    const list = `launches:${status ?? ''}:${order}`
    const rows = await storage.launches.page({
      ...(status === undefined ? {} : { status }),
      ...(after === undefined ? {} : { from: readPageCursor(list, after) }),
      order,
      offset,
      limit: limit + 1
    })
    const page = rows.slice(0, limit)
    const last = page.at(-1)
    return {
      tenant: request.caller!.tenant,
      data: page.map(launchBody),
      nextCursor: rows.length > limit && last !== undefined ? writePageCursor(list, last.cursor) : null
    }
  })
}
