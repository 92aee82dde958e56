import { command, type Command, type CommandGroup } from './command.ts'
import { KEYS, TENANTS } from '../../access/commands/administration-commands.ts'
import { ARCHIVE } from '../../archive/commands/archive.ts'
import { NODES } from '../../rpc/commands/nodes.ts'
import { PROGRAMS } from '../../program-accounts/commands/programs.ts'
import { REVENUE } from '../../revenue/commands/revenue.ts'
import { STORE } from '../../store/commands/store-settings.ts'
import { TRANSACTIONS } from '../../transactions/commands/transaction-commands.ts'
import { WEBHOOKS } from '../../webhooks/commands/webhooks.ts'

/** Every command. Each imports its code only when it runs, so that help is fast. */
export const COMMANDS: Readonly<Record<string, Command | CommandGroup>> = {
  serve: command({
    summary: 'Runs the service.',
    details:
      'Without a source it runs a localnet. SIGTERM or SIGINT drains the service; a second signal ends it at once.',
    settings: 'all',
    examples: [
      'millrace serve',
      'millrace serve --source rpc --rpc-url https://NODE --archive-rpc-url https://ARCHIVE'
    ],
    run: async (invocation) => {
      const { isMemoryTight } = await import('../config/memory-budget.ts')
      if (isMemoryTight(invocation.config)) {
        ;(await import('../memory/small-heap.ts')).keepYoungHeapSmall()
        ;(await import('../memory/late-compilation.ts')).compileLate()
        ;(await import('../memory/free-memory.ts')).shareArenas()
      }
      return (await import('../../edge/commands/serve.ts')).serve(invocation)
    }
  }),
  tail: command({
    summary: 'Prints events of the stream as they arrive, one line each.',
    details:
      'It reconnects automatically. Gaps, lost connections and the cursor to resume from are printed to standard error.',
    operands: 'CHANNEL …',
    options: {
      since: {
        value: 'CURSOR',
        meaning: 'start after the event with this cursor; default: with the next event'
      },
      json: { meaning: 'print each event as a JSON object' },
      url: { value: 'URL', meaning: 'the service; default: http://HOST:PORT of the settings' }
    },
    settings: ['key', 'host', 'port'],
    examples: ['millrace tail launches trades:So11111111111111111111111111111111111111112 --key $KEY'],
    run: async (invocation) => (await import('../../stream/commands/tail.ts')).tail(invocation)
  }),
  listen: command({
    summary: 'Receives deliveries of a webhook, verifies their signatures, and prints one event a line.',
    details:
      'It answers 204 to a delivery with a valid signature, and 400 to any other. Dropped events, repeated batches and ' +
      'refused deliveries are printed to standard error. To receive deliveries on the machine of the service, set ' +
      'MILLRACE_ALLOW_PRIVATE_WEBHOOKS there.',
    options: {
      port: { value: 'PORT', meaning: 'the port to listen on; 0 picks a free one' },
      host: { value: 'HOST', meaning: 'the address to listen on; default: 127.0.0.1' },
      secret: {
        value: 'SECRET',
        meaning: 'the secret of the webhook; MILLRACE_WEBHOOK_SECRET hides it from other users of the machine'
      },
      json: { meaning: 'print each event as a JSON object' }
    },
    settings: [],
    examples: ['millrace listen --port 9000 --secret $SECRET'],
    run: async (invocation) => (await import('../../webhooks/commands/listen.ts')).listen(invocation)
  }),
  conformance: command({
    summary: 'Compares the RPC URL with a node: every method, with good and bad parameters.',
    details:
      'Slots may differ between the two. Without a node it checks the form of the answers. With ws: URLs it sends the requests over sockets, and compares subscriptions if both URLs are sockets. Then it checks the URLs that clients derive from this one, what pages get, malformed bodies, and accounts of programs, and lists what was not checked. Exits with 1 if a client would notice a difference.',
    options: {
      against: { value: 'URL', meaning: 'RPC or socket URL of the service, with its key' },
      node: { value: 'URL', meaning: 'RPC or socket URL of a node to compare with' },
      origin: { value: 'ORIGIN', meaning: 'an origin that the key lists: check what its pages get' },
      program: {
        value: 'ADDRESS',
        multiple: true,
        meaning: 'a mirrored program whose accounts are compared with the node; may be repeated'
      },
      'deadline-ms': {
        value: 'MS',
        meaning: 'MILLRACE_RPC_DEADLINE_MS of the service: no answer may take longer'
      }
    },
    settings: [],
    examples: [
      'millrace conformance --against http://127.0.0.1:8900/v1/rpc?api-key=$KEY --node https://NODE'
    ],
    run: async (invocation) => (await import('../../rpc/commands/conformance.ts')).conformance(invocation)
  }),
  decode: command({
    summary: 'Prints the events of getTransaction and getBlock results, one JSON object a line.',
    details: 'Without a file, or for `-`, it reads standard input.',
    operands: '[FILE…|-]',
    options: { explain: { meaning: 'also print each call of a venue, and how it was decoded' } },
    settings: [],
    examples: ['millrace decode --explain block.json'],
    run: async (invocation) => (await import('../../ingest/commands/decode.ts')).decode(invocation)
  }),
  config: command({
    summary: 'Prints the effective configuration as JSON, secrets masked.',
    settings: 'all',
    examples: ['millrace config --storage scylla'],
    run: async (invocation) => (await import('./config.ts')).config(invocation)
  }),
  record: command({
    summary: 'Downloads the blocks of a range of slots into the recorded folder.',
    details: 'A repeated run downloads only missing blocks. Exits with 1 if a block is still missing.',
    operands: 'FROM..TO',
    settings: ['recordedDir', 'rpcUrl', 'archiveRpcUrl'],
    examples: ['millrace record 300000000..300000999 --rpc-url https://NODE --recorded-dir ./blocks'],
    run: async (invocation) => (await import('../../ingest/commands/record.ts')).record(invocation)
  }),
  verify: command({
    summary: 'Recomputes stored records, and prints each difference.',
    details:
      'Candles are recomputed from stored trades: of the given mints, else of all mints launched or traded in the last ' +
      'day. The blocks of FROM..TO are redecoded, from the recorded folder if it is set, else from the nodes. The ' +
      'service may run meanwhile. If it has the embedded store open, a snapshot is read: links in the data folder, which ' +
      'are removed at the end. Exits with 1 if a record differs or cannot be compared.',
    operands: '[FROM..TO] [MINT …]',
    options: {
      accounts: { meaning: 'compare the mirrored accounts of programs with the node instead' },
      store: { meaning: 'verify the checksums of the embedded store’s files instead, and print each damage' }
    },
    settings: [...STORE, 'recordedDir', 'rpcUrl', 'archiveRpcUrl', 'venues', 'usdMints', 'solUsd'],
    examples: [
      'millrace verify',
      'millrace verify 300000000..300000999 --rpc-url https://NODE',
      'millrace verify --accounts --rpc-url https://NODE',
      'millrace verify --store'
    ],
    run: async (invocation) => (await import('../../store/commands/verify.ts')).verify(invocation)
  }),
  repair: command({
    summary: 'Replaces a damaged embedded store by a new one with all readable records.',
    details:
      'Stop the service first. The old store is moved to another folder. If rows are lost, a recorded source is reread ' +
      'from its first block; with a node, the slots become gaps.',
    options: { 'from-source': { meaning: 'reread all blocks from the source, even if it is a node' } },
    settings: ['dataDir', 'storage', 'source', 'recordedDir'],
    examples: ['millrace repair --data-dir ./data'],
    run: async (invocation) => (await import('../../store/commands/repair.ts')).repair(invocation)
  }),
  storage: command({
    summary: 'Prints disk use by kind of rows, and when the disk will be full.',
    details:
      'The service may run meanwhile: if it has the embedded store open, a snapshot is measured. The retention comes from ' +
      'the settings, which must be those of the service. With --url, the figures come from the service, which needs ' +
      'MILLRACE_ADMIN_KEY. All figures are estimates.',
    options: {
      json: { meaning: 'print one JSON object instead of a table' },
      url: { value: 'URL', meaning: 'use this service instead of opening the store' }
    },
    settings: [...STORE, 'source', 'retentionDays', 'replayHorizonSeconds'],
    examples: ['millrace storage', 'millrace storage --url http://127.0.0.1:8080 --json'],
    run: async (invocation) => (await import('../../store/commands/storage.ts')).storage(invocation)
  }),
  archive: ARCHIVE,
  tenants: TENANTS,
  keys: KEYS,
  nodes: NODES,
  programs: PROGRAMS,
  revenue: REVENUE,
  tx: TRANSACTIONS,
  webhooks: WEBHOOKS
}
