import { ADDRESSED, addressedRecord, tableOf } from './codec/records.ts'

/**
 * How long rows of a kind stay: `always`; `retention` and `replay`: for as long as these settings say; `needed`: until
 * they are replaced, so that blocks do not add to them without end.
 */
export type Stay = 'always' | 'retention' | 'replay' | 'needed'

/** A kind of stored rows, and where each adapter has it. */
export interface RowKind {
  /** Name for the operator. */
  readonly name: string
  readonly stays: Stay
  /** The first byte of its keys in the embedded store; null if that store does not have the kind. */
  readonly letter: string | null
  /** Its tables in a cluster, to each of which a table `<name>_buckets` may belong. */
  readonly tables: readonly string[]
}

/** Rows of records by address. */
const ADDRESSED_KINDS = ADDRESSED.map((name) => {
  const { letter, title } = addressedRecord(name)
  return kind(letter, title, 'always', tableOf(name))
})

/** Mirrored accounts, which the embedded store has in an engine of their own. */
export const PROGRAM_ACCOUNTS = 'mirrored accounts of programs'
/** Holder lists, which the embedded store also has in an engine of their own. */
export const HOLDER_LISTS = 'holders of tokens'

const OTHER_KINDS = [
  kind('a', 'hourly activity', 'retention', 'activity'),
  kind('b', 'blocks', 'always', 'slots'),
  kind('c', 'candles', 'always', 'candle_pages'),
  kind('d', 'blocks kept for forks and gaps', 'needed', 'kept_blocks', 'kept_parts'),
  kind(
    'D',
    'tenants, API keys and other documents',
    'needed',
    'documents',
    'document_hot',
    'document_shares',
    'document_entries',
    'document_hot_shares',
    'histories'
  ),
  kind('E', 'entries of the revenue ledger', 'needed', 'ledger_pages', 'ledger_sums', 'ledger_marks'),
  kind('e', 'pool events', 'retention', 'events_by_pool'),
  kind('f', 'the genesis hash', 'needed'),
  kind('h', 'the hourly ranking of mints', 'needed', 'turnover', 'turnover_hours'),
  kind('i', 'the index of API keys of an earlier version', 'needed'),
  kind('j', "the stream's replayable events", 'replay', 'log'),
  kind('k', 'API keys of an earlier version', 'needed'),
  kind('L', 'what a repair has lost', 'needed'),
  kind('n', 'the list of launches', 'always', 'launch_lists'),
  kind('o', 'newest candles', 'always', 'newest_candles'),
  kind('p', 'pairs', 'always', 'pairs'),
  kind('R', 'the horizon of the retention', 'needed'),
  kind('r', 'the list of pools', 'always', 'pools_by_mint'),
  kind('s', 'the list of launches by status', 'always'),
  kind('t', 'trades by mint', 'retention', 'trades_by_mint'),
  kind('T', 'references to trades by wallet', 'always', 'references_by_wallet'),
  kind('u', 'gaps', 'needed', 'coverage', 'gap_edits'),
  kind('v', 'the format version', 'needed', 'schema_versions'),
  kind('w', 'trades by wallet', 'retention', 'trades_by_wallet'),
  kind('x', 'SOL prices', 'always', 'sol_prices'),
  kind('y', 'tenants of an earlier version', 'needed'),
  kind('z', 'totals', 'needed', 'totals'),
  kind(null, 'the journal of the newest blocks', 'needed', 'journal'),
  kind(null, 'write claims', 'needed', 'writers'),
  kind(
    null,
    'readings of accounts that gateways share',
    'needed',
    'account_readings',
    'account_reading_claims'
  ),
  kind(null, 'questions and answers about names and rankings', 'needed', 'index_questions', 'index_answers'),
  kind(null, PROGRAM_ACCOUNTS, 'needed', 'program_accounts', 'program_account_index'),
  kind(null, HOLDER_LISTS, 'needed', 'holder_rows')
]

/** Every kind of rows, in the order of letters. */
export const ROW_KINDS: readonly RowKind[] = [...OTHER_KINDS, ...ADDRESSED_KINDS].sort((a, b) =>
  placeOf(a) < placeOf(b) ? -1 : placeOf(a) > placeOf(b) ? 1 : 0
)

/** Kinds without a letter come last. */
function placeOf({ letter }: RowKind): string {
  return letter?.toLowerCase() ?? '~'
}

function kind(letter: string | null, name: string, stays: Stay, ...tables: readonly string[]): RowKind {
  return { letter, name, stays, tables }
}
