import { z } from 'zod'
import { autoOffOrPort, integer, list, type Setting } from '../setting.ts'

/** Settings of the RPC URL. */
export const RPC_SETTINGS = {
  rpcAllow: {
    schema: list(z.string().regex(/^[A-Za-z][A-Za-z0-9_]{0,63}$/, 'is no method name')),
    fallback: '',
    meaning:
      'RPC methods to allow in addition to the table, passed to a node unchanged; `requestAirdrop` is allowed on a localnet'
  },
  rpcWsCompatPort: {
    schema: autoOffOrPort,
    fallback: 'auto',
    meaning:
      'port for WebSocket handshakes alone, for clients that add one to the port of an `http://` RPC URL: `auto` (the next port on a localnet, none elsewhere), `off`, or a port'
  },
  rpcDeadlineMs: {
    schema: integer(500, 120_000),
    fallback: '10000',
    meaning: 'milliseconds that a read through the RPC URL has, over all nodes'
  }
} satisfies Record<string, Setting>
