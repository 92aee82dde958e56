import type { FastifyPluginAsync } from 'fastify'
import { z } from 'zod'
import { createdWebhookAnswer, deletedWebhookAnswer, webhookAnswer, webhookList } from '../bodies/webhook.ts'
import type { Caller } from '../../access/caller.ts'
import { ERRORS, ServiceError } from '../../kernel/errors.ts'
import { WEBHOOK_ERRORS } from '../errors.ts'
import { channelOf, channelsOf, isFault, permittedChannels, streamChannelOf } from '../../stream/channel.ts'
import { WebhookRegistry } from '../registry.ts'
import { WEBHOOK_CHANNELS_MAX, WEBHOOKS_PER_TENANT_MAX } from '../webhook.ts'
import { tenantOf } from '../../kernel/http/caller-tenant.ts'
import type { WebhookNeeds } from './needs.ts'
import { endpoint } from '../../kernel/http/endpoint.ts'
import { serve } from '../../kernel/http/serve.ts'
import { EXAMPLE_LAUNCH, EXAMPLE_WEBHOOK_ID, EXAMPLE_WEBHOOK_URL } from '../../edge/routes/example-values.ts'
import { invalid } from '../../kernel/http/parameters.ts'
import { createdWebhookBody, webhookBody } from './webhook-bodies.ts'
import { webhookActionRoutes } from './webhook-actions.ts'
import { webhookParams } from './webhook-parameters.ts'

/** Maximum characters of a URL: the length that browsers and proxies accept everywhere. */
const URL_MAX = 2_048
/** Wrong channels that an answer lists; a body of 64 KiB can have thousands. */
const FAULTS_SHOWN = WEBHOOK_CHANNELS_MAX
/** Deadline in milliseconds to create a webhook: a name server may take several seconds to answer. */
const CREATE_MS = 10_000

export const createWebhook = endpoint({
  method: 'POST',
  path: '/v1/webhooks',
  tag: 'Webhooks',
  summary: 'Create a webhook',
  description:
    'Posts the events of channels to a URL, in signed batches. The secret is shown only in this answer. A tenant has at most 5 webhooks.',
  scope: 'webhooks',
  body: z.object({
    url: z
      .string()
      .min(1, 'must not be empty')
      .max(URL_MAX, `must be at most ${URL_MAX} characters`)
      .describe(
        'An http or https URL without credentials; port 80, 443 or from 1024 up; the host resolves to public addresses only'
      ),
    channels: z
      .array(z.string())
      .min(1, 'must name a channel')
      .describe(`Channels of the stream, at most ${WEBHOOK_CHANNELS_MAX}; a repeated channel counts once`)
  }),
  status: 201,
  answer: createdWebhookAnswer,
  errors: [
    WEBHOOK_ERRORS.CHANNEL_UNKNOWN,
    ERRORS.ADDRESS_INVALID,
    WEBHOOK_ERRORS.WEBHOOK_LIMIT_REACHED,
    WEBHOOK_ERRORS.WEBHOOK_NOT_FOUND,
    WEBHOOK_ERRORS.URL_REFUSED
  ],
  leavesWork: true,
  isIdempotent: true,
  shownBy: 'GET /v1/webhooks',
  deadlineMs: CREATE_MS,
  examples: [
    {
      name: 'all launches and the trades of a token',
      body: { url: EXAMPLE_WEBHOOK_URL, channels: ['launches', `trades:${EXAMPLE_LAUNCH}`] }
    }
  ]
})

export const listWebhooks = endpoint({
  path: '/v1/webhooks',
  tag: 'Webhooks',
  summary: 'List webhooks',
  description: 'Every webhook of the tenant, in order of creation, with the state of its deliveries.',
  scope: 'webhooks',
  answer: webhookList,
  examples: [{ name: 'the webhooks of the key’s tenant' }]
})

export const getWebhook = endpoint({
  path: '/v1/webhooks/{id}',
  tag: 'Webhooks',
  summary: 'Show a webhook',
  scope: 'webhooks',
  params: webhookParams,
  answer: webhookAnswer,
  errors: [WEBHOOK_ERRORS.WEBHOOK_NOT_FOUND],
  examples: [{ name: 'a webhook', params: { id: EXAMPLE_WEBHOOK_ID } }]
})

export const deleteWebhook = endpoint({
  method: 'DELETE',
  path: '/v1/webhooks/{id}',
  tag: 'Webhooks',
  summary: 'Delete a webhook',
  description: 'Ends its deliveries permanently. A batch in flight may still arrive.',
  scope: 'webhooks',
  params: webhookParams,
  answer: deletedWebhookAnswer,
  shownBy: 'GET /v1/webhooks',
  errors: [WEBHOOK_ERRORS.WEBHOOK_NOT_FOUND],
  examples: [{ name: 'a webhook', params: { id: EXAMPLE_WEBHOOK_ID } }]
})

export const webhookRoutes: FastifyPluginAsync<
  Pick<WebhookNeeds, 'webhooks' | 'storage' | 'stream' | 'limits' | 'clock'>
> = async (app, deps) => {
  const { webhooks, storage, clock } = deps
  if (webhooks === null) return
  const registry = new WebhookRegistry({ ...webhooks, documents: storage.documents, clock })

  serve(app, createWebhook, async ({ body, caller, reply, once }) => {
    const tenant = tenantOf(caller)
    const request = { url: body.url, channels: checkedChannels(body.channels, caller) }
    const created = await once(
      request,
      async () => String(await registry.prepare(request.url)),
      ({ id, isDone }) =>
        isDone ? registry.show(tenant, Number(id)) : registry.create({ tenant, id: Number(id) }, request)
    )
    void reply.header('cache-control', 'no-store')
    return createdWebhookBody(created)
  })

  serve(app, listWebhooks, async ({ caller }) => {
    const tenant = tenantOf(caller)
    const listed = await registry.list(tenant)
    const data = listed.map((state) =>
      webhookBody(state, webhooks.deliveries.buffered(tenant, state.webhook.id))
    )
    return { data, nextCursor: null, limits: { max: WEBHOOKS_PER_TENANT_MAX } }
  })

  serve(app, getWebhook, async ({ params: { id }, caller }) => {
    const tenant = tenantOf(caller)
    return webhookBody(await registry.get(tenant, id), webhooks.deliveries.buffered(tenant, id))
  })

  serve(app, deleteWebhook, async ({ params: { id }, caller }) => {
    await registry.delete(tenantOf(caller), id)
    return { id, deleted: true as const }
  })

  webhookActionRoutes(app, registry, { ...deps, webhooks })
}

/**
 * Returns the named channels, each once. Throws an error that names each wrong one, and SCOPE_MISSING for a channel
 * whose scope the caller's key lacks.
 */
function checkedChannels(names: readonly string[], caller: Caller | null): readonly string[] {
  assertScopes(names, caller?.scopes ?? [])
  const faults = names.flatMap((name, at) => {
    const found = channelOf(name)
    return isFault(found) ? [{ field: `channels.${at}`, ...found }] : []
  })
  const [first] = faults
  if (first !== undefined) {
    const kind = first.code === 'unknown_channel' ? WEBHOOK_ERRORS.CHANNEL_UNKNOWN : ERRORS.ADDRESS_INVALID
    const fields = faults.slice(0, FAULTS_SHOWN).map(({ field, message }) => ({ field, message }))
    throw new ServiceError(kind, `${first.field}: ${first.message}`, fields.length > 1 ? { fields } : {})
  }
  const channels = [...new Set(names)]
  if (channels.length > WEBHOOK_CHANNELS_MAX)
    throw invalid('channels', `must be at most ${WEBHOOK_CHANNELS_MAX} different channels`)
  return channels
}

/** Throws SCOPE_MISSING for the first channel whose scope is not among the given ones. */
function assertScopes(names: readonly string[], scopes: readonly string[]): void {
  const [first] = permittedChannels(channelsOf(names, streamChannelOf).channels, scopes).lacking
  if (first === undefined) return
  const [scope, [name]] = first
  throw new ServiceError(
    ERRORS.SCOPE_MISSING,
    `this key lacks the scope ${scope}, which the channel ${name} needs`
  )
}
