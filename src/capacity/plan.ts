import { answerBytesMax } from '../kernel/config/memory-budget.ts'
import { ASSUMED, coefficient } from './coefficients.ts'
import { measured } from './measured.ts'
import type { Workload } from './workload.ts'

const HOUR = 3_600
const DAY = 86_400
const MIB = 2 ** 20

/** Spans that a plan is stated for, in seconds. */
export const SPANS = { hour: HOUR, day: DAY, '90 days': 90 * DAY } as const
export type Span = keyof typeof SPANS
export const SPAN_NAMES = Object.keys(SPANS) as Span[]
type BySpan = Readonly<Record<Span, number>>

/** Resources of a product. */
export interface ProductPlan {
  readonly product: string
  /** Bytes on disk after each span, from an empty store on. */
  readonly diskBytes: BySpan
  readonly memoryBytes: number
  readonly cores: number
  /** Requests to the operator's node in each span. */
  readonly nodeRequests: BySpan
}

export interface Plan {
  readonly products: readonly ProductPlan[]
  readonly total: ProductPlan
}

interface Need {
  /** Bytes on disk after seconds. */
  readonly disk?: (seconds: number) => number
  readonly memory?: number
  readonly cores?: number
  readonly requestsPerSecond?: number
}

const bySpan = (of: (seconds: number) => number): BySpan =>
  Object.fromEntries(SPAN_NAMES.map((span) => [span, of(SPANS[span])])) as Record<Span, number>

const planned = (
  product: string,
  { disk, memory = 0, cores = 0, requestsPerSecond = 0 }: Need
): ProductPlan => ({
  product,
  diskBytes: bySpan(disk ?? (() => 0)),
  memoryBytes: memory,
  cores,
  nodeRequests: bySpan((seconds) => requestsPerSecond * seconds)
})

/** Computes what a workload takes, by product. */
export function planOf(workload: Workload): Plan {
  const products = [
    planned('process', processNeed(workload)),
    planned('ingest', ingestNeed(workload)),
    planned('data', { cores: (workload['requests-per-second'] * coefficient('pageMicros')) / 1e6 }),
    planned('stream', streamNeed(workload)),
    planned('webhooks', webhookNeed(workload)),
    planned('transactions', transactionNeed(workload)),
    planned('revenue', revenueNeed(workload)),
    planned('holders', holderNeed(workload)),
    planned('program-accounts', {
      disk: () => workload['mirrored-accounts'] * coefficient('mirroredBytes')
    }),
    planned('rpc', {
      cores: (workload['rpc-per-second'] * coefficient('rpcReadMicros')) / 1e6,
      requestsPerSecond: workload['rpc-per-second'] + coefficient('idleRpcRequests')
    })
  ]
  return { products, total: totalOf(products) }
}

const tradesPerSecond = (workload: Workload): number => workload['trades-per-day'] / DAY
const transactionsPerSecond = (workload: Workload): number =>
  tradesPerSecond(workload) / coefficient('tradesPerTransaction')

/** Node, the caches, answers of nodes that arrive, and garbage. */
function processNeed({ 'memory-mb': memoryMb, storage, source }: Workload): Need {
  const caches =
    memoryMb * MIB + answerBytesMax({ memoryMb, storage, source, role: ['ingest', 'gateway', 'delivery'] })
  return { memory: coefficient('processBytes') + caches * coefficient('residentRatio') }
}

function ingestNeed(workload: Workload): Need {
  const { source, storage } = workload
  const rate = tradesPerSecond(workload)
  const isEmbedded = storage === 'embedded'
  const rowBytes = coefficient(isEmbedded ? 'rowBytes' : 'cqlRowBytes')
  const retention = workload['retention-days'] * DAY
  const sourceMs = coefficient(source === 'rpc' ? 'rpcSourceMs' : 'yellowstoneMs')
  return {
    disk: (seconds) =>
      rate * (rowBytes * Math.min(seconds, retention) + coefficient('lastingBytes') * seconds),
    cores: (rate * (coefficient('ingestMs') + sourceMs)) / 1_000,
    requestsPerSecond: coefficient(source === 'rpc' ? 'blockRequests' : 'probeRequests')
  }
}

function streamNeed(workload: Workload): Need {
  const { streams } = workload
  const logBytes = coefficient(workload.storage === 'embedded' ? 'logBytes' : 'cqlLogBytes')
  const horizon = workload['replay-hours'] * HOUR
  return {
    disk: (seconds) => tradesPerSecond(workload) * logBytes * Math.min(seconds, horizon),
    memory: streams * coefficient('connectionBytes'),
    cores: (streams * workload['stream-events-per-second'] * coefficient('deliveryMicros')) / 1e6
  }
}

function webhookNeed(workload: Workload): Need {
  const { webhooks } = workload
  const events = workload['webhook-events-per-second']
  const posts = Math.max(events / measured('postEvents'), Math.min(events, ASSUMED.gatheredPosts.value))
  return {
    disk: () => webhooks * coefficient('webhookDiskBytes'),
    memory: webhooks * coefficient('webhookBytes'),
    cores: (webhooks * posts * coefficient('postMicros')) / 1e6
  }
}

function transactionNeed(workload: Workload): Need {
  const rate = workload['transactions-per-day'] / DAY
  const tracked = rate * ASSUMED.trackedSeconds.value
  const retention = workload['retention-days'] * DAY
  return {
    disk: (seconds) => rate * coefficient('submissionBytes') * Math.min(seconds, retention),
    memory: tracked * coefficient('signatureBytes'),
    cores: (rate * coefficient('sendMicros')) / 1e6,
    requestsPerSecond:
      rate * (1 + ASSUMED.rebroadcasts.value) + Math.min(ASSUMED.statusRequests.value, tracked)
  }
}

function revenueNeed(workload: Workload): Need {
  const { watches } = workload
  const entries = (watches * workload['watch-entries-per-day']) / DAY
  const searchMs = watches === 0 ? 0 : transactionsPerSecond(workload) * coefficient('watchMs')
  return {
    disk: (seconds) =>
      entries * coefficient('entryBytes') * Math.min(seconds, ASSUMED.ledgerDays.value * DAY),
    cores: (entries * coefficient('entryMs') + searchMs) / 1_000
  }
}

/** Lists of tokens that do not trade cost nothing, so at most those of the tokens in a block count. */
function holderNeed(workload: Workload): Need {
  const lists = Math.min(workload['holder-lists'], measured('blockMints'))
  return {
    disk: () => workload['holder-accounts'] * ASSUMED.holderAccountBytes.value,
    cores: (lists * transactionsPerSecond(workload) * coefficient('holderListMs')) / 1_000
  }
}

function totalOf(products: readonly ProductPlan[]): ProductPlan {
  const sum = (of: (product: ProductPlan) => number): number =>
    products.reduce((total, product) => total + of(product), 0)
  const spanned = (of: (product: ProductPlan) => BySpan): BySpan =>
    Object.fromEntries(SPAN_NAMES.map((span) => [span, sum((product) => of(product)[span])])) as Record<
      Span,
      number
    >
  return {
    product: 'total',
    diskBytes: spanned(({ diskBytes }) => diskBytes),
    memoryBytes: sum(({ memoryBytes }) => memoryBytes),
    cores: sum(({ cores }) => cores),
    nodeRequests: spanned(({ nodeRequests }) => nodeRequests)
  }
}
