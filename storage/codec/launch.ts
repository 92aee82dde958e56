import type { LaunchRow } from '../../src/market/rows.ts'
import { launchStatusCodes } from './codes.ts'
import { KeyTable } from './key-table.ts'
import type { RecordKind } from './record.ts'
import { readRowOrigin, writeRowOrigin } from './row-origin.ts'

/** A launch with its status. */
export const launchKind: RecordKind<LaunchRow> = {
  name: 'launch',
  write(out, row) {
    const keys = new KeyTable()
    writeRowOrigin(out, row, null, keys)
    out.float(row.ingestedAtMs)
    keys.write(out, row.mint)
    keys.write(out, row.quoteMint)
    keys.write(out, row.creator)
    out.text(row.name)
    out.text(row.symbol)
    out.text(row.uri)
    out.optionalCount(row.decimals)
    out.optionalAmount(row.supply)
    keys.write(out, row.curve)
    out.byte(launchStatusCodes.codeOf(row.status))
  },
  read(source) {
    const keys = new KeyTable()
    return {
      ...readRowOrigin(source, null, keys),
      ingestedAtMs: source.float(),
      mint: keys.read(source),
      quoteMint: keys.read(source),
      creator: keys.read(source),
      name: source.text(),
      symbol: source.text(),
      uri: source.text(),
      decimals: source.optionalCount(),
      supply: source.optionalAmount(),
      curve: keys.read(source),
      status: launchStatusCodes.wordOf(source.byte())
    }
  },
  weigh: (row) => 1_200 + 2 * (row.name.length + row.symbol.length + row.uri.length)
}

/** A launch in a list of launches; null once it has left the list. */
export const listedLaunchKind: RecordKind<LaunchRow | null> = {
  name: 'listed launch',
  write(out, row) {
    out.byte(row === null ? 0 : 1)
    if (row !== null) launchKind.write(out, row)
  },
  read: (source, key) => (source.byte() === 0 ? null : launchKind.read(source, key)),
  weigh: (row) => (row === null ? 100 : launchKind.weigh(row))
}

/** An entry of a list of launches without decoding the launch, for readers that skip it. */
export const launchListingKind: RecordKind<true | null> = {
  name: 'listed launch',
  write() {
    throw new Error('a launch is listed whole')
  },
  read(source) {
    const isListed = source.byte() === 1
    source.skipRest()
    return isListed ? true : null
  },
  weigh: () => 100
}
