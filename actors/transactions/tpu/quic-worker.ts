import { randomFillSync } from 'node:crypto'
import { parentPort, workerData } from 'node:worker_threads'
import type { QUICClient } from '@matrixai/quic'
import type { TlsIdentity } from '../../../src/transactions/tpu/certificate.ts'
import type { QuicFault } from '../../../src/transactions/tpu/quic.ts'
import type { QuicReport, QuicRequest } from './quic-messages.ts'

/**
 * The thread that has the QUIC library. Some of the library's errors cannot be caught and would end the whole service. In a
 * thread of its own they end only that thread, and `quic-thread.ts` notices its end.
 */

/** The protocol by which Solana's leaders take transactions (agave, ALPN_TPU_PROTOCOL_ID). */
const PROTOCOL = 'solana-tpu'
/** Milliseconds after which a silent connection ends. Agave has 60 s; here one that leads nowhere is to end earlier. */
const IDLE_MS = 30_000
/** Keep-alive interval, in milliseconds: a few may be lost before the connection counts as idle. */
const KEEP_ALIVE_MS = 5_000

/** Names of the library's errors, and their reasons. */
const REASONS: Readonly<Record<string, QuicFault>> = {
  ErrorQUICClientCreateTimeout: 'timeout',
  ErrorQUICConnectionStartTimeout: 'timeout',
  ErrorQUICConnectionIdleTimeout: 'timeout',
  ErrorQUICConnectionPeer: 'refused',
  ErrorQUICConnectionPeerTLS: 'refused',
  ErrorQUICStreamPeerWrite: 'refused',
  ErrorQUICStreamLimit: 'stream_limit',
  ErrorQUICConnectionNotRunning: 'closed',
  ErrorQUICConnectionLocal: 'closed',
  ErrorQUICClientDestroyed: 'closed'
}

/** A logger without output; the library's own prints several lines for each stream. */
const silent = {
  getChild: () => silent,
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined
}

interface Connection {
  readonly abort: AbortController
  client: QUICClient | null
}

const identity = workerData as TlsIdentity
const port = parentPort!
const report = (message: QuicReport): void => port.postMessage(message)
const library = await import('@matrixai/quic').catch((error: unknown) => {
  report({ kind: 'unavailable', detail: detailOf(error) })
  return null
})
const connections = new Map<number, Connection>()

if (library !== null) {
  report({ kind: 'loaded' })
  port.on('message', (request: QuicRequest) => {
    if (request.kind === 'connect') void connect(request)
    else if (request.kind === 'write') void write(request)
    else void close(request.connection)
  })
}

async function connect({ connection: id, host, port }: QuicRequest & { kind: 'connect' }): Promise<void> {
  const { QUICClient, events } = library!
  const connection: Connection = { abort: new AbortController(), client: null }
  connections.set(id, connection)
  let failure: unknown
  try {
    const client = await QUICClient.createQUICClient(
      {
        host,
        port,
        localHost: host.includes(':') ? '::' : '0.0.0.0',
        crypto: {
          ops: { randomBytes: (data) => Promise.resolve(void randomFillSync(new Uint8Array(data))) }
        },
        config: {
          cert: identity.certificate,
          key: identity.key,
          applicationProtos: [PROTOCOL],
          // Leaders sign their certificates themselves, and a relay in front of one has another key.
          verifyPeer: false,
          maxIdleTimeout: IDLE_MS,
          keepAliveIntervalTime: KEEP_ALIVE_MS
        },
        logger: silent as never
      },
      { signal: connection.abort.signal }
    )
    connection.client = client
    client.addEventListener(events.EventQUICClientError.name, (event: { detail?: unknown }) => {
      failure ??= event.detail
    })
    if (connection.abort.signal.aborted) await end(client)
    else {
      report({ kind: 'opened', connection: id })
      await client.closedP
    }
  } catch (error) {
    failure ??= error
  }
  connections.delete(id)
  report({ kind: 'closed', connection: id, reason: reasonOf(failure), detail: detailOf(failure) })
}

async function write({ connection: id, write, bytes }: QuicRequest & { kind: 'write' }): Promise<void> {
  const client = connections.get(id)?.client ?? null
  if (client === null)
    return report({ kind: 'unwritten', write, reason: 'closed', detail: 'there is no connection' })
  try {
    const writer = client.connection.newStream('uni').writable.getWriter()
    // A failed write makes this reject too, and nothing else awaits it.
    writer.closed.catch(() => undefined)
    await writer.write(bytes)
    await writer.close()
    report({ kind: 'written', write })
  } catch (error) {
    report({ kind: 'unwritten', write, reason: reasonOf(error), detail: detailOf(error) })
  }
}

async function close(id: number): Promise<void> {
  const connection = connections.get(id)
  connection?.abort.abort(new Error('closed'))
  if (connection?.client != null) await end(connection.client)
}

async function end(client: QUICClient): Promise<void> {
  await client.destroy({ force: true }).catch(() => undefined)
}

function reasonOf(error: unknown): QuicFault {
  return (error instanceof Error ? REASONS[error.name] : undefined) ?? 'failed'
}

function detailOf(error: unknown): string {
  return error instanceof Error ? `${error.name}: ${error.message}` : 'no reason'
}
