import type { FixtureEntry } from '../../fixtures.ts'
import type { Expectation } from './expectation.ts'
import {
  readCounts,
  readDammV2Fields,
  readLabel,
  readParsedAction,
  readPumpInstructions,
  readStreamerEvent,
  readWalletDelta,
  readWalletSale
} from './event-sources.ts'
import {
  readAction,
  readJupiter,
  readTaxRow,
  readWalletEvent,
  readWalletTransaction
} from './route-sources.ts'

/** The reader of each source's values; every value of the catalogue has one. */
const READERS: Readonly<Record<string, (value: never, position: number) => Expectation[]>> = {
  '0xjeffro/tx-parser': readAction,
  'ryoid/anchores': readJupiter,
  'jup-ag/instruction-parser': readJupiter,
  'serejke/solana-jupiter-swap-parser': readJupiter,
  'hodgerpodger/staketaxcsv': readTaxRow,
  'rotki/rotki': readWalletEvent,
  'MetaMask/snap-solana-wallet': readWalletTransaction,
  '0xfnzero/solana-streamer': readStreamerEvent,
  'RubberArchind/solana-txn-parser': readParsedAction,
  'rpcpool/yellowstone-vixen': readLabel,
  'sicotjeanvivien/yog-sothoth': readDammV2Fields,
  'kristijorgji/kxypto_bot': readWalletDelta,
  'pivox/sol-token-listener': readCounts,
  'chainstacklabs/pump-fun-bot': readPumpInstructions,
  'actionsacclol/kryptoprivate11': readWalletSale
}

export const SOURCES = Object.keys(READERS)

/** The expectations of one source about a transaction. */
export interface StatedBySource {
  readonly source: string
  readonly expectations: readonly Expectation[]
}

/** Returns all expectations of the catalogue's sources about a transaction. Throws on a source without a reader. */
export function expectationsOf({ expected }: FixtureEntry): StatedBySource[] {
  return expected.map(({ from, values }) => {
    const source = from.split(' ')[0]!
    const read = READERS[source]
    if (read === undefined) throw new Error(`no reader for ${source}`)
    return { source, expectations: values.flatMap((value, position) => read(value as never, position)) }
  })
}
