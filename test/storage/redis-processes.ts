import type { Test } from 'tap'
import { systemPorts, type Ports } from '../../src/ports.ts'
import { RedisConnection } from '../../storage/redis/connection.ts'
import type { TlsOptions } from '../../storage/tls-options.ts'

/** The log of a connection. */
export interface Said {
  readonly info: string[]
  readonly warn: string[]
}

/** Opens a connection as one process of a service does. It is closed with the test. */
export async function joinService(
  t: Test,
  server: { readonly url: string; readonly prefix?: string; readonly tls?: TlsOptions },
  ports: Ports = systemPorts
): Promise<RedisConnection & { readonly said: Said }> {
  const said: Said = { info: [], warn: [] }
  const logger = {
    info: (line: string) => said.info.push(line),
    warn: (line: string) => said.warn.push(line)
  } as unknown as Parameters<typeof RedisConnection.open>[0]['logger']
  const { url, prefix = 'millrace:', tls } = server
  const connection = await RedisConnection.open({ url, prefix, ...(tls && { tls }), logger, ...ports })
  t.teardown(() => connection.close())
  return Object.assign(connection, { said })
}
