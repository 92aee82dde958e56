import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { verify, WebhookVerificationError, type WebhookBatch } from '../../client/webhooks.ts'
import { SERVICE_SETTINGS } from '../../edge/settings.ts'
import { BadUsage, type Invocation } from '../../kernel/cli/command.ts'
import { deliveryLines } from './delivery-lines.ts'
import { urlHost } from '../../kernel/cli/url-host.ts'

interface ListenOptions {
  readonly port?: string | undefined
  readonly host?: string | undefined
  readonly secret?: string | undefined
  readonly json?: true | undefined
}

/** Maximum bytes of a batch, which has at most 64 events, each of a few kilobytes. */
const BODY_BYTES_MAX = 4 * 2 ** 20
/** Batches whose repetition is detected. Arbitrary; a repeat follows within a minute. */
const REMEMBERED_MAX = 1_000

/**
 * Receives deliveries of a webhook, verifies them, and prints their events, one line each. Answers 204 to a verified
 * delivery and 400 to any other. Dropped events, repeated batches and refused deliveries go to standard error.
 * Resolves with 0 when interrupted, with 1 if the port is not available.
 */
export async function listen(invocation: Invocation<ListenOptions>): Promise<number> {
  const { options, stdout, stderr, interrupted } = invocation
  const { port, host, secret } = understood(invocation)
  const complain = (line: string): void => stderr(`millrace: ${line}`)
  const seen = new Set<string>()
  const print = (batch: WebhookBatch): void => {
    if (seen.has(batch.batch_id)) return complain(`batch ${batch.batch_id} was redelivered`)
    seen.add(batch.batch_id)
    for (const oldest of seen) if (seen.size > REMEMBERED_MAX) seen.delete(oldest)
    if (batch.dropped !== undefined) complain(`${batch.dropped} events were dropped before this batch`)
    for (const line of deliveryLines(batch, options.json === true)) stdout(line)
  }
  const receive = async (request: IncomingMessage): Promise<[status: number, text?: string]> => {
    if (request.method !== 'POST') return [405, 'send a POST']
    const body = await bodyOf(request)
    if (body === null) return [413, 'the body is too large']
    try {
      print(await verify(request.headers, body, secret))
      return [204]
    } catch (error) {
      if (!(error instanceof WebhookVerificationError)) throw error
      complain(`refused a delivery: ${error.message} (${error.code})`)
      return [400, error.code]
    }
  }
  const server = createServer((request, response) => {
    receive(request).then(
      ([status, text]) => response.writeHead(status).end(text),
      (error: Error) => {
        complain(`a delivery failed: ${error.message}`)
        response.destroy()
      }
    )
  })
  const failure = await new Promise<Error | null>((resolve) => {
    server.once('error', resolve).listen(port, host, () => resolve(null))
  })
  if (failure !== null) {
    complain(`cannot listen on port ${port} of ${host}: ${failure.message}`)
    return 1
  }
  complain(`listening on http://${urlHost(host)}:${(server.address() as AddressInfo).port}/`)
  if (!interrupted.aborted) await once(interrupted, 'abort')
  server.close()
  server.closeAllConnections()
  return 0
}

/** Returns the address and the secret of the arguments. Throws BadUsage. */
function understood({ config, options }: Invocation<ListenOptions>) {
  const secret = options.secret ?? config.webhookSecret
  if (secret === null) throw new BadUsage("set the webhook's secret: MILLRACE_WEBHOOK_SECRET, or --secret")
  if (options.port === undefined) throw new BadUsage('set the port: --port')
  // The settings with these names belong to the service.
  const port = SERVICE_SETTINGS.port.schema.safeParse(options.port)
  if (!port.success)
    throw new BadUsage(`--port=${JSON.stringify(options.port)} ${port.error.issues[0]!.message}`)
  return { port: port.data, host: options.host ?? '127.0.0.1', secret }
}

/** Returns the bytes of a body; null if it is too large. */
async function bodyOf(request: IncomingMessage): Promise<Uint8Array | null> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of request as AsyncIterable<Uint8Array>) {
    bytes += chunk.length
    if (bytes > BODY_BYTES_MAX) return null
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}
