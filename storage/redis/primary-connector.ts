import { Socket, connect } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { AbstractConnector, type RedisOptions } from 'ioredis'
import type { TlsOptions } from '../tls-options.ts'
import type { LocatePrimary } from './locate-primary.ts'
import { FAREWELL_MS } from './times.ts'

/**
 * Returns the connector of a primary that changes: each connection begins by locating it. The driver's own connector for
 * Sentinels either retries inside of one connection, so that an outage has no end, or gives up for good.
 */
export function primaryConnector(
  locate: LocatePrimary,
  tls: TlsOptions | null
): NonNullable<RedisOptions['Connector']> {
  return class PrimaryConnector extends AbstractConnector {
    constructor() {
      super(FAREWELL_MS)
    }

    override async connect(): Promise<Socket> {
      this.connecting = true
      this.stream = await this.#open()
      this.stream.once('error', (error: Error) => void (this.firstError = error))
      return this.stream
    }

    /** Returns a socket that connects, or a closed one with the reason: the driver then retries after its pause. */
    async #open(): Promise<Socket> {
      try {
        const primary = await locate()
        if (!this.connecting) throw new Error('the connection was closed')
        return tls === null ? connect(primary) : connectTls({ ...primary, ...tls })
      } catch (error) {
        this.firstError = error as Error
        return new Socket().destroy()
      }
    }
  }
}
