import type { Pubkey } from '../../src/chain/pubkey.ts'
import type { Amendment } from '../../src/market/amendment.ts'
import { lastRows } from '../../src/market/records.ts'
import type { LaunchRow } from '../../src/market/rows.ts'
import { ServiceError } from '../../src/kernel/errors.ts'
import type { LaunchStore } from '../port.ts'
import type { Database } from './database.ts'
import { keysBeyond, keysOf, launchAtKey, launchKeysOf, launchOfStatusKey } from '../codec/keys.ts'
import type { RecordKind } from '../codec/record.ts'
import { KeyedRows } from './record-table.ts'
import type { RecordTable } from './record-table.ts'
import type { View } from './view.ts'
import type { WriteBatch } from './write-batch.ts'

type LaunchPage = Parameters<LaunchStore['page']>[0]

/** The mint that an index entry leads to. */
const launchIndexKind: RecordKind<Pubkey> = {
  name: 'launch index entry',
  write: (out, mint) => out.fixed(mint, 32),
  read: (source) => source.fixed(32),
  weigh: () => 100
}

const rows = new KeyedRows('launches')

/** Launches by mint, and two indexes from a cursor to the mint: of all launches, and of those in a status. */
export function launchTable(database: Database): RecordTable<'launches'> {
  return {
    port: {
      get: (mint) => database.read((view) => rows.get(view, mint)),
      page: (page) => database.read((view) => launchPage(view, page))
    },
    stage: (view, batch, { launches }) => amendLaunches(view, batch, { put: launches, remove: [] }),
    amend: (view, batch, { launches }) => amendLaunches(view, batch, launches)
  }
}

async function launchPage(view: View, page: LaunchPage): Promise<LaunchRow[]> {
  const mints = await indexedMints(view, page)
  const launches = await rows.getMany(view, mints)
  return launches.map((launch) => {
    if (launch === null) throw new ServiceError('STORAGE_UNAVAILABLE', 'a launch in the index is missing')
    return launch
  })
}

async function indexedMints(view: View, page: LaunchPage): Promise<Pubkey[]> {
  const mints: Pubkey[] = []
  if (page.limit <= 0) return mints
  const { status } = page
  const range =
    status === undefined
      ? keysBeyond(keysOf('n'), launchAtKey, page)
      : keysBeyond(launchKeysOf(status), (cursor) => launchOfStatusKey(status, cursor), page)
  const reverse = page.order === 'desc'
  const rest = await view.without(range, page.offset ?? 0, reverse)
  if (rest === null) return mints
  for await (const [, mint] of view.scan(launchIndexKind, rest, { reverse, expected: page.limit })) {
    mints.push(mint)
    if (mints.length === page.limit) break
  }
  return mints
}

/** Replaces launches of the same mints, removes others, and updates the index entries of each. */
async function amendLaunches(
  view: View,
  batch: WriteBatch,
  { put, remove }: Amendment['launches']
): Promise<void> {
  const launches = lastRows('launches', put)
  const stored = await rows.getMany(view, [...launches.map(({ mint }) => mint), ...remove])
  for (const before of stored)
    if (before !== null)
      for (const key of [launchAtKey(before.cursor), launchOfStatusKey(before.status, before.cursor)])
        batch.delete(key)
  rows.amend(batch, { put: launches, remove })
  for (const row of launches) stageListing(batch, row)
}

/** Puts the index entries of a launch. */
export function stageListing(batch: WriteBatch, row: LaunchRow): void {
  batch.putUncached(launchIndexKind, launchAtKey(row.cursor), row.mint)
  batch.putUncached(launchIndexKind, launchOfStatusKey(row.status, row.cursor), row.mint)
}
