import { once } from 'node:events'
import { createServer } from 'node:net'
import { HANDSHAKE_PORT_SETTING } from '../../../actors/edge/handshake-opening.ts'
import { Listening } from '../../../actors/edge/listening.ts'
import type { Config } from '../../kernel/config/config.ts'
import { handshakePortOf } from '../../kernel/config/handshake-port.ts'

/**
 * Returns why one of the set ports cannot be listened on, in one line; null if all can. Checked before anything else is
 * opened: the edge starts last, and by then a localnet has made a day of its market.
 */
export async function listeningRefusal(config: Config): Promise<string | null> {
  const { host, port } = config
  const handshakePort = handshakePortOf(config)
  return (
    (await portRefusal(new Listening(), host, port)) ??
    (typeof handshakePort === 'number' && config.role.includes('gateway')
      ? await portRefusal(new Listening(HANDSHAKE_PORT_SETTING), host, handshakePort)
      : null)
  )
}

async function portRefusal(listening: Listening, host: string, port: number): Promise<string | null> {
  const server = createServer()
  try {
    return await listening.refusal(host, port, async () => {
      server.listen(port, host)
      await once(server, 'listening')
    })
  } finally {
    server.close()
  }
}
