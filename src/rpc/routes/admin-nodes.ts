import type { FastifyPluginAsync } from 'fastify'
import { z } from 'zod'
import { listOf } from '../../kernel/http/schema.ts'
import { ServiceError } from '../../kernel/errors.ts'
import { cordonOf, Cordons } from '../cordons.ts'
import { absentNodeBody, changedNodeAnswer, nodeAnswer, nodeBody } from '../node-bodies.ts'
import type { NodeId } from '../node-ids.ts'
import type { AppDeps } from '../../kernel/http/deps.ts'
import { endpoint } from '../../kernel/http/endpoint.ts'
import { EXAMPLE_NODE } from '../../edge/routes/example-values.ts'
import { serve } from '../../kernel/http/serve.ts'

const params = z.object({ id: z.string().max(300).describe('The `id` of the node in `GET /v1/admin/nodes`') })
const examples = [{ name: 'a node', params: { id: EXAMPLE_NODE } }]

export const listNodes = endpoint({
  path: '/v1/admin/nodes',
  tag: 'Administration',
  summary: 'List the nodes behind the RPC URL',
  description:
    'The state, budget and recent requests of each node and archive, as the process that answers sees them. Requests are those of the RPC URL; ingest, the account mirror and `/v1/tx` use the nodes by connections of their own.',
  scope: 'admin',
  answer: listOf(nodeAnswer),
  answersWhileDraining: true,
  examples: [{ name: 'all nodes' }]
})

/** The declaration that both changes of a node share. */
const change = {
  method: 'POST',
  tag: 'Administration',
  scope: 'admin',
  params,
  answer: changedNodeAnswer,
  isIdempotent: true,
  shownBy: 'GET /v1/admin/nodes',
  errors: ['NODE_NOT_FOUND'],
  examples
} as const

export const cordonNode = endpoint({
  path: '/v1/admin/nodes/{id}/cordon',
  summary: 'Cordon a node',
  description:
    'Takes a node out of use for the RPC URL: it gets no requests, and its subscriptions go to other nodes. It is still probed. The cordon is stored: it holds after restarts, and in all other processes within two seconds. If no usable node is left, `warnings` says so.',
  ...change
})

export const freeNode = endpoint({
  path: '/v1/admin/nodes/{id}/free',
  summary: 'Free a cordoned node',
  description:
    'Returns a cordoned node to use: in this process at once, in all others within two seconds. A node that is not cordoned stays as it is.',
  ...change
})

/** Serves the endpoints of the nodes behind the RPC URL. */
export const adminNodeRoutes: FastifyPluginAsync<Pick<AppDeps, 'storage' | 'clock' | 'rpc'>> = async (
  app,
  { storage, clock, rpc: { nodes } }
) => {
  const cordons = new Cordons(storage.documents)

  const bodies = async () => {
    const statuses = nodes?.statuses() ?? []
    const absent = (await cordons.list()).filter(
      (cordon) => !statuses.some(({ id }) => cordonOf([cordon], id) !== undefined)
    )
    return { present: statuses.map(nodeBody), absent: absent.map(absentNodeBody) }
  }

  /** Returns the names of a node that this process has, or that is cordoned. Rejects with NODE_NOT_FOUND. */
  const find = async (id: string): Promise<NodeId> => {
    const known =
      nodes?.statuses().find((each) => each.id.id === id)?.id ??
      (await cordons.list()).find((cordon) => cordon.id === id)
    if (known === undefined) throw new ServiceError('NODE_NOT_FOUND', `there is no node ${id}`)
    return { id: known.id, digest: known.digest }
  }

  const changed = async (id: string, isCordoned: boolean) => {
    await nodes?.followCordons()
    const { present, absent } = await bodies()
    const body = [...present, ...absent].find((each) => each.id === id)
    // A freed node that this process does not have is no longer in any list.
    const shown = body ?? { ...absentNodeBody({ id, digest: '', cordonedAtMs: 0 }), cordoned_at: null }
    const isLast = isCordoned && present.length > 0 && !present.some((each) => each.is_usable)
    const warning = {
      code: 'no_node_left' as const,
      message:
        'no usable node is left: requests that need one get -32603 until a node is freed (POST /v1/admin/nodes/{id}/free, millrace nodes free ID) or another one is up'
    }
    return { ...shown, warnings: isLast ? [warning] : [] }
  }

  serve(app, listNodes, async ({ caller }) => {
    const { present, absent } = await bodies()
    return { tenant: caller?.tenant ?? '', data: [...present, ...absent], nextCursor: null }
  })

  serve(app, cordonNode, async ({ params: { id }, once }) => {
    const node = await find(id)
    await once(
      {},
      async () => id,
      () => cordons.add(node, clock.now())
    )
    return changed(id, true)
  })

  serve(app, freeNode, async ({ params: { id }, once }) => {
    const node = await find(id)
    await once(
      {},
      async () => id,
      () => cordons.remove(node)
    )
    return changed(id, false)
  })
}
