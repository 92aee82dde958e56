import { command, SERVICE, type CommandGroup, type Commands, type Option } from '../kernel/cli/command.ts'

const RANGE = {
  from: { value: 'TIME', meaning: 'only rows at or after this time: unix seconds, or ISO 8601; required' },
  to: { value: 'TIME', meaning: 'only rows before this time; required' }
} as const satisfies Record<string, Option>
const TO_FILE = {
  format: {
    value: 'FORMAT',
    meaning: 'csv, ndjson or parquet; default: that of the name of the file, else csv'
  },
  output: { value: 'FILE', short: 'o', meaning: 'the file, which must not exist; required' },
  url: SERVICE.options.url
} as const satisfies Record<string, Option>
const AFTER = {
  after: { value: 'CURSOR', meaning: 'continue after the row with this cursor' }
} as const satisfies Record<string, Option>
const SETTINGS = SERVICE.settings
const DETAILS =
  'Reads from a running service, through the API: so it works beside the service, from any machine, on either store. The rows count against `export_rows_per_day` of the key. The rows are written to FILE.part, which is renamed at the end. If the service does not answer, the command continues where it was; if it gives up, FILE.part has the rows so far.'

const EXPORT: CommandGroup = {
  position: 105,
  summary: 'Writes trades, candles, ledger rows or launches of a range of times to a file.',
  verbs: {
    trades: command({
      summary: 'Writes the trades of a token, a pool, a wallet, a venue or all to a file.',
      details: `${DETAILS} \`millrace archive import\` reads the file. Takes at most one of --mint, --pool and --wallet, and then writes the oldest row first. Without one, the rows are those of all tokens, token by token: \`--after\` is then MINT:CURSOR.`,
      options: {
        ...RANGE,
        mint: { value: 'MINT', meaning: 'trades of this token' },
        pool: { value: 'POOL', meaning: 'trades of this pool' },
        wallet: { value: 'WALLET', meaning: 'trades of this wallet' },
        venue: { value: 'VENUE', meaning: 'only trades on this venue' },
        side: { value: 'SIDE', meaning: 'only trades of this side: buy or sell' },
        'min-usd': { value: 'USD', meaning: 'only trades of at least this value' },
        ...AFTER,
        ...TO_FILE
      },
      settings: SETTINGS,
      examples: [
        'millrace export trades --mint MINT --from 2026-07-01 --to 2026-08-01 -o trades.parquet --key $KEY'
      ],
      run: async (invocation) => (await import('./commands/export-list.ts')).exportTrades(invocation)
    }),
    candles: command({
      summary: 'Writes the candles of a token, a pool or all tokens to a file.',
      details: `${DETAILS} Takes at most one of --mint and --pool, and then writes the oldest candle first. Without one, the candles are those of all pairs of all tokens, token by token: \`--after\` is then MINT:CASH_MINT:TIME.`,
      options: {
        ...RANGE,
        mint: { value: 'MINT', meaning: 'candles of this token' },
        pool: { value: 'POOL', meaning: 'candles of this pool' },
        cash: { value: 'MINT', meaning: 'the cash of the pair of the token' },
        interval: { value: 'INTERVAL', meaning: 'length of a bucket, such as 1m or 1h; default: 1m' },
        currency: { value: 'CURRENCY', meaning: 'prices in the cash (native) or in usd; default: native' },
        after: { value: 'PLACE', meaning: 'continue after this candle of all tokens: MINT:CASH_MINT:TIME' },
        ...TO_FILE
      },
      settings: SETTINGS,
      examples: [
        'millrace export candles --mint MINT --interval 1h --from 2026-01-01 --to 2026-08-01 -o candles.csv --key $KEY'
      ],
      run: async (invocation) => (await import('./commands/export-list.ts')).exportCandles(invocation)
    }),
    ledger: command({
      summary: 'Writes the ledger of the watched addresses to a file, oldest first.',
      details: `${DETAILS} The key needs the scope \`revenue\`.`,
      options: {
        ...RANGE,
        wallet: { value: 'ADDRESS', meaning: 'only rows of this watched address' },
        role: { value: 'ROLE', meaning: 'only rows of the addresses with this role' },
        mint: { value: 'MINT', meaning: 'only rows of this mint' },
        kind: { value: 'KIND', meaning: 'only rows of this kind, such as swap or fee' },
        ...AFTER,
        ...TO_FILE
      },
      settings: SETTINGS,
      examples: ['millrace export ledger --from 2026-07-01 --to 2026-08-01 -o july.csv --key $KEY'],
      run: async (invocation) => (await import('./commands/export-list.ts')).exportLedger(invocation)
    }),
    launches: command({
      summary: 'Writes token launches to a file, oldest first.',
      details: DETAILS,
      options: {
        ...RANGE,
        status: { value: 'STATUS', meaning: 'only launches with this status: created, trading or graduated' },
        ...AFTER,
        ...TO_FILE
      },
      settings: SETTINGS,
      examples: ['millrace export launches --from 2026-07-01 --to 2026-08-01 -o launches.csv --key $KEY'],
      run: async (invocation) => (await import('./commands/export-list.ts')).exportLaunches(invocation)
    })
  }
}

export const DATA_COMMANDS: Commands = { export: EXPORT }
