/** A number of the workload, which a flag states. */
interface Input {
  /** Placeholder of the flag. */
  readonly value: string
  readonly meaning: string
  /** Value without the flag. */
  readonly fallback: number
  readonly min: number
  readonly max: number
}

const input = (value: string, fallback: number, max: number, meaning: string, min = 0): Input => ({
  value,
  fallback,
  max,
  meaning,
  min
})

/**
 * Mainnet's trades a day, to two digits: those of the recorded block at the live rate. A test computes it; help must load
 * nothing else.
 */
export const MAINNET_TRADES = 42_000_000
/** As `DEFAULT_MEMORY_MB` of a node's service, which a test compares. */
const MEMORY_MB = 512

/** Limits are far above what one service can do: they only tell a slip from a number. */
export const INPUTS = {
  'trades-per-day': input(
    'COUNT',
    MAINNET_TRADES,
    1e10,
    `trades of the chain; default: ${MAINNET_TRADES}, mainnet's`,
    1
  ),
  'retention-days': input('DAYS', 90, 36_500, 'days for which trades are stored', 1),
  'replay-hours': input('HOURS', 24, 24 * 36_500, 'hours that the stream can replay'),
  'memory-mb': input('MB', MEMORY_MB, 1_000_000, 'MILLRACE_MEMORY_MB', 1),
  'requests-per-second': input('COUNT', 0, 1e6, 'REST requests for pages of 100 trades'),
  streams: input('COUNT', 0, 1e6, 'connections of the stream'),
  'stream-events-per-second': input('COUNT', 10, 1e5, 'events to each connection'),
  webhooks: input('COUNT', 0, 1e6, 'active webhooks'),
  'webhook-events-per-second': input('COUNT', 1, 1e5, 'events to each webhook'),
  'transactions-per-day': input('COUNT', 0, 1e9, 'transactions sent through the service'),
  watches: input('COUNT', 0, 1e6, 'watched addresses of the revenue ledger'),
  'watch-entries-per-day': input('COUNT', 100, 1e7, 'balance changes of each watched address'),
  'holder-lists': input('COUNT', 0, 1e5, 'tokens with a holder list'),
  'holder-accounts': input('COUNT', 0, 1e9, 'token accounts in all holder lists'),
  'mirrored-accounts': input('COUNT', 0, 1e9, 'accounts of mirrored programs'),
  'rpc-per-second': input('COUNT', 0, 1e6, 'JSON-RPC reads that no cache answers')
} as const satisfies Readonly<Record<string, Input>>

export type InputName = keyof typeof INPUTS
export const INPUT_NAMES = Object.keys(INPUTS) as InputName[]

export const PLAN_SOURCES = ['rpc', 'yellowstone'] as const
export const PLAN_STORES = ['embedded', 'scylla'] as const
