import { readCursor } from '../market/cursor.ts'
import { BadUsage, type Invocation } from './command.ts'
import { askService, Unreachable, type Order, type Outcome } from './service-client.ts'
import { tableOf } from './table.ts'
import { urlHost } from './url-host.ts'

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
/** Attempts that are shown by default. Arbitrary; one screen has them. */
const ATTEMPTS_SHOWN = 20
/** Milliseconds for a test event: the receiver has 10 s, and the POST may wait for others. */
const TEST_MS = 30_000
/** Channels that a table shows of a webhook; it can have 50. */
const CHANNELS_SHOWN = 2

interface ServiceOptions {
  readonly json?: true | undefined
  readonly url?: string | undefined
}
type Row = Outcome['body']

/** Lists the webhooks of the key's tenant. */
export function listWebhooks(invocation: Invocation<ServiceOptions>): Promise<number> {
  return carryOut(invocation, { method: 'GET', path: '/v1/webhooks' }, (body) => printList(body, COLUMNS))
}

/** Creates a webhook. */
export function createWebhook(invocation: Invocation<ServiceOptions>): Promise<number> {
  const [url, ...channels] = invocation.operands
  return carryOut(invocation, { method: 'POST', path: '/v1/webhooks', body: { url, channels } }, printOne)
}

/** Shows a webhook. */
export function getWebhook(invocation: Invocation<ServiceOptions>): Promise<number> {
  return carryOut(invocation, { method: 'GET', path: pathOf(invocation) }, printOne)
}

/** Sends a test event. Resolves with 1 if it was not delivered. */
export function testWebhook(invocation: Invocation<ServiceOptions>): Promise<number> {
  return carryOut(
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
  return carryOut(invocation, { method: 'POST', path: `${pathOf(invocation)}/enable`, body }, printOne)
}

interface RotateOptions extends ServiceOptions {
  readonly grace?: string | undefined
}

/** Replaces the secret of a webhook. */
export async function rotateSecret(invocation: Invocation<RotateOptions>): Promise<number> {
  const { grace } = invocation.options
  const body = grace === undefined ? {} : { grace_seconds: wholeNumber('--grace', grace) }
  return carryOut(invocation, { method: 'POST', path: `${pathOf(invocation)}/rotate-secret`, body }, printOne)
}

interface DeliveriesOptions extends ServiceOptions {
  readonly limit?: string | undefined
}

/** Lists the newest attempts of a webhook. */
export async function listDeliveries(invocation: Invocation<DeliveriesOptions>): Promise<number> {
  const limit = wholeNumber('--limit', invocation.options.limit ?? String(ATTEMPTS_SHOWN))
  return carryOut(
    invocation,
    { method: 'GET', path: `${pathOf(invocation)}/deliveries?limit=${limit}` },
    (body) => printList(body, ATTEMPT_COLUMNS)
  )
}

/** Deletes a webhook. */
export function deleteWebhook(invocation: Invocation<ServiceOptions>): Promise<number> {
  return carryOut(invocation, { method: 'DELETE', path: pathOf(invocation) }, printOne)
}

/** An answer as it is printed. */
interface Printed {
  /** One JSON object a line. */
  readonly rows: readonly Row[]
  readonly table: readonly string[]
  readonly code?: number
}

/** Sends a request and prints its answer. Resolves with the exit code. */
async function carryOut(
  { config, options, stdout, stderr }: Invocation<ServiceOptions>,
  order: Order,
  print: (body: Row) => Printed
): Promise<number> {
  const { key, host, port } = config
  if (key === null) throw new BadUsage('name an API key with the scope webhooks: --key, or MILLRACE_KEY')
  const url = options.url ?? `http://${urlHost(host)}:${port}`
  if (!/^https?:/.test(url) || !URL.canParse(url)) throw new BadUsage(`${url} is not a URL`)
  const complain = (line: string): void => stderr(`millrace: ${line}`)
  try {
    const { status, body } = await askService(url, key, order)
    if (status >= 300) {
      complain(String(body.detail))
      return status === 400 ? 2 : 1
    }
    const { rows, table, code = 0 } = print(body)
    for (const { message } of warningsOf(body)) complain(message)
    for (const line of options.json === true ? rows.map((row) => JSON.stringify(row)) : table) stdout(line)
    return code
  } catch (error) {
    if (!(error instanceof Unreachable)) throw error
    complain(error.message)
    return 1
  }
}

function printList(body: Row, columns: readonly string[]): Printed {
  const rows = (body.data ?? []) as readonly Row[]
  const brief = rows.map((row) => ({
    ...row,
    ...(Array.isArray(row.channels) && { channels: briefly(row.channels) })
  }))
  return { rows, table: tableOf(columns, brief) }
}

/** Prints an object with a line for each field. */
function printOne(body: Row): Printed {
  const { warnings: _, ...fields } = body
  const lines = Object.entries(fields).map(([field, value]) => ({ field, value }))
  return { rows: [body], table: tableOf(['field', 'value'], lines) }
}

function briefly(channels: readonly unknown[]): string {
  const more = channels.length - CHANNELS_SHOWN
  return [...channels.slice(0, CHANNELS_SHOWN), ...(more > 0 ? [`${more} more`] : [])].join(', ')
}

function warningsOf({ warnings = [] }: Row): readonly { readonly message: string }[] {
  return warnings as readonly { readonly message: string }[]
}

function wholeNumber(flag: string, text: string): number {
  if (!/^\d{1,15}$/.test(text)) throw new BadUsage(`${flag} is not a whole number`)
  return Number(text)
}

/** Returns the path of the webhook in the operands. */
function pathOf({ operands: [id = ''] }: Invocation): string {
  return `/v1/webhooks/${encodeURIComponent(id)}`
}
