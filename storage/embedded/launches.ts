import type { Pubkey } from '../../src/chain/pubkey.ts'
import type { LaunchRow } from '../../src/market/rows.ts'
import { ServiceError } from '../../src/errors.ts'
import type { LaunchStore } from '../port.ts'
import type { Database } from './database.ts'
import { keysBeyond, keysOf, launchAtKey, launchKey, launchKeysOf, launchOfStatusKey } from '../codec/keys.ts'
import { lastLaunches, launchKind } from '../codec/launch.ts'
import type { RecordKind } from '../codec/record.ts'
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

/** Launches by mint, and two indexes from a cursor to the mint: of all launches, and of those in a status. */
export function launchStore(database: Database): LaunchStore {
  return {
    ofMint: (mint) => database.read((view) => view.get(launchKind, launchKey(mint))),
    page: (page) => database.read((view) => launchPage(view, page))
  }
}

async function launchPage(view: View, page: LaunchPage): Promise<LaunchRow[]> {
  const mints = await indexedMints(view, page)
  const launches = await view.getMany(launchKind, mints.map(launchKey))
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

/** Puts launches in place of those of their mints, and their index entries where they belong now. */
export async function stageLaunches(
  view: View,
  batch: WriteBatch,
  launches: readonly LaunchRow[]
): Promise<void> {
  const rows = lastLaunches(launches)
  const stored = await view.getMany(
    launchKind,
    rows.map((row) => launchKey(row.mint))
  )
  rows.forEach((row, i) => {
    stageUnlisting(batch, stored[i])
    batch.put(launchKind, launchKey(row.mint), row)
    stageListing(batch, row)
  })
}

/** Puts the index entries of a launch. */
export function stageListing(batch: WriteBatch, row: LaunchRow): void {
  batch.putUnkept(launchIndexKind, launchAtKey(row.cursor), row.mint)
  batch.putUnkept(launchIndexKind, launchOfStatusKey(row.status, row.cursor), row.mint)
}

/** Takes out the launches of mints. */
export async function stageLaunchRemovals(
  view: View,
  batch: WriteBatch,
  mints: readonly Pubkey[]
): Promise<void> {
  const stored = await view.getMany(launchKind, mints.map(launchKey))
  mints.forEach((mint, i) => {
    stageUnlisting(batch, stored[i])
    batch.delete(launchKey(mint))
  })
}

function stageUnlisting(batch: WriteBatch, stored: LaunchRow | null | undefined): void {
  if (stored === null || stored === undefined) return
  batch.delete(launchAtKey(stored.cursor))
  batch.delete(launchOfStatusKey(stored.status, stored.cursor))
}
