import { SUPERSEDED } from '../../actors/program-accounts/mirrored-accounts.ts'
import { KEYS_BYTES_MAX, KEYS_MAX } from '../../src/access/key-directory.ts'
import { TENANTS_MAX } from '../../src/access/tenant-directory.ts'
import { STAGED_SLOTS } from '../../src/revenue/archive-document.ts'
import { WEBHOOKS_PER_TENANT_MAX } from '../../src/webhooks/webhook.ts'
import { ADDRESSED, tableOf } from '../../storage/codec/records.ts'
import { DIVIDED_KINDS } from '../../storage/scylla/divided-kinds.ts'
import {
  ACCOUNT_BUCKETS,
  LIST_ACCOUNTS_MAX,
  PROGRAM_ACCOUNTS_MAX,
  PROGRAM_DATA_BYTES_MAX,
  SMALL_LIST_ACCOUNTS_MAX
} from '../../storage/port.ts'
import {
  eventsByPool,
  log,
  referencesByWallet,
  slots,
  tradesByMint,
  tradesByWallet
} from '../../storage/scylla/row-lists.ts'

/** The busiest partition of a table: what it holds at a stated load. */
export interface PartitionLoad {
  /** The load in words, as in src/docs/decisions/0008-scylla.md. */
  readonly load: string
  readonly rows: number
  /** Mean bytes of the columns whose types have no fixed size. A column that is left out is empty. */
  readonly bytes?: Readonly<Record<string, number>>
  /** Deleted and expired rows whose markers are still on disk. */
  readonly deleted?: number
  /** Kinds of documents that the load is of. */
  readonly kinds?: readonly string[]
}

const HOUR = 3_600
const DAY = 86_400
/** The grace of deletions where the schema states none. */
const GRACE = 10 * DAY
const BLOCKS_PER_SECOND = 2.5
/** The default retention of a service with a node. */
const RETENTION = 90 * DAY
/** Rows of the recorded mainnet block, and the bytes of one. */
const BLOCK_ROWS = 64
const TRADE = 287
const ADDRESS = 32
/** Submissions of one busy tenant a second, and the logical partitions that they spread over. */
const SUBMISSIONS = 50
const SUBMISSION_PARTS = 4
/** A key of a tenant and a signature; names of tenants have 20 characters here. */
const SIGNATURE_KEY = 22 + 90
const ENTRY = { entry: 30 + 22 + 9 + SIGNATURE_KEY, version: 16, owner: SIGNATURE_KEY }
const PROGRAM_ROWS = PROGRAM_ACCOUNTS_MAX / ACCOUNT_BUCKETS
const SHARD_TENANTS = TENANTS_MAX / 32
const SHARD_WEBHOOKS = SHARD_TENANTS * WEBHOOKS_PER_TENANT_MAX

/** A record with the version before it. */
const record = (value: number) => ({ value, before_value: value })
const submitted = (seconds: number): number => (SUBMISSIONS * seconds) / SUBMISSION_PARTS
const inShare = (kind: string, documents: number): number => documents / DIVIDED_KINDS[kind]!.shares
/** The index of the buckets of a list. */
const tenYears = (slotsPerBucket: number): PartitionLoad[] => [
  { load: 'each bucket of ten years', rows: (3_650 * DAY * BLOCKS_PER_SECOND) / slotsPerBucket }
]

export const LOADS: Readonly<Record<string, readonly PartitionLoad[]>> = {
  writers: [{ load: 'all 524,288 epochs', rows: 524_288 }],
  schema_versions: [{ load: '1,000 files', rows: 1_000, bytes: { file: 40 } }],
  slots: [{ load: 'every slot of 7.3 hours', rows: slots.slotsPerBucket, bytes: { row: 60 } }],
  slots_buckets: tenYears(slots.slotsPerBucket),
  trades_by_mint: [
    {
      load: 'every row of every block for 27 minutes on one mint',
      rows: tradesByMint.slotsPerBucket * BLOCK_ROWS,
      bytes: { row: TRADE }
    }
  ],
  trades_by_mint_buckets: tenYears(tradesByMint.slotsPerBucket),
  trades_by_wallet: [
    {
      load: 'half of all rows for 55 minutes by one wallet',
      rows: (tradesByWallet.slotsPerBucket * BLOCK_ROWS) / 2,
      bytes: { row: TRADE }
    }
  ],
  trades_by_wallet_buckets: tenYears(tradesByWallet.slotsPerBucket),
  references_by_wallet: [
    {
      load: 'half of all rows of an archive for 1.8 hours by one wallet',
      rows: (referencesByWallet.slotsPerBucket * BLOCK_ROWS) / 2,
      bytes: { row: 37 }
    }
  ],
  references_by_wallet_buckets: tenYears(referencesByWallet.slotsPerBucket),
  events_by_pool: [
    {
      load: '16 events a block for 1.8 hours in one pool',
      rows: eventsByPool.slotsPerBucket * 16,
      bytes: { row: TRADE }
    }
  ],
  events_by_pool_buckets: tenYears(eventsByPool.slotsPerBucket),
  log: [
    {
      load: '400 events a block for 7 minutes of one venue, 235 bytes each',
      rows: log.slotsPerBucket,
      bytes: { row: 400 * 235 }
    }
  ],
  log_buckets: tenYears(log.slotsPerBucket),
  journal: [{ load: '64 blocks of 1 MB', rows: 64, bytes: { block: 2 ** 20 } }],
  kept_blocks: [{ load: '64 blocks of 500 KB with their undo data', rows: 64, bytes: { block: 500_000 } }],
  kept_parts: [{ load: 'each part of 90 days', rows: (RETENTION * BLOCKS_PER_SECOND) / 64 }],
  coverage: [{ load: '100,000 gaps', rows: 100_000, bytes: { gap: 60 } }],
  gap_edits: [{ load: '100,000 changes of gaps', rows: 100_000, bytes: record(60) }],
  pairs: [{ load: 'one record', rows: 1, bytes: record(20_000) }],
  newest_candles: [{ load: 'one record', rows: 1, bytes: record(2_000) }],
  totals: [{ load: 'one record', rows: 1, bytes: record(300) }],
  ...Object.fromEntries(
    ADDRESSED.map((name) => [tableOf(name), [{ load: 'one record', rows: 1, bytes: record(20_000) }]])
  ),
  pools_by_mint: [{ load: '100,000 pools of one mint', rows: 100_000, bytes: record(150) }],
  turnover: [{ load: '50,000 mints of an hour', rows: 50_000, bytes: { mint: ADDRESS, ...record(500) } }],
  turnover_hours: [{ load: '26 hours, and those deleted in ten days', rows: 26, deleted: 240 }],
  activity: [{ load: 'the market for 1,024 hours', rows: 1_024, bytes: record(24_000) }],
  activity_buckets: tenYears(1_024 * HOUR * BLOCKS_PER_SECOND),
  candle_pages: [{ load: '4,096 full pages of one pair', rows: 4_096, bytes: record(10_000) }],
  candle_pages_buckets: [{ load: '1,000 buckets of one pair', rows: 1_000 }],
  launch_lists: [{ load: '100,000 launches a day for 7.3 hours', rows: 30_400, bytes: record(300) }],
  launch_lists_buckets: tenYears(65_536),
  sol_prices: [{ load: 'each minute of 45 days', rows: 65_536, bytes: record(16) }],
  sol_prices_buckets: tenYears(65_536 * 60 * BLOCKS_PER_SECOND),
  facts: [
    {
      load: '256 slots of the archive, 64 facts of 300 bytes each',
      rows: 256 * 64,
      bytes: { key: 80, value: 300 }
    }
  ],
  fact_buckets: tenYears(256).map((each) => ({
    ...each,
    rows: each.rows / 10,
    load: 'each bucket of one year'
  })),
  program_accounts: [
    {
      load: 'a 64th of five million accounts with 512 MiB of data, the limits of a program; 48 MiB of superseded versions, the limit; 10,000 changes a second for half an hour',
      rows: PROGRAM_ROWS,
      bytes: {
        address: ADDRESS,
        account: 17 + (PROGRAM_DATA_BYTES_MAX / ACCOUNT_BUCKETS + SUPERSEDED.bucketBytesMax) / PROGRAM_ROWS
      },
      deleted: (10_000 * HOUR) / 2 / ACCOUNT_BUCKETS
    }
  ],
  program_account_index: [
    {
      load: 'an eighth of five million accounts, the limit, all with one value, and a 512th of them with three more; 1,000 changes a second of that value for 20 minutes',
      rows: PROGRAM_ACCOUNTS_MAX / 8 + (3 * PROGRAM_ACCOUNTS_MAX) / 512,
      bytes: { value: ADDRESS, address: ADDRESS },
      deleted: (1_000 * HOUR) / 3 / 8
    }
  ],
  holder_rows: [
    {
      load: 'a small list of 500,000 accounts, the limit, all within one power of two; 7.5 accounts a block change for six hours',
      rows: SMALL_LIST_ACCOUNTS_MAX,
      bytes: { key: 40, value: 33 },
      deleted: 7.5 * BLOCKS_PER_SECOND * 6 * HOUR
    },
    {
      load: 'a 16th of ten million accounts, the limit of a list, all within one power of two; 60 accounts a block change for six hours',
      rows: LIST_ACCOUNTS_MAX / 16,
      bytes: { key: 40, value: 33 },
      deleted: (60 * BLOCKS_PER_SECOND * 6 * HOUR) / 16
    },
    {
      load: 'a 64th of these accounts, by address',
      rows: LIST_ACCOUNTS_MAX / 64,
      bytes: { key: ADDRESS, value: 41 },
      deleted: (60 * BLOCKS_PER_SECOND * 6 * HOUR) / 64
    },
    {
      load: 'a log of six minutes, 1 KB a block, and the blocks deleted in six hours',
      rows: 6 * 60 * BLOCKS_PER_SECOND,
      bytes: { key: 8, value: 1_000 },
      deleted: BLOCKS_PER_SECOND * 6 * HOUR
    }
  ],
  document_shares: [
    {
      load: '50 a second of one tenant for 90 days, and those expired in ten',
      kinds: ['submission'],
      rows: inShare('submission', submitted(RETENTION)),
      bytes: { row: 1 + SIGNATURE_KEY, version: 16, document: 2_000 },
      deleted: inShare('submission', submitted(GRACE))
    },
    {
      load: '5 a second of one tenant for 90 days, and those expired in ten',
      kinds: ['bundle'],
      rows: inShare('bundle', submitted(RETENTION) / 10),
      bytes: { row: 1 + SIGNATURE_KEY, version: 16, document: 2_500 },
      deleted: inShare('bundle', submitted(GRACE) / 10)
    },
    {
      load: 'five members of each of these bundles',
      kinds: ['bundle-member'],
      rows: inShare('bundle-member', submitted(RETENTION) / 2),
      bytes: { row: 1 + SIGNATURE_KEY, version: 16, document: 400 },
      deleted: inShare('bundle-member', submitted(GRACE) / 2)
    },
    {
      load: '100 batches a second of one tenant for 25 hours, and those expired in ten days',
      kinds: ['submission-changes'],
      rows: inShare('submission-changes', 100 * 25 * HOUR),
      bytes: { row: 10, version: 16, document: 1_500 },
      deleted: inShare('submission-changes', 100 * GRACE)
    },
    {
      load: '50 a second of one tenant for a day, and those expired in ten',
      kinds: ['idempotent-request'],
      rows: inShare('idempotent-request', SUBMISSIONS * DAY),
      bytes: { row: 1 + 30 + 66, version: 16, document: 1_500 },
      deleted: inShare('idempotent-request', SUBMISSIONS * GRACE)
    }
  ],
  document_entries: [
    {
      load: 'an hour of 50 submissions a second of one tenant, each entry written twice',
      rows: submitted(HOUR),
      bytes: ENTRY,
      deleted: submitted(HOUR)
    },
    {
      load: 'ten tenants with 2,000 tracked submissions, the limit, in one partition, and those deleted in 30 minutes',
      rows: 20_000,
      bytes: ENTRY,
      deleted: submitted(HOUR / 2)
    },
    {
      load: '65,536 batches of changes',
      rows: 65_536,
      bytes: { entry: 20, version: 16, owner: 10 },
      deleted: 65_536
    }
  ],
  histories: [
    {
      load: 'four attempts a second of one webhook for a day, 32 a page, as if none were deleted',
      kinds: ['attempts'],
      rows: (4 * DAY) / 32,
      bytes: { key: 40, value: 2_800 }
    }
  ],
  histories_buckets: [{ load: 'each day of ten years', rows: 3_650 }],
  document_entries_buckets: [{ load: 'each hour of 90 days', rows: 90 * 24 }],
  document_hot_shares: [
    {
      load: '50 a second of one tenant for 90 days, and those expired in three hours',
      kinds: ['submission', 'bundle'],
      rows: inShare('submission', submitted(RETENTION)),
      bytes: { key: SIGNATURE_KEY, born: 16, value: 600 },
      deleted: inShare('submission', submitted(3 * HOUR))
    }
  ],
  documents: [
    {
      load: 'earlier pages of attempts: none is added, and the last expires a week after the upgrade',
      kinds: ['webhook-attempts'],
      rows: 16 * SHARD_WEBHOOKS,
      bytes: { row: 80, version: 16, document: 2_800 }
    },
    {
      load: '100,000 keys of 72 MB together, the limits; the mean of each row and the row of its unique hash',
      kinds: ['api-key'],
      rows: 2 * KEYS_MAX,
      bytes: { row: 41, version: 8, document: KEYS_BYTES_MAX / (2 * KEYS_MAX), owner: 17 }
    },
    {
      load: '10,000 tenants, the limit; the mean of each row and the row of its unique name',
      kinds: ['tenant'],
      rows: 2 * TENANTS_MAX,
      bytes: { row: 30, version: 8, document: 150, owner: 17 }
    },
    {
      load: '100,000 lists, the limit',
      kinds: ['holder-mint'],
      rows: 100_000,
      bytes: { row: 50, version: 16, document: 300 }
    },
    {
      load: 'five webhooks of each tenant of a shard; the mean of each row and its three entries',
      kinds: ['webhook'],
      rows: 4 * SHARD_WEBHOOKS,
      bytes: { row: 80, version: 4, document: 1_500, owner: 30 }
    },
    {
      load: '1,000 keys of a tenant for two days, and those expired in ten',
      kinds: ['export-use'],
      rows: 2_000,
      bytes: { row: 50, version: 16, document: 250 },
      deleted: 10_000
    },
    {
      load: 'the pieces of one paging run',
      kinds: ['holdings-piece'],
      rows: 1_000,
      bytes: { row: 10, version: 16, document: 33_000 }
    },
    {
      load: '50 documents, the limit',
      kinds: ['program', 'node-cordon'],
      rows: 50,
      bytes: { row: 50, version: 16, document: 2_000 }
    },
    {
      load: 'ten transactions of three entries in every slot of a quarter of an hour, those of imported history until they are packed, and deleted',
      kinds: ['ledger-staged-piece'],
      rows: 10 * STAGED_SLOTS,
      bytes: { row: 30, version: 16, document: 2_300 },
      deleted: 10 * STAGED_SLOTS
    },
    {
      load: '1,000 processes, and 10,000 that ended within ten days',
      kinds: ['fleet-process'],
      rows: 1_000,
      bytes: { row: 50, version: 16, document: 200 },
      deleted: 10_000
    },
    {
      load: '1,000 documents of 32 KB, the limit of one',
      kinds: ['decoding', 'decoding period', 'archived ranges'],
      rows: 1_000,
      bytes: { row: 20, version: 16, document: 33_000 }
    },
    {
      load: 'one document',
      kinds: ['archive fold', 'archive standing', 'delivery-claim', 'holder-progress', 'ledger-progress'],
      rows: 1,
      bytes: { row: 20, version: 16, document: 200 }
    }
  ],
  document_hot: [
    {
      load: '100,000 lists, the limit',
      kinds: ['holder-mint'],
      rows: 100_000,
      bytes: { key: 50, born: 16, value: 400 }
    },
    {
      load: 'five webhooks of each tenant of a shard',
      kinds: ['webhook'],
      rows: SHARD_WEBHOOKS,
      bytes: { key: 40, born: 16, value: 6_000 }
    },
    {
      load: '1,000 values of 4 KB, and 10,000 deleted within ten days',
      kinds: ['program', 'fleet-process', 'delivery-claim', 'holder-progress', 'ledger-progress'],
      rows: 1_000,
      bytes: { key: 50, born: 16, value: 4_000 },
      deleted: 10_000
    }
  ],
  account_readings: [{ load: 'one reading of 64 KB, the limit', rows: 1, bytes: { reading: 65_536 } }],
  account_reading_claims: [{ load: 'one claim', rows: 1, bytes: { holder: 40 } }],
  index_questions: [
    {
      load: '1,000 questions in two seconds, 100 times those of one process',
      rows: 1_000,
      bytes: { id: 50, question: 500 }
    }
  ],
  index_answers: [{ load: 'one answer of three windows', rows: 1, bytes: { answer: 64_000 } }],
  ledger_pages: [
    {
      load: 'a wallet that changes in every slot of 55 minutes, 2.0 KB a block',
      rows: 8_192,
      bytes: { value: 2_000 }
    },
    { load: 'six times the entries of that wallet', rows: 8_192, bytes: { value: 12_000 } }
  ],
  ledger_pages_buckets: [{ load: 'each bucket of five years of imported history', rows: 48_200 }],
  ledger_sums: [
    { load: 'ten mints in each of 128 ranges', rows: 128, bytes: { value: 700 } },
    { load: '10,000 mints in each of 128 ranges', rows: 128, bytes: { value: 700_000 } }
  ],
  ledger_marks: [{ load: '1,000 writers in 400 days', rows: 1_000, bytes: { value: 100 } }]
}

/** Kinds of the revenue ledger, whose bounds are stated with its own tables. */
export const LEDGER_KINDS: readonly string[] = [
  'watched-address',
  'ended-watch',
  'ledger-piece',
  'ledger-sum',
  'ledger-archive-piece',
  'ledger-archive-sum',
  'ledger-gap',
  'ledger-backfill',
  'ledger-backfill-account'
]
