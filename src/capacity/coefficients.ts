import { measured, type MeasuredName } from './measured.ts'

/** Cost of a unit of work. */
export interface Coefficient {
  readonly value: number
  readonly unit: string
  readonly meaning: string
  /** Measured figures that it follows from. */
  readonly from: readonly MeasuredName[]
  /** How it follows from them, in words; absent if it is the figure itself. */
  readonly rule?: string
}

/** Mainnet's live rate, which the load tests compare with (`loadtest/recorded-block.ts`). */
export const MAINNET = { transactionsPerBlock: 1_500, blocksPerSecond: 2.5 } as const

const KIB = 2 ** 10
const MICROS = 1e6
const MIB = 2 ** 20

/** A number that follows from the design or from another page, not from a measurement. */
export interface Assumption {
  readonly value: number
  readonly meaning: string
  /** File or page that states it. */
  readonly source: string
}

/** Declared once, as the coefficients are. */
export const ASSUMED = {
  rebroadcasts: {
    value: 2,
    meaning: 'sends of a transaction after the first one, one each two seconds, if it lands within five',
    source: 'src/transactions/submission.ts'
  },
  trackedSeconds: {
    value: 20,
    meaning: 'seconds for which a transaction is tracked: 13 until it is final, and a few to land',
    source: 'src/docs/transactions.md'
  },
  statusRequests: {
    value: 1,
    meaning: 'status requests per second while transactions are tracked, each for up to 256 signatures',
    source: 'actors/transactions/status-poller.ts'
  },
  gatheredPosts: {
    value: 2,
    meaning: 'most batches of a webhook per second: events are gathered for up to 500 ms',
    source: 'src/docs/webhooks.md'
  },
  holderAccountBytes: {
    value: 500,
    meaning: 'bytes on disk of a token account in a holder list',
    source: 'src/docs/settings.md'
  },
  loopShare: {
    value: 0.7,
    meaning: 'most of a core that one process of a fleet uses: with more, events wait for each other',
    source: 'src/docs/operations.md'
  },
  delaySeconds: {
    value: 1,
    meaning: 'longest time, in seconds, that 99 of 100 blocks and requests take in a gateway',
    source: 'src/docs/operations.md'
  },
  sockets: {
    value: 50_000,
    meaning: 'WebSockets of a process',
    source: 'src/access/key-sockets.ts'
  },
  socketsPerKey: {
    value: 20,
    meaning: 'WebSockets of a key',
    source: 'src/access/key-sockets.ts'
  },
  fleetProcesses: {
    value: 400,
    meaning: 'processes of a fleet that hear each other',
    source: 'storage/cluster/coordination.ts'
  },
  shards: {
    value: 32,
    meaning: 'shares of the tenants, each of which one delivery process has',
    source: 'src/transactions/submission.ts'
  },
  keys: {
    value: 100_000,
    meaning: 'API keys of a service',
    source: 'src/access/key-directory.ts'
  },
  tenants: {
    value: 10_000,
    meaning: 'tenants of a service',
    source: 'src/access/tenant-directory.ts'
  },
  replicas: {
    value: 3,
    meaning: 'copies of a row, so that the loss of a node or of a zone loses nothing',
    source: 'src/docs/fleet.md'
  },
  cqlNodeBytes: {
    value: 4e12,
    meaning: 'bytes on the disk of a CQL node, half of 8 TB: a compaction may need as much again',
    source: 'src/docs/fleet.md'
  },
  cqlNodeCores: {
    value: 4,
    meaning: 'cores of a CQL node in use, half of 8: the loss of a node is work for the others',
    source: 'src/docs/fleet.md'
  },
  journalBytes: {
    value: 1.25e8,
    meaning: 'bytes a second of one partition of the journal: a gigabit link of one replica',
    source: 'src/docs/fleet.md'
  },
  ledgerDays: {
    value: 400,
    meaning: 'days for which rows of the ledger are stored',
    source: 'src/docs/revenue.md'
  }
} as const satisfies Readonly<Record<string, Assumption>>

const one = (name: MeasuredName, unit: string, meaning: string, factor = 1): Coefficient => ({
  value: measured(name) * factor,
  unit,
  meaning,
  from: [name]
})

const rebroadcastMicros =
  (measured('rebroadcastCores') * measured('rebroadcastSeconds') * 1e6) / measured('rebroadcasts')

/** Declared once: `millrace plan` and the page on capacity both follow from these. */
export const COEFFICIENTS = {
  tradesPerTransaction: {
    value: measured('blockTrades') / measured('blockTransactions'),
    unit: 'trades per transaction that is no vote',
    meaning: 'trades in the recorded block of mainnet',
    from: ['blockTrades', 'blockTransactions']
  },
  rowBytes: one('rowBytes', 'bytes per trade', 'rows that end with the retention: lists of trades, activity'),
  lastingBytes: one('lastingBytes', 'bytes per trade', 'rows that stay: candles, tokens, pools, launches'),
  logBytes: one('logBytes', 'bytes per trade', "the stream's log, for the replay horizon"),
  cqlRowBytes: {
    value:
      (measured('cqlTradesByMint') * measured('cqlBytesByMint') +
        measured('cqlTradesByWallet') * measured('cqlBytesByWallet')) /
      measured('blockTrades'),
    unit: 'bytes per trade and replica',
    meaning: 'lists of trades in a cluster, before compression',
    from: ['cqlTradesByMint', 'cqlBytesByMint', 'cqlTradesByWallet', 'cqlBytesByWallet', 'blockTrades']
  },
  cqlLogBytes: {
    value: (measured('cqlLogRows') * measured('cqlLogBytes')) / measured('blockTrades'),
    unit: 'bytes per trade and replica',
    meaning: "the stream's log in a cluster, before compression",
    from: ['cqlLogRows', 'cqlLogBytes', 'blockTrades']
  },
  ingestMs: {
    value: measured('ingestMs') / measured('blockTrades'),
    unit: 'ms of CPU time per trade',
    meaning: 'decoding, folding and the commit of all transactions around it',
    from: ['ingestMs', 'blockTrades']
  },
  rpcSourceMs: {
    value: measured('rpcSourceMs') / measured('blockTrades'),
    unit: 'ms of CPU time per trade',
    meaning: 'fetching and parsing blocks by JSON-RPC',
    from: ['rpcSourceMs', 'blockTrades']
  },
  yellowstoneMs: {
    value: measured('yellowstoneMs') / measured('blockTrades'),
    unit: 'ms of CPU time per trade',
    meaning: 'reading blocks from the gRPC stream',
    from: ['yellowstoneMs', 'blockTrades']
  },
  processBytes: one('emptyServiceMib', 'bytes', 'a process without data', MIB),
  residentRatio: {
    value: measured('residentMib') / (measured('heldHeapMib') + measured('heldExternalMib')),
    unit: 'resident bytes per byte in use',
    meaning: 'garbage that is not collected yet, and mapped tables, after an hour of load',
    from: ['residentMib', 'heldHeapMib', 'heldExternalMib']
  },
  pageMicros: one(
    'pageMicros',
    'µs of CPU time per request',
    'a page of 100 trades of a token drawn as a market trades, beside live ingest'
  ),
  deliveryMicros: one('deliveryMicros', 'µs of CPU time per event', 'an event for one client alone'),
  connectionBytes: one('connectionKib', 'bytes per connection', 'an idle connection of the stream', KIB),
  postMicros: one('postMicros', 'µs of CPU time per POST', 'a signed batch of 64 events'),
  webhookBytes: one('webhookKib', 'bytes per webhook', 'resident memory of an idle webhook', KIB),
  webhookDiskBytes: one('webhookDocumentKib', 'bytes per webhook', 'its stored document', KIB),
  sendMicros: {
    value: measured('sendMicros') + ASSUMED.rebroadcasts.value * rebroadcastMicros,
    unit: 'µs of CPU time per transaction',
    meaning: 'a transaction that lands within five seconds, with its rebroadcasts',
    from: ['sendMicros', 'rebroadcastCores', 'rebroadcastSeconds', 'rebroadcasts'],
    rule: `one send and ${ASSUMED.rebroadcasts.value} rebroadcasts`
  },
  cqlJournalBytes: {
    value: measured('cqlJournalBytes') / measured('blockTrades'),
    unit: 'bytes per trade',
    meaning: 'the journal of a cluster, which each process of a fleet reads',
    from: ['cqlJournalBytes', 'blockTrades']
  },
  idleIngestCores: one('fleetIdleIngest', 'cores', 'a process that ingests, while no block comes'),
  idleDeliveryCores: one('fleetIdleDelivery', 'cores', 'a delivery process, while no block comes'),
  idleGatewayCores: one('fleetIdleGateway', 'cores', 'a gateway, while no block comes'),
  followDeliveryMicros: one(
    'fleetFollowDelivery',
    'µs of CPU time per trade',
    'a delivery process that follows the blocks of another process',
    MICROS
  ),
  followGatewayMicros: one(
    'fleetFollowGateway',
    'µs of CPU time per trade',
    'a gateway that follows the blocks of another process',
    MICROS
  ),
  sharedEventMicros: one(
    'sharedDeliveryMicros',
    'µs of CPU time per event and client',
    'an event of a channel that many clients have'
  ),
  acceptMicros: {
    value: measured('cqlSendMicros') / 2,
    unit: 'µs of CPU time per transaction',
    meaning: 'accepting a transaction at a gateway of a cluster',
    from: ['cqlSendMicros'],
    rule: 'half of what a process with both roles takes'
  },
  trackMicros: {
    value: measured('cqlSendMicros') / 2 + ASSUMED.rebroadcasts.value * rebroadcastMicros,
    unit: 'µs of CPU time per transaction',
    meaning: 'sending and tracking it at a delivery process',
    from: ['cqlSendMicros', 'rebroadcastCores', 'rebroadcastSeconds', 'rebroadcasts'],
    rule: `the other half, and ${ASSUMED.rebroadcasts.value} rebroadcasts`
  },
  cqlTradeMicros: one(
    'fleetCqlTrade',
    'µs of CPU time per trade and replica',
    'a CQL node (Cassandra), for a trade with its share of the block',
    MICROS
  ),
  cqlTransactionMicros: one(
    'fleetCqlTransaction',
    'µs of CPU time per transaction and replica',
    'a CQL node (Cassandra), for a transaction from its intake to its end',
    MICROS
  ),
  signatureBytes: one('signatureKib', 'bytes per tracked signature', 'memory until it is final', KIB),
  submissionBytes: one('submissionBytes', 'bytes per transaction', 'its stored record, once it has ended'),
  entryMs: {
    value: (measured('ledgerBusyMs') - measured('ledgerNoneMs')) / measured('ledgerEntries'),
    unit: 'ms of CPU time per ledger entry',
    meaning: 'finding the cause of a balance change, and storing it',
    from: ['ledgerBusyMs', 'ledgerNoneMs', 'ledgerEntries']
  },
  watchMs: {
    value: (measured('ledgerAbsentMs') - measured('ledgerNoneMs')) / measured('blockTransactions'),
    unit: 'ms of CPU time per transaction of the chain',
    meaning: 'searching it for watched addresses, if there are any',
    from: ['ledgerAbsentMs', 'ledgerNoneMs', 'blockTransactions']
  },
  entryBytes: {
    value: measured('ledgerBytes') / measured('ledgerEntries'),
    unit: 'bytes per ledger entry',
    meaning: 'its documents with their sums, for 400 days',
    from: ['ledgerBytes', 'ledgerEntries']
  },
  holderListMs: {
    value:
      (measured('holderListsMs') - measured('observersMs')) /
      measured('holderLists') /
      measured('blockTransactions'),
    unit: 'ms of CPU time per list and transaction of the chain',
    meaning: 'following a holder list of one of the busiest tokens',
    from: ['holderListsMs', 'observersMs', 'holderLists', 'blockTransactions']
  },
  mirroredBytes: one(
    'mirroredBytes',
    'bytes per account',
    'a mirrored token account on disk, without indexes'
  ),
  rpcReadMicros: one('rpcReadMicros', 'µs of CPU time per read', 'a small read that no cache answers'),
  blockRequests: one(
    'blockRequests',
    'requests per second',
    'the rpc source: blocks, lists of slots and probes'
  ),
  probeRequests: one('probeRequests', 'requests per second', "probes of a node's slot, by a source"),
  idleRpcRequests: one('idleRpcRequests', 'requests per second', 'probes of a node by the RPC URL')
} as const satisfies Readonly<Record<string, Coefficient>>

export type CoefficientName = keyof typeof COEFFICIENTS

/** The value of a coefficient. */
export const coefficient = (name: CoefficientName): number => COEFFICIENTS[name].value
