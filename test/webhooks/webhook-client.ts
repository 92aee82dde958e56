import type { Test } from 'tap'
import type { AppNeeds } from '../http/app-of.ts'
import type { KeyAttributes } from '../../src/access/key-row.ts'
import type { WebhookProgress } from '../../src/webhooks/webhook.ts'
import { fakeParts, type FakeParts } from './fake-parts.ts'
import { checkedRequests, type Send } from '../http/checked-requests.ts'
import { marketApp, type MarketApp } from '../http/market-app.ts'

/** 2026-08-24 12:00:00 UTC. */
export const NOON = Date.UTC(2026, 7, 24, 12)
export const URL_OF = 'https://receiver.example.org/hook'
export const MINT = 'So11111111111111111111111111111111111111112'

/** The progress of a webhook's deliveries that a test changes and stores. */
export const PROGRESS: WebhookProgress = {
  activation: 1,
  position: 1,
  hole: null,
  dropped: 0,
  droppedTotal: 4,
  missed: null,
  consecutiveFailures: 20,
  lastSuccessAtMs: null,
  lastFailureAtMs: NOON,
  lastStatus: 500,
  lastError: 'status_500',
  batch: null,
  attempts: []
}

export interface WebhookClient extends MarketApp {
  readonly parts: FakeParts
  /** Sends a request with a key of `acme` and checks the answer against the OpenAPI document. */
  readonly send: Send
  /** Creates a webhook on `launches`. Returns its id. */
  make(url?: string): Promise<number>
  /** Returns a function like `send` with its own key. */
  as(attributes: Partial<KeyAttributes>): Promise<Send>
}

export async function webhookClient(
  t: Test,
  overrides: Partial<Pick<AppNeeds, 'stream'>> = {}
): Promise<WebhookClient> {
  const parts = fakeParts()
  const world = await marketApp(t, undefined, { ...overrides, webhooks: parts })
  world.nowMs = NOON
  const sendWith = await checkedRequests(t, world)
  const send = sendWith(await world.makeKey(['webhooks']))
  const client: WebhookClient = Object.assign(world, {
    parts,
    send,
    async make(url = URL_OF) {
      const { body, status, text } = await send('POST', '/v1/webhooks', { url, channels: ['launches'] })
      if (status !== 201) throw new Error(text)
      return Number(body.id)
    },
    as: async (attributes: Partial<KeyAttributes>) => sendWith(await world.makeKey(['webhooks'], attributes))
  })
  return client
}
