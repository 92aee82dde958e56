import type { Pubkey } from '../chain/pubkey.ts'
import type { Clock } from '../ports.ts'
import { AccountDirectory } from './account-directory.ts'
import type { MintFacts, MintReading } from './mint-facts.ts'
import { mintReading, readMints } from './mint-reader.ts'
import type { SharedReadings } from '../../storage/port/readings.ts'
import type { AccountNode } from './ports.ts'
import { addressInKey, keyOfAddress } from './reading-keys.ts'
import { accountSetOf } from './source-accounts.ts'

/** TTL of a reading in milliseconds. A supply is then at most a dozen slots old. */
export const FRESH_MS = 5_000
/**
 * Age in milliseconds at which the use of a cached reading starts a refresh. 1,000 hot mints then take 2 requests a
 * second.
 */
export const REFRESH_MS = 10_000
/** Accounts of a mint: the mint, and its Metaplex metadata. */
const ACCOUNTS = 2
/** Kind of the keys of shared readings. */
const KIND = 'mint'

export interface MintDirectoryOptions {
  readonly node: AccountNode
  readonly clock: Clock
  /** Limit of the cache. */
  readonly bytesMax: number
  /** Readings of all processes; absent if this one shares its readings with no other. */
  readonly shared?: SharedReadings | null
  /** Whether readings of other processes of a mint are cached although none is; by default they are not. */
  readonly isWanted?: (mint: Pubkey) => boolean
  /** Called with the facts of each mint that was read. It must not throw. */
  readonly onFacts?: (facts: MintFacts) => void
}

/** Facts of mints, cached and read in batches. */
export class MintDirectory extends AccountDirectory<Pubkey, MintReading> {
  constructor({
    node,
    clock,
    bytesMax,
    shared = null,
    isWanted = () => false,
    onFacts
  }: MintDirectoryOptions) {
    super({
      clock,
      bytesMax,
      freshMs: FRESH_MS,
      refreshMs: REFRESH_MS,
      addressOf: (mint) => mint,
      accountsOf: () => ACCOUNTS,
      bytesOf,
      onReading: (reading) => {
        if (reading.kind === 'facts') onFacts?.(reading)
      },
      read: async (mints, signal) => {
        const { slot, mints: read } = await readMints(node, mints, signal)
        return read.map(({ reading, sources }) => ({ reading, slot, sources }))
      },
      sharing: shared && {
        shared,
        isWanted,
        keyOf: (mint) => keyOfAddress(KIND, mint),
        subjectOf: (key) => addressInKey(KIND, key),
        readingOf(mint, sources) {
          const accounts = accountSetOf(sources)
          const reading = mintReading(mint, accounts)
          return accounts.unread.length === 0 ? reading : null
        }
      }
    })
  }
}

/** Estimated bytes of a reading: its objects and keys, and two bytes for each character of its texts. */
function bytesOf(reading: MintReading): number {
  if (reading.kind === 'refused') return 100
  const { names, account } = reading
  const texts = names === null ? 0 : names.name.length + names.symbol.length + names.uri.length
  const features = account.extensions.length === 0 ? 0 : 600
  return 900 + features + 2 * texts
}
