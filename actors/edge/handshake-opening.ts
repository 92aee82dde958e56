import type { FastifyInstance } from 'fastify'
import type { HandshakePort } from '../../src/kernel/config/handshake-port.ts'
import type { Logger } from '../../src/kernel/telemetry/logger.ts'
import { HandshakeListener } from './handshake-listener.ts'
import { Listening } from './listening.ts'

export const HANDSHAKE_PORT_SETTING = 'MILLRACE_RPC_WS_COMPAT_PORT (--rpc-ws-compat-port)'
const PORT_MAX = 65_535

/**
 * Opens the port for handshakes. A port that the operator has set must be free, like that of the service. The port that a
 * localnet takes by itself may be in use: then the service runs without it, and says so.
 */
export class HandshakeOpening {
  readonly #host: string
  readonly #port: HandshakePort
  readonly #how: { readonly backlog: number; readonly reusePort: boolean }
  readonly #logger: Pick<Logger, 'info' | 'warn'>
  readonly #listening = new Listening(HANDSHAKE_PORT_SETTING)

  constructor({
    host,
    handshakePort,
    backlog,
    isPortShared,
    logger
  }: {
    readonly host: string
    readonly handshakePort: HandshakePort
    /** Pending TCP connections. */
    readonly backlog: number
    /** Whether other processes listen on the same port. */
    readonly isPortShared: boolean
    readonly logger: Pick<Logger, 'info' | 'warn'>
  }) {
    this.#host = host
    this.#port = handshakePort
    this.#how = { backlog, reusePort: isPortShared }
    this.#logger = logger
  }

  /** Opens the port for an app that listens on `servicePort`; null if the settings name no such port. */
  async open(
    app: FastifyInstance,
    servicePort: number,
    hasRpcSocket: boolean
  ): Promise<HandshakeListener | null> {
    const [host, how] = [this.#host, this.#how]
    if (!hasRpcSocket) {
      if (typeof this.#port === 'number')
        this.#logger.warn(`${HANDSHAKE_PORT_SETTING} has no effect: this process has no node for the RPC URL`)
      return null
    }
    if (this.#port === null) return null
    if (typeof this.#port === 'number') {
      const port = this.#port
      return this.#listening.at(host, port, () => HandshakeListener.open(app, port, how))
    }
    const port = servicePort + 1
    const url = `${app.listeningOrigin}/v1/rpc`
    try {
      if (port > PORT_MAX) throw Object.assign(new RangeError(), { code: 'no such port' })
      const listener = await HandshakeListener.open(app, port, how)
      this.#logger.info(
        `WebSocket handshakes of clients that derive their URL from ${url} are accepted on port ${port}`
      )
      return listener
    } catch (err) {
      const { code } = err as NodeJS.ErrnoException
      this.#logger.warn(
        `cannot listen on ${host}:${port} (${code}): clients that derive their WebSocket from ${url}, such as web3.js, connect to that port. Free it and restart, give clients ${url.replace('http', 'ws')} as their WebSocket URL, or set ${HANDSHAKE_PORT_SETTING} to off`
      )
      return null
    }
  }
}
