import type { Pubkey } from '../../src/chain/pubkey.ts'
import { sameRange } from '../../src/program-accounts/indexed-filters.ts'
import type { IndexProgress, MirrorProgress } from '../../src/program-accounts/program.ts'
import type { IndexedRange } from '../../storage/port.ts'
import type { ProgramMirrorDeps } from './mirror-deps.ts'
import { stored } from './mirror-store.ts'
import type { MirroredAccounts } from './mirrored-accounts.ts'

/** Versions of one step: about 50 ms, between which updates are stored. */
const STEP_VERSIONS = 5_000
/** Interval of storing the progress of an index that is being built, in milliseconds. */
const SAVE_MS = 2_000

/**
 * Builds and deletes the indexes of a program until they are the declared ones, step by step. Every method rejects with a
 * StoreError when the store fails.
 *
 * New versions have entries in an index from the time at which it counts as building. A scan of all versions adds the other
 * entries, and begins again after a restart. Readers stop using an index before it is deleted.
 */
export class AccountIndexes {
  readonly #program: Pubkey
  readonly #mirrored: MirroredAccounts
  readonly #deps: Pick<ProgramMirrorDeps, 'store' | 'clock' | 'logger' | 'buildFromMs' | 'indexStep'>
  readonly #name: string
  readonly #declared: () => readonly IndexedRange[]
  /** The scan of the index that is being built; null between scans. */
  #scan: { readonly range: IndexedRange; readonly after: Pubkey | null; readonly versions: number } | null =
    null
  #saveAtMs = 0

  constructor(
    name: string,
    program: Pubkey,
    declared: () => readonly IndexedRange[],
    mirrored: MirroredAccounts,
    deps: Pick<ProgramMirrorDeps, 'store' | 'clock' | 'logger' | 'buildFromMs' | 'indexStep'>
  ) {
    this.#name = name
    this.#program = program
    this.#declared = declared
    this.#mirrored = mirrored
    this.#deps = deps
  }

  /** Does one step of the remaining work. Resolves with false if no work remains. */
  async step(): Promise<boolean> {
    const { indexes, slot } = this.#mirrored.progress
    const declared = this.#declared()
    const isDeclared = (range: IndexedRange): boolean => declared.some((each) => sameRange(each, range))
    const isRefused = (each: IndexProgress): boolean => each.state !== 'removing' && !isDeclared(each)
    const added = declared.filter((range) => !indexes.some((each) => sameRange(each, range)))
    if (added.length > 0 || indexes.some(isRefused)) {
      const left = indexes.map((each) => (isRefused(each) ? { ...each, state: 'removing' as const } : each))
      const begun = added.map(({ offset, length }) => ({
        offset,
        length,
        state: 'building' as const,
        versions: 0
      }))
      await this.#save([...left, ...begun])
      return true
    }
    const removed = indexes.find(({ state }) => state === 'removing')
    if (removed !== undefined) {
      await stored(this.#deps.store.unindex(this.#program, removed))
      await this.#save(indexes.filter((each) => each !== removed))
      return true
    }
    const building = indexes.find(({ state }) => state === 'building')
    const { clock, buildFromMs = 0 } = this.#deps
    if (building === undefined || (slot !== null && clock.now() < buildFromMs)) return false
    await this.#build(building)
    return true
  }

  async #build(index: IndexProgress): Promise<void> {
    const scan =
      this.#scan !== null && sameRange(this.#scan.range, index)
        ? this.#scan
        : { range: index, after: null, versions: 0 }
    const from = { after: scan.after, examined: this.#deps.indexStep ?? STEP_VERSIONS }
    const { versions: read, next } = await stored(this.#deps.store.index(this.#program, index, from))
    const versions = scan.versions + read
    this.#scan = next === null ? null : { range: index, after: next, versions }
    const now = this.#deps.clock.now()
    if (next !== null && now < this.#saveAtMs) return
    this.#saveAtMs = now + SAVE_MS
    const state = next === null ? 'ready' : 'building'
    await this.#save(
      this.#mirrored.progress.indexes.map((each) =>
        sameRange(each, index) ? { ...each, state, versions } : each
      )
    )
    if (next === null)
      this.#deps.logger.info(
        `the index of program ${this.#name} at ${index.offset}:${index.length} is ready; ${versions} versions were read`
      )
  }

  #save(indexes: MirrorProgress['indexes']): Promise<void> {
    return this.#mirrored.put({ indexes })
  }
}
