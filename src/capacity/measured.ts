/** A figure of a result in `loadtest/results`. A test compares each with its result. */
export interface Measured {
  readonly value: number
  /** Name of the result, without its ending. */
  readonly result: string
  /** Place in the result: names of fields, and indexes of lists. */
  readonly path: readonly (string | number)[]
}

const of = (value: number, result: string, ...path: readonly (string | number)[]): Measured => ({
  value,
  result,
  path
})

/** Measured figures that the coefficients follow from. */
export const MEASURED = {
  blockTransactions: of(444, 'ingest', 'transactions_a_block', 'not_votes'),
  blockTrades: of(58, 'ingest', 'transactions_a_block', 'trades'),
  ingestMs: of(5.093, 'ingest', 'cpu_ms_a_block'),
  rpcSourceMs: of(60.53, 'rpc-source', 'cpu_ms_a_block', 'millrace'),
  yellowstoneMs: of(30.19, 'yellowstone', 'cpu_ms_a_block', 'millrace_blocks'),
  rowBytes: of(478, 'capacity', 'trades', 'bytes_a_trade', 'retention'),
  lastingBytes: of(29.26, 'capacity', 'trades', 'bytes_a_trade', 'always'),
  logBytes: of(286.3, 'capacity', 'trades', 'bytes_a_trade', 'replay'),
  submissionBytes: of(1619, 'capacity', 'bytes_a_submission'),
  mirroredBytes: of(238.3, 'capacity', 'bytes_a_mirrored_account'),
  blockRequests: of(7.483, 'capacity', 'node_requests', 'rpc_source_a_second'),
  probeRequests: of(2.483, 'capacity', 'node_requests', 'probes_of_them_a_second'),
  idleRpcRequests: of(1.5, 'capacity', 'node_requests', 'rpc_url_a_second'),
  cqlTradesByMint: of(64, 'scylla-ingest', 'sent', 'tables', 'trades_by_mint', 'rows_a_block'),
  cqlBytesByMint: of(351.1, 'scylla-ingest', 'sent', 'tables', 'trades_by_mint', 'bytes_a_row'),
  cqlTradesByWallet: of(58, 'scylla-ingest', 'sent', 'tables', 'trades_by_wallet', 'rows_a_block'),
  cqlBytesByWallet: of(351.2, 'scylla-ingest', 'sent', 'tables', 'trades_by_wallet', 'bytes_a_row'),
  cqlLogRows: of(7, 'scylla-ingest', 'sent', 'tables', 'log', 'rows_a_block'),
  cqlLogBytes: of(2843, 'scylla-ingest', 'sent', 'tables', 'log', 'bytes_a_row'),
  cqlJournalBytes: of(73220, 'scylla-ingest', 'sent', 'tables', 'journal', 'bytes_a_row'),
  fleetIdleIngest: of(0.01225, 'fleet', 'costs', 'idle', 'ingest'),
  fleetIdleDelivery: of(0.007, 'fleet', 'costs', 'idle', 'delivery'),
  fleetIdleGateway: of(0.004375, 'fleet', 'costs', 'idle', 'gateway'),
  fleetFollowDelivery: of(9.184e-5, 'fleet', 'costs', 'followTrade', 'delivery'),
  fleetFollowGateway: of(1.135e-4, 'fleet', 'costs', 'followTrade', 'gateway'),
  fleetCqlTrade: of(0.001729, 'fleet', 'costs', 'cqlTrade'),
  fleetCqlTransaction: of(0.01343, 'fleet', 'costs', 'cqlTransaction'),
  emptyServiceMib: of(215.9, 'program-accounts', 'resident_mib', 'empty_service', 'with_mapped_files'),
  residentMib: of(1225, 'stream-hour', 'memory_mib', 'second_half', 'resident', 'last'),
  heldHeapMib: of(
    222.6,
    ...([
      'stream-hour',
      'memory_mib',
      'second_half',
      'held_after_a_collection',
      'javascript_heap',
      'last'
    ] as const)
  ),
  heldExternalMib: of(
    481.6,
    ...(['stream-hour', 'memory_mib', 'second_half', 'held_after_a_collection', 'external', 'last'] as const)
  ),
  pageMicros: of(
    655.4,
    ...(['rest', 'endpoints', 'trades 100', 'live', 'skewed', 'cpu_us_a_request', 'millrace'] as const)
  ),
  deliveryMicros: of(36.42, 'stream-fanout', 'price', 0, 'bursts', '1', 'cpu_us_a_delivery', 'millrace'),
  sharedDeliveryMicros: of(
    6.086,
    ...(['stream-fanout', 'price', 3, 'bursts', '1', 'cpu_us_a_delivery', 'millrace'] as const)
  ),
  connectionKib: of(14.78, 'stream-memory', 'kib_a_connection'),
  postMicros: of(344.8, 'webhooks', 'throughput', 'millrace', 'cpu_us_a_post'),
  postEvents: of(64, 'webhooks', 'throughput', 'events_a_post'),
  webhookKib: of(30.84, 'webhooks', 'idle', 'resident_kib_a_webhook'),
  webhookDocumentKib: of(1.178, 'webhooks', 'idle', 'kib_of_its_stored_document'),
  sendMicros: of(326.7, 'transactions', 'sends', 'rounds', 0, 'real', 'cpuMicros'),
  cqlSendMicros: of(1043, 'transactions-cql', 'rounds', 2, 'real', 'cpuMicros'),
  rebroadcastCores: of(0.2, 'transactions', 'rebroadcasts', 'processor_seconds_a_second'),
  rebroadcastSeconds: of(30, 'transactions', 'rebroadcasts', 'seconds'),
  rebroadcasts: of(147574, 'transactions', 'rebroadcasts', 'lateness_ms', 'count'),
  signatureKib: of(5.701, 'transactions', 'rebroadcasts', 'kib_a_signature'),
  ledgerBusyMs: of(13.61, 'ledger', 'ingest', 'busy', 'cpu_ms_a_block'),
  ledgerAbsentMs: of(5.39, 'ledger', 'ingest', 'absent', 'cpu_ms_a_block'),
  ledgerNoneMs: of(4.376, 'ledger', 'ingest', 'none', 'cpu_ms_a_block'),
  ledgerEntries: of(773, 'ledger', 'ingest', 'entries_a_block_of_busy'),
  ledgerBytes: of(119673, 'ledger', 'writes', 'bytes_a_block'),
  holderListsMs: of(1.308, 'holder-blocks', 'lists_rows', 'added_ms'),
  observersMs: of(0.1189, 'holder-blocks', 'changes', 'added_ms'),
  holderLists: of(20, 'holder-blocks', 'lists'),
  blockMints: of(31, 'account-ingest', 'rolled_mints'),
  rpcReadMicros: of(33.22, 'rpc', 'validator', 'requests', 'without_cache', 'cpuMicros', 0)
} as const satisfies Readonly<Record<string, Measured>>

export type MeasuredName = keyof typeof MEASURED

/** The value of a measured figure. */
export const measured = (name: MeasuredName): number => MEASURED[name].value
