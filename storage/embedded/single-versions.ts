import { pubkeyMapKey, samePubkey, type Pubkey } from '../../src/chain/pubkey.ts'
import type { VersionKey } from '../port/program-accounts.ts'

/** Maximum known accounts with several versions: about 20 MB. Above it no account counts as single. */
const SEVERAL_MAX = 100_000

/**
 * The accounts of a program with only one stored version. An index entry of such an account names the version that is valid
 * at any later slot.
 *
 * V1. They are known after a complete scan of all versions. Before it, and beyond the limit, no account counts as one.
 * V2. A write of an account, even of a new one, takes it out of them until the next scan. This holds from before the write
 *     is durable.
 */
export class SingleVersions {
  /** Accounts that may have several versions; null while they are not known. */
  #several: Set<string> | null = null
  /** Accounts written since the scan under way began; null while no scan runs. */
  #written: Set<string> | null = null
  /** Writes that are not durable yet: a scan may not see them. */
  readonly #inFlight = new Set<readonly VersionKey[]>()

  has(address: Pubkey): boolean {
    return this.#several !== null && !this.#several.has(pubkeyMapKey(address))
  }

  /** Runs a write of versions. */
  async write(versions: readonly VersionKey[], write: () => Promise<void>): Promise<void> {
    for (const { address } of versions) {
      this.#several?.add(pubkeyMapKey(address))
      this.#written?.add(pubkeyMapKey(address))
    }
    if ((this.#several?.size ?? 0) > SEVERAL_MAX) this.#several = null
    if ((this.#written?.size ?? 0) > SEVERAL_MAX) this.#written = null
    this.#inFlight.add(versions)
    try {
      await write()
    } finally {
      this.#inFlight.delete(versions)
    }
  }

  /** Passes on a scan of all versions, ascending by address. Learns the accounts with a single version once it has ended. */
  async *learn<Group extends readonly VersionKey[]>(scan: AsyncIterable<Group>): AsyncGenerator<Group> {
    const written = new Set<string>()
    for (const versions of this.#inFlight)
      for (const { address } of versions) written.add(pubkeyMapKey(address))
    this.#written = written
    const several: string[] = []
    let last: Pubkey | null = null
    for await (const group of scan) {
      for (const { address } of group) {
        if (last !== null && samePubkey(last, address) && several.length <= SEVERAL_MAX)
          several.push(pubkeyMapKey(address))
        last = address
      }
      yield group
    }
    // Another scan, or too many writes, have taken its place.
    if (this.#written !== written) return
    this.#written = null
    const all = written.union(new Set(several))
    this.#several = all.size > SEVERAL_MAX ? null : all
  }
}
