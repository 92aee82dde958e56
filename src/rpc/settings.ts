import { z } from 'zod'
import {
  autoOffOrPort,
  integer,
  list,
  sparseList,
  weights,
  type Settings,
  type Values
} from '../kernel/config/setting.ts'

/** Settings of the RPC URL. */
export const RPC_SETTINGS = {
  rpcNodeRps: {
    schema: sparseList(integer(1, 1_000_000)),
    fallback: '',
    meaning:
      'requests a second that each node may be sent through the RPC URL, in the order of `MILLRACE_RPC_URL`, then of `MILLRACE_ARCHIVE_RPC_URL`, such as `100,,50`; an empty place is no limit'
  },
  rpcMethodWeights: {
    schema: weights(/^[A-Za-z][A-Za-z0-9_]{0,63}$/, 1, 10_000),
    fallback: '',
    meaning:
      'requests that a method counts as in the budget of a node, such as `getBlock=5,getSignaturesForAddress=10`; any other method counts as 1'
  },
  rpcAllow: {
    schema: list(z.string().regex(/^[A-Za-z][A-Za-z0-9_]{0,63}$/, 'is not a method name')),
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
} satisfies Settings

declare module '../kernel/config/config.ts' {
  interface Config extends Values<typeof RPC_SETTINGS> {}
}
