import type { SettingName } from '../config/config.ts'
import { command, type Command, type CommandGroup } from './command.ts'
import { KEYS, TENANTS } from './administration-commands.ts'

/** Settings of the store's location. */
const STORE = [
  'dataDir',
  'storage',
  'scyllaContactPoints',
  'scyllaPort',
  'scyllaDatacenter',
  'scyllaKeyspace',
  'scyllaUsername',
  'scyllaPassword'
] as const satisfies readonly SettingName[]

/** Every command. Each imports its code only when it runs, so that help is fast. */
export const COMMANDS: Readonly<Record<string, Command | CommandGroup>> = {
  serve: command({
    summary: 'Runs the service.',
    details:
      'Without a source it is a localnet of its own. SIGTERM or SIGINT drains it; a second one ends it at once.',
    settings: 'all',
    examples: [
      'millrace serve',
      'millrace serve --source rpc --rpc-url https://NODE --archive-rpc-url https://ARCHIVE'
    ],
    run: async (invocation) => (await import('./serve.ts')).serve(invocation)
  }),
  tail: command({
    summary: 'Prints events of the stream as they come, a line each.',
    details:
      'It connects again by itself. Gaps, lost connections and the cursor to go on from are told on standard error.',
    operands: 'CHANNEL …',
    options: {
      since: {
        value: 'CURSOR',
        meaning: 'begin after the event of this cursor; default: with what comes next'
      },
      json: { meaning: 'print each event as a JSON object' },
      url: { value: 'URL', meaning: 'the service; default: http://HOST:PORT of the settings' }
    },
    settings: ['key', 'host', 'port'],
    examples: ['millrace tail launches trades:So11111111111111111111111111111111111111112 --key $KEY'],
    run: async (invocation) => (await import('./tail.ts')).tail(invocation)
  }),
  decode: command({
    summary: 'Prints the events of getTransaction and getBlock results, a JSON object a line.',
    details: 'Without a file, or for `-`, it reads standard input.',
    operands: '[FILE…|-]',
    options: { explain: { meaning: 'print each call of a venue, too, and how it was read' } },
    settings: [],
    examples: ['millrace decode --explain block.json'],
    run: async (invocation) => (await import('./decode.ts')).decode(invocation)
  }),
  config: command({
    summary: 'Prints the effective configuration as JSON, secrets masked.',
    settings: 'all',
    examples: ['millrace config --storage scylla'],
    run: async (invocation) => (await import('./config.ts')).config(invocation)
  }),
  record: command({
    summary: 'Downloads the blocks of a range of slots into the recorded folder.',
    details: 'Run again, it fetches what is not there yet. Ends with 1 where a block is missing in the end.',
    operands: 'FROM..TO',
    settings: ['recordedDir', 'rpcUrl', 'archiveRpcUrl'],
    examples: ['millrace record 300000000..300000999 --rpc-url https://NODE --recorded-dir ./blocks'],
    run: async (invocation) => (await import('./record.ts')).record(invocation)
  }),
  verify: command({
    summary: 'Compares what is stored with what it follows from, and prints each difference.',
    details:
      'Candles are folded again from stored trades: of the mints that are named, else of all that were launched or traded ' +
      'within the last day. The blocks of FROM..TO are decoded again, from the recorded folder where one is named, else ' +
      'from the nodes. It works beside a running service: of an embedded store that is open it reads a snapshot, made of ' +
      'links in the data folder and removed at the end. Ends with 1 where something differs or cannot be compared.',
    operands: '[FROM..TO] [MINT …]',
    options: {
      store: { meaning: 'verify the checksums of the embedded store’s files instead, and print each damage' }
    },
    settings: [...STORE, 'recordedDir', 'rpcUrl', 'archiveRpcUrl', 'venues', 'usdMints', 'solUsd'],
    examples: [
      'millrace verify',
      'millrace verify 300000000..300000999 --rpc-url https://NODE',
      'millrace verify --store'
    ],
    run: async (invocation) => (await import('./verify.ts')).verify(invocation)
  }),
  repair: command({
    summary: 'Replaces a damaged embedded store by one of what can be read of it.',
    details:
      'The service must be stopped. The old store is kept aside. Where rows are lost, a recorded source is read again from ' +
      'its first block; of a node, the slots become gaps.',
    options: { 'from-source': { meaning: 'read all blocks again from the source, a node’s as well' } },
    settings: ['dataDir', 'storage', 'source', 'recordedDir'],
    examples: ['millrace repair --data-dir ./data'],
    run: async (invocation) => (await import('./repair.ts')).repair(invocation)
  }),
  storage: command({
    summary: 'Prints what takes how many bytes in the store, and until when the disk lasts.',
    details:
      'It works beside a running service: of an embedded store that is open it measures a snapshot. How long rows are kept ' +
      'follows from the settings, which have to be those of the service; with --url the service itself is asked, with ' +
      'MILLRACE_ADMIN_KEY. All figures are estimates.',
    options: {
      json: { meaning: 'print one JSON object instead of a table' },
      url: { value: 'URL', meaning: 'ask this service instead of opening the store' }
    },
    settings: [...STORE, 'source', 'retentionDays', 'replayHorizonSeconds'],
    examples: ['millrace storage', 'millrace storage --url http://127.0.0.1:8080 --json'],
    run: async (invocation) => (await import('./storage.ts')).storage(invocation)
  }),
  tenants: TENANTS,
  keys: KEYS
}
