import { createHmac, timingSafeEqual } from 'node:crypto'
import { events, QUICServer, type QUICConnection, type QUICStream } from '@matrixai/quic'
import type { Test } from 'tap'
import type { LeaderAddress } from '../../../../src/transactions/tpu/leader-node.ts'
import { tlsIdentity } from '../../../../src/transactions/tpu/certificate.ts'
import { ephemeralIdentity } from '../../../../src/transactions/tpu/identity.ts'

const silent = {
  getChild: () => silent,
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined
}

const hmac = (key: ArrayBuffer, data: ArrayBuffer): Buffer =>
  createHmac('sha256', Buffer.from(key)).update(Buffer.from(data)).digest()

export interface QuicLeaderOptions {
  readonly protocol?: string
  /** Unidirectional streams of a connection. */
  readonly streamsMax?: number
  /** Bytes of a stream that the leader takes before it reads; 0 lets writes hang. */
  readonly streamBytesMax?: number
  /** Whether streams are read; an unread stream keeps its place among those of the connection. */
  readonly isReading?: boolean
}

/** A leader's QUIC port in this process, and the received transactions. */
export interface QuicLeader {
  readonly address: LeaderAddress
  readonly received: Buffer[]
  readonly streams: QUICStream[]
  /** Certificates of the clients, in DER. */
  readonly certificates: Uint8Array[]
  readonly connections: QUICConnection[]
}

export async function startQuicLeader(
  t: Test,
  {
    protocol = 'solana-tpu',
    streamsMax = 128,
    streamBytesMax = 65_536,
    isReading = true
  }: QuicLeaderOptions = {}
): Promise<QuicLeader> {
  const { certificate, key } = tlsIdentity(ephemeralIdentity().privateKey)
  const received: Buffer[] = []
  const streams: QUICStream[] = []
  const certificates: Uint8Array[] = []
  const connections: QUICConnection[] = []
  const server = new QUICServer({
    crypto: {
      key: new Uint8Array(32).fill(7).buffer,
      ops: {
        sign: (key, data) => Promise.resolve(new Uint8Array(hmac(key, data)).buffer),
        verify: (key, data, signature) =>
          Promise.resolve(timingSafeEqual(hmac(key, data), Buffer.from(signature)))
      }
    },
    config: {
      key,
      cert: certificate,
      verifyPeer: true,
      verifyCallback: () => Promise.resolve(undefined),
      applicationProtos: [protocol],
      initialMaxStreamsUni: streamsMax,
      initialMaxStreamDataUni: streamBytesMax,
      // The library itself reads the first chunk of every stream.
      ...(!isReading && { readableChunkSize: 16 })
    },
    logger: silent as never
  })
  const read = async ({ readable }: QUICStream): Promise<void> => {
    const chunks: Uint8Array[] = []
    for await (const chunk of readable) chunks.push(chunk)
    received.push(Buffer.concat(chunks))
  }
  server.addEventListener(events.EventQUICServerConnection.name, (event: object) => {
    const connection = (event as events.EventQUICServerConnection).detail
    connections.push(connection)
    certificates.push(...connection.getRemoteCertsChain())
    connection.addEventListener(events.EventQUICConnectionStream.name, (event: object) => {
      const stream = (event as events.EventQUICConnectionStream).detail
      streams.push(stream)
      if (isReading) read(stream).catch(() => undefined)
    })
  })
  await server.start({ host: '127.0.0.1', port: 0 })
  t.teardown(() => server.stop({ force: true }))
  return { address: { host: '127.0.0.1', port: server.port }, received, streams, certificates, connections }
}
