import { setTimeout as sleep } from 'node:timers/promises'
import { slotOf, until } from './asking.ts'
import { ADMIN_KEY, type ServiceProcess } from './service-process.ts'
import { TENANT, type WebhookReceiver } from './webhook-receiver.ts'

/** Channels with most of the localnet's events. */
export const CHANNELS = [
  'launches',
  'curves',
  'venue:pumpfun',
  'venue:pumpswap',
  'venue:raydium-cpmm',
  'venue:orca-whirlpool'
]

/** Calls the API as JSON; retries while the service waits for blocks or for its store. */
async function call(
  service: ServiceProcess,
  key: string,
  path: string,
  body: object
): Promise<Record<string, unknown>> {
  return until(async () => {
    const answer = await fetch(service.url + path, {
      method: 'POST',
      headers: { 'x-api-key': key, 'content-type': 'application/json' },
      body: JSON.stringify(body)
    })
    const text = await answer.text()
    if (answer.status === 503) return null
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${text}`)
    return JSON.parse(text) as Record<string, unknown>
  }, path)
}

/** Makes a key for webhooks of a tenant. */
export async function webhookKey(service: ServiceProcess): Promise<string> {
  const body = { tenant: TENANT, scopes: ['webhooks'], rate_limit_per_minute: 100_000 }
  return String((await call(service, ADMIN_KEY, '/v1/admin/keys', body))['key'])
}

/** The first slot at which the chain has earlier events. */
const HAS_PAST = 30

/**
 * Creates the webhook of a receiver, with deliveries from the first event of the store on. Before that request they begin at
 * the head of one of the processes; the receiver leaves such a batch unanswered. Returns the id.
 */
export async function addWebhook(
  services: readonly [ServiceProcess, ...ServiceProcess[]],
  key: string,
  receiver: WebhookReceiver
): Promise<number> {
  const [service] = services
  const lowest = async (): Promise<number> => Math.min(...(await Promise.all(services.map(slotOf))))
  await until(async () => (await lowest()) >= HAS_PAST, 'a past')
  receiver.beginsBefore = await lowest()
  const made = await call(service, key, '/v1/webhooks', { url: receiver.url, channels: CHANNELS })
  receiver.secret = String(made['secret'])
  await call(service, key, `/v1/webhooks/${String(made['id'])}/enable`, { since: 0 })
  return Number(made['id'])
}

/** Resolves when some processes of an idle chain have no undelivered events for a number of webhooks. */
export async function allDelivered(services: readonly ServiceProcess[], webhooks: number): Promise<void> {
  let before = ''
  await until(async () => {
    const gauges = await Promise.all(services.map(deliveryGauges))
    const sum = (name: string): number => gauges.reduce((total, each) => total + (each[name] ?? 0), 0)
    const slots = await Promise.all(services.map(slotOf))
    const isIdle = sum('idle') === webhooks && sum('behind') === 0 && sum('buffered_events') === 0
    const now = `${slots.join()} ${isIdle}`
    const isSame = now === before
    before = now
    return isIdle && isSame
  }, 'everything is delivered')
}

interface TreeUnit {
  readonly name: string
  readonly gauges?: Readonly<Record<string, number>>
  readonly children?: readonly TreeUnit[]
}

/** Returns the gauges of the unit that delivers; none while it is not there. */
async function deliveryGauges(service: ServiceProcess): Promise<Readonly<Record<string, number>>> {
  // Slow enough for the quota of the key.
  await sleep(400)
  const { body } = await service.get('/v1/admin/tree')
  const children = (body.children ?? []) as unknown as readonly TreeUnit[]
  const deliveries = children.find(({ name }) => name === 'deliveries')
  return deliveries?.children?.find(({ name }) => name === 'webhooks')?.gauges ?? {}
}

/** Returns the number of shards that a process delivers for. */
export async function shardsOf(service: ServiceProcess): Promise<number> {
  return (await deliveryGauges(service))['shards'] ?? 0
}
