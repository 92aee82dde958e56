import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:net'

/**
 * Range below the ports that systems use for outgoing connections (Linux from 32768, others from 49152). So a killed server
 * finds its port free when it restarts.
 */
const FROM = 10_000
const TO = 30_000
const ATTEMPTS = 100

/** Returns a port that is free on all the addresses, the first of `count` that follow each other and are. */
export async function freePort(addresses: readonly string[], count = 1): Promise<number> {
  let last: unknown
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const port = randomInt(FROM, TO)
    try {
      for (const address of addresses)
        for (let next = port; next < port + count; next++) await listenOnce(address, next)
      return port
    } catch (error) {
      last = error
    }
  }
  // Linux has all of 127.0.0.0/8; macOS has 127.0.0.2 after `ifconfig lo0 alias 127.0.0.2`.
  throw new Error(`no port is free on ${addresses.join(', ')}`, { cause: last })
}

async function listenOnce(host: string, port: number): Promise<void> {
  const server = createServer().listen({ host, port })
  await once(server, 'listening')
  server.close()
  await once(server, 'close')
}
