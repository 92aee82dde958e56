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
/** Candidates that are read together while their size is not known, and at most. */
const FIRST_GROUP = 8
const GROUP_MAX = 512
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
 * Reads a page by an index. Each address with an entry up to the slot is a candidate. Its version at the slot may be another
 * one than the entry's, so `matches` checks the version.
 */
export async function pageByIndex(
  reads: IndexReads,
  lookups: readonly IndexLookup[],
  { slot, after, limit, examined, matches }: AccountsQuery
): Promise<AccountsPage> {
  const lookup = await narrowest(reads, lookups, after)
  const index = { offset: lookup.offset, length: lookup.length }
  const accounts: AccountsPage['accounts'][number][] = []
  let last: Pubkey | null = null
  let left = examined
  let bytes = 0
  let largest: number | null = null
  for await (const candidates of candidatesIn(reads.entries(lookup, after, limit), slot))
    for (let at = 0; at < candidates.length;) {
      if (last !== null && (accounts.length === limit || left <= 0 || bytes >= PAGE_BYTES_MAX))
        return { accounts, next: last, index, examined: examined - left }
      const fitting: number = largest === null ? FIRST_GROUP : Math.floor(PAGE_BYTES_MAX / (largest + 1))
      const size = Math.max(1, Math.min(GROUP_MAX, limit - accounts.length, fitting))
      for (const version of await reads.at(slot, candidates.slice(at, at + size))) {
        last = candidates[at++]!.address
        left -= CANDIDATE_COST
        if (version === null || version.account === null) continue
        const { length } = version.account.data
        largest = Math.max(largest ?? 0, length)
        if (matches?.(version.account.data) === false) continue
        bytes += length
        accounts.push(version as (typeof accounts)[number])
        if (bytes >= PAGE_BYTES_MAX) break
      }
    }
  return { accounts, next: null, index, examined: examined - left }
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
