import { samePubkey, type Pubkey } from '../src/chain/pubkey.ts'
import { PAGE_BYTES_MAX } from './port/program-accounts.ts'
import type {
  AccountsPage,
  AccountsQuery,
  AccountVersion,
  IndexLookup,
  VersionKey
} from './port/program-accounts.ts'

/** Versions of a scan that take as long as one candidate of an index, which is read at its own place. Measured: 10 to 20. */
const CANDIDATE_COST = 15
/**
 * Candidates that are read together while their size is not known, and the maximum: they are handed over in a millisecond.
 */
const FIRST_GROUP = 8
const GROUP_MAX = 256
/** Entries of a value that are counted to choose an index: a millisecond. */
const COUNTED_MAX = 1_000

/** Reads of one program's indexes and versions. */
export interface IndexReads {
  /** Yields the entries of a value, ascending by address, newest first, in groups of about `expected`. */
  entries(
    lookup: IndexLookup,
    after: Pubkey | undefined,
    expected: number
  ): AsyncIterable<readonly VersionKey[]>
  /** Reads the newest version of the address of each entry up to a slot, in their order. */
  at(slot: number, entries: readonly VersionKey[]): Promise<readonly (AccountVersion | null)[]>
}

/**
 * Yields accounts by an index, in pages of one group of candidates. Each address with an entry up to the slot is a
 * candidate. Its version at the slot may differ from the entry's, so `matches` checks the version.
 */
export async function* pagesByIndex(
  reads: IndexReads,
  lookups: readonly IndexLookup[],
  { slot, after, limit, examined: examinedMax, matches }: AccountsQuery
): AsyncGenerator<AccountsPage, void> {
  const lookup = await narrowest(reads, lookups, after)
  const index = { offset: lookup.offset, length: lookup.length }
  let accounts: AccountsPage['accounts'][number][] = []
  let next: Pubkey | null = null
  let found = 0
  let left = examinedMax
  let examined = 0
  let largest: number | null = null
  for await (const candidates of candidatesIn(reads.entries(lookup, after, Math.min(limit, GROUP_MAX)), slot))
    for (let at = 0; at < candidates.length;) {
      if (next !== null) {
        yield { accounts, next, index, examined }
        if (found >= limit || left <= 0) return
        accounts = []
        examined = 0
      }
      const fitting: number = largest === null ? FIRST_GROUP : Math.floor(PAGE_BYTES_MAX / (largest + 1))
      const size = Math.max(1, Math.min(GROUP_MAX, limit - found, fitting, Math.ceil(left / CANDIDATE_COST)))
      for (const version of await reads.at(slot, candidates.slice(at, at + size))) {
        next = candidates[at++]!.address
        left -= CANDIDATE_COST
        examined += CANDIDATE_COST
        if (version === null || version.account === null) continue
        const { data } = version.account
        largest = Math.max(largest ?? 0, data.length)
        if (matches?.(data, 0, data.length) === false) continue
        found++
        accounts.push(version as (typeof accounts)[number])
      }
    }
  yield { accounts, next: null, index, examined }
}

/** Yields the newest entry of each address up to a slot. */
async function* candidatesIn(
  groups: AsyncIterable<readonly VersionKey[]>,
  slot: number
): AsyncGenerator<readonly VersionKey[]> {
  let last: Pubkey | null = null
  for await (const entries of groups) {
    const candidates: VersionKey[] = []
    for (const entry of entries) {
      if (entry.slot > slot || (last !== null && samePubkey(last, entry.address))) continue
      last = entry.address
      candidates.push(entry)
    }
    yield candidates
  }
}

/** Returns the lookup with the fewest entries after an address; beyond COUNTED_MAX they count as equal. */
async function narrowest(
  reads: IndexReads,
  lookups: readonly IndexLookup[],
  after: Pubkey | undefined
): Promise<IndexLookup> {
  const [first, ...others] = lookups
  if (others.length === 0) return first!
  const counts = await Promise.all(
    lookups.map(async (lookup) => {
      let count = 0
      for await (const entries of reads.entries(lookup, after, COUNTED_MAX))
        if ((count += entries.length) >= COUNTED_MAX) return COUNTED_MAX
      return count
    })
  )
  return lookups[counts.indexOf(Math.min(...counts))]!
}
