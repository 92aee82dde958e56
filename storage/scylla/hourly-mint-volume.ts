import type { Pubkey } from '../../src/chain/pubkey.ts'
import type { ActivityHour, HourAddress } from '../../src/market/activity-rows.ts'
import type { Amendment } from '../../src/market/amendment.ts'
import { hourlyMintVolumeKey } from '../codec/keys.ts'
import { oldestMintVolumeHour, hourlyMintVolumeKind, mintVolumeMinutes } from '../codec/hourly-mint-volume.ts'
import type { MintVolumeMinutes } from '../codec/hourly-mint-volume.ts'
import type { ActivityStore, HourlyMintVolume } from '../port.ts'
import { addressIn } from './address-records.ts'
import type { ScyllaBase } from './base.ts'
import { blob } from './client.ts'
import { versionTimestamp } from './version.ts'
import type { Commit, TableCommit } from './commit.ts'
import { RecordTable } from './records.ts'

/** A mint's trades of an hour. A partition is an hour: 50,000 mints, of which few trade in each minute, are 10 MB. */
interface Entry {
  readonly hour: number
  readonly mint: Pubkey
}

const entryOf = ({ hour, owner }: HourAddress): Entry => ({ hour, mint: owner })

/** The only list of hours. */
const CHAIN = 'solana'
const INSERT_HOUR = 'INSERT INTO turnover_hours (chain, hour) VALUES (?, ?) USING TIMESTAMP ?'
/** Maximum hours deleted with one block, the oldest first; more of them only follow a gap. */
const HOURS_PER_BLOCK_MAX = 64
const SELECT_HOURS = `SELECT hour FROM turnover_hours WHERE chain = ? AND hour < ? LIMIT ${HOURS_PER_BLOCK_MAX}`
const DELETE_HOUR = 'DELETE FROM turnover_hours USING TIMESTAMP ? WHERE chain = ? AND hour = ?'
const DELETE_ENTRIES = 'DELETE FROM turnover USING TIMESTAMP ? WHERE hour = ?'
/**
 * Seconds for which an hour stays listed and is deleted again with each new hour, because a failed deletion is not noticed.
 */
const DELETED_AGAIN_SECONDS = 24 * 3_600
/** Bytes of one of these statements' values, estimated. */
const HOUR_BYTES = 50

/** Volumes of the mints by hour, for as long as they can be ranked. Also a list of these hours, for their deletion. */
export class HourlyMintVolumes {
  readonly #base: ScyllaBase
  readonly #entries: RecordTable<Entry, MintVolumeMinutes>
  /** The hour up to which this process has searched for hours to delete; and the hours that it has put into the list. */
  #deletedUntil = 0
  #listed: ReadonlySet<number> = new Set()

  constructor(base: ScyllaBase) {
    this.#base = base
    this.#entries = new RecordTable<Entry, MintVolumeMinutes>(base, {
      table: 'turnover',
      partition: ['hour'],
      clustering: ['mint'],
      kind: hourlyMintVolumeKind,
      values: ({ hour, mint }) => [BigInt(hour), blob(mint)],
      storeKey: ({ hour, mint }) => hourlyMintVolumeKey(hour, mint),
      keyOf: (row) => ({ hour: Number(row['hour']), mint: addressIn(row, 'mint') })
    })
  }

  async ofHour(hour: number, page: Parameters<ActivityStore['mintsOfHour']>[1]): Promise<HourlyMintVolume[]> {
    const after = page.after === undefined ? {} : { gt: blob(page.after) }
    const range = { within: [BigInt(Math.ceil(hour))], ...after, order: 'asc', limit: page.limit } as const
    const entries = await this.#entries.range(range)
    return entries.map(({ key, value }) => ({ mint: key.mint, minutes: value }))
  }

  /** Rewrites the hourly volumes of the blocks' mints, and deletes hours that are too old to rank. */
  async stage(commit: Commit, activity: readonly ActivityHour[]): Promise<void> {
    const oldest = oldestMintVolumeHour(commit.blockTime)
    await Promise.all([this.#rewrite(commit, activity, oldest, []), this.#deleteBefore(commit, oldest)])
  }

  /** Rewrites the hourly volumes of an amendment's mints, and deletes those without trades. */
  async amend(commit: TableCommit, { activity, head }: Amendment): Promise<void> {
    const oldest = oldestMintVolumeHour(head?.blockTime ?? -Infinity)
    const removed = activity.remove.filter(({ of }) => of === 'mint').map(entryOf)
    await this.#rewrite(commit, activity.put, oldest, removed)
  }

  /** Writes the volumes of the mints among hours of activity, and removes those of hours without trades and of `removed`. */
  async #rewrite(
    commit: TableCommit,
    hours: readonly ActivityHour[],
    oldest: number,
    removed: readonly Entry[]
  ): Promise<void> {
    const entries = hours
      .filter(({ of, hour }) => of === 'mint' && hour >= oldest)
      .map((row) => ({ key: entryOf(row), value: mintVolumeMinutes(row) }))
    const traded = entries.filter(({ value }) => value.length > 0)
    const quiet = entries.filter(({ value }) => value.length === 0).map(({ key }) => key)
    this.#list(
      commit,
      traded.map(({ key }) => key.hour)
    )
    await this.#entries.stage(commit, traded)
    await this.#entries.remove(commit, [...quiet, ...removed])
  }

  #list(commit: TableCommit, hours: readonly number[]): void {
    const more = new Set(hours).difference(this.#listed)
    if (more.size === 0) return
    const timestamp = versionTimestamp(commit)
    commit.write(
      [...more].map((hour) => ({
        statement: INSERT_HOUR,
        params: [CHAIN, BigInt(hour), timestamp],
        bytes: HOUR_BYTES
      }))
    )
    // The two hours of blocks that come now: a time can fall by a second or two.
    commit.whenVisible(
      () => (this.#listed = new Set([...this.#listed, ...more].sort((a, b) => b - a).slice(0, 2)))
    )
  }

  async #deleteBefore(commit: Commit, oldest: number): Promise<void> {
    if (oldest <= this.#deletedUntil) return
    const [rows] = await this.#base.client.readEachThrough(SELECT_HOURS, [[CHAIN, BigInt(oldest)]])
    const timestamp = versionTimestamp(commit)
    for (const { hour } of rows!) {
      commit.afterwards({ statement: DELETE_ENTRIES, params: [timestamp, hour], bytes: HOUR_BYTES })
      if ((hour as bigint) < oldest - DELETED_AGAIN_SECONDS)
        commit.afterwards({ statement: DELETE_HOUR, params: [timestamp, CHAIN, hour], bytes: HOUR_BYTES })
    }
    if (rows!.length < HOURS_PER_BLOCK_MAX) commit.whenVisible(() => (this.#deletedUntil = oldest))
  }
}
