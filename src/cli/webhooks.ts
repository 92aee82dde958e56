import { readCursor } from '../market/cursor.ts'
import { BadUsage, type Invocation } from './command.ts'
import {
  carryOut,
  printOne,
  wholeNumber,
  type Printed,
  type Row,
  type ServiceOptions
} from './service-command.ts'
import { tableOf } from './table.ts'

const COLUMNS = [
  'id',
  'url',
  'channels',
  'active',
  'consecutive_failures',
  'last_status',
  'last_error',
  'buffered',
  'dropped_total'
] as const
const ATTEMPT_COLUMNS = [
  'started_at',
  'batch_id',
  'attempt',
  'events',
  'dropped',
  'status_code',
  'error',
  'duration_ms',
  'next_retry_at'
] as const
/** Attempts shown by default. Arbitrary; they fit on one screen. */
const ATTEMPTS_SHOWN = 20
/** Timeout of a test event in milliseconds: the receiver has 10 s, and the POST may wait for others. */
const TEST_MS = 30_000
/** Channels of a webhook that a table shows; a webhook can have 50. */
const CHANNELS_SHOWN = 2

/** Lists the webhooks of the key's tenant. */
export function listWebhooks(invocation: Invocation<ServiceOptions>): Promise<number> {
  return carryOut('webhooks', invocation, { method: 'GET', path: '/v1/webhooks' }, (body) =>
    printList(body, COLUMNS)
  )
}

/** Creates a webhook. */
export function createWebhook(invocation: Invocation<ServiceOptions>): Promise<number> {
  const [url, ...channels] = invocation.operands
  return carryOut(
    'webhooks',
    invocation,
    { method: 'POST', path: '/v1/webhooks', body: { url, channels } },
    printOne
  )
}

/** Shows a webhook. */
export function getWebhook(invocation: Invocation<ServiceOptions>): Promise<number> {
  return carryOut('webhooks', invocation, { method: 'GET', path: pathOf(invocation) }, printOne)
}

/** Sends a test event. Resolves with 1 if it was not delivered. */
export function testWebhook(invocation: Invocation<ServiceOptions>): Promise<number> {
  return carryOut(
    'webhooks',
    invocation,
    { method: 'POST', path: `${pathOf(invocation)}/test`, answerMs: TEST_MS },
    (body) => ({ ...printOne(body), code: body.delivered === true ? 0 : 1 })
  )
}

interface EnableOptions extends ServiceOptions {
  readonly since?: string | undefined
}

/** Enables a webhook; warnings about the cursor go to standard error. */
export async function enableWebhook(invocation: Invocation<EnableOptions>): Promise<number> {
  const { since } = invocation.options
  if (since !== undefined && readCursor(since) === null)
    throw new BadUsage(`${since} is not a cursor: use the decimal cursor of an event`)
  const body = since === undefined ? {} : { since }
  return carryOut(
    'webhooks',
    invocation,
    { method: 'POST', path: `${pathOf(invocation)}/enable`, body },
    printOne
  )
}

interface RotateOptions extends ServiceOptions {
  readonly grace?: string | undefined
}

/** Replaces the secret of a webhook. */
export async function rotateSecret(invocation: Invocation<RotateOptions>): Promise<number> {
  const { grace } = invocation.options
  const body = grace === undefined ? {} : { grace_seconds: wholeNumber('--grace', grace) }
  return carryOut(
    'webhooks',
    invocation,
    { method: 'POST', path: `${pathOf(invocation)}/rotate-secret`, body },
    printOne
  )
}

interface DeliveriesOptions extends ServiceOptions {
  readonly limit?: string | undefined
}

/** Lists the newest attempts of a webhook. */
export async function listDeliveries(invocation: Invocation<DeliveriesOptions>): Promise<number> {
  const limit = wholeNumber('--limit', invocation.options.limit ?? String(ATTEMPTS_SHOWN))
  return carryOut(
    'webhooks',
    invocation,
    { method: 'GET', path: `${pathOf(invocation)}/deliveries?limit=${limit}` },
    (body) => printList(body, ATTEMPT_COLUMNS)
  )
}

/** Deletes a webhook. */
export function deleteWebhook(invocation: Invocation<ServiceOptions>): Promise<number> {
  return carryOut('webhooks', invocation, { method: 'DELETE', path: pathOf(invocation) }, printOne)
}

function printList(body: Row, columns: readonly string[]): Printed {
  const rows = (body.data ?? []) as readonly Row[]
  const brief = rows.map((row) => ({
    ...row,
    ...(Array.isArray(row.channels) && { channels: briefly(row.channels) })
  }))
  return { rows, table: tableOf(columns, brief) }
}

function briefly(channels: readonly unknown[]): string {
  const more = channels.length - CHANNELS_SHOWN
  return [...channels.slice(0, CHANNELS_SHOWN), ...(more > 0 ? [`${more} more`] : [])].join(', ')
}

/** Returns the path of the webhook in the operands. */
function pathOf({ operands: [id = ''] }: Invocation): string {
  return `/v1/webhooks/${encodeURIComponent(id)}`
}
