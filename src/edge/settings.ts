import {
  integer,
  optional,
  flag,
  choice,
  listOrAll,
  text,
  type Settings,
  type Values
} from '../kernel/config/setting.ts'
import { LISTED_PRODUCTS } from '../kernel/config/listed-products.ts'

/** Settings of the process: where it listens, stores its files and logs. */
export const SERVICE_SETTINGS = {
  host: {
    schema: text,
    fallback: '127.0.0.1',
    meaning: 'address that the service listens on'
  },
  port: { schema: integer(0, 65535), fallback: '8900', meaning: 'port; 0 picks a free one' },
  dataDir: {
    schema: text,
    fallback: './data',
    meaning: 'folder of the embedded store and all other files'
  },
  role: {
    schema: listOrAll('ingest', 'gateway', 'delivery'),
    fallback: 'all',
    meaning: '`all`, or a list of `ingest`, `gateway`, `delivery`'
  },
  products: {
    schema: listOrAll(...LISTED_PRODUCTS),
    fallback: 'all',
    meaning:
      '`all`, or a list of the products that a gateway serves: `data`, `stream`, `webhooks`, `transactions`, `accounts`, `holders`, `program-accounts`, `revenue`, `rpc`. It holds no data of the others, and refuses their requests with `not_served_here` ([fleet](fleet.md#gateways-for-some-products))'
  },
  processes: {
    schema: integer(1, 64),
    fallback: '1',
    meaning:
      'processes of this machine that share the port and divide the roles; more than one need `MILLRACE_STORAGE=scylla`'
  },
  drainDelaySeconds: {
    schema: integer(0, 300),
    fallback: '0',
    meaning:
      'seconds in which a process that was asked to stop still answers, while `/ready` and `/v1/health` say `draining`: as long as a balancer takes to notice'
  },
  metricsKeyRequired: {
    schema: flag,
    fallback: 'false',
    meaning:
      'whether `/metrics` needs the admin key even on loopback, for example with a proxy on the same machine'
  },
  memoryMb: {
    schema: optional(integer(32, 1_000_000)),
    fallback: '',
    meaning: 'memory of all caches in MB; default: 64 on a localnet, 512 elsewhere'
  },
  logLevel: {
    schema: choice('fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'),
    fallback: 'info',
    meaning: 'lowest level to log'
  },
  logFormat: {
    schema: optional(choice('pretty', 'json')),
    fallback: '',
    meaning: '`pretty` on a terminal, else `json`'
  }
} satisfies Settings

declare module '../kernel/config/config.ts' {
  interface Config extends Values<typeof SERVICE_SETTINGS> {}
}
