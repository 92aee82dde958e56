import { pubkeyToBase58 } from '../chain/pubkey.ts'
import type { LaunchRow } from '../market/rows.ts'
import { eventFields, rawOrNull } from './event.ts'
import { millisecondsText, secondsText } from './time.ts'

/** A launch as served: the specification's fields, the lifecycle status, and the event's own. */
export function launchBody(row: LaunchRow) {
  return {
    ...eventFields(row, 'launch', 'create'),
    ingested_at: millisecondsText(row.ingestedAtMs),
    ts: secondsText(row.blockTime),
    creator: pubkeyToBase58(row.creator),
    mint: pubkeyToBase58(row.mint),
    base_mint: pubkeyToBase58(row.mint),
    quote_mint: pubkeyToBase58(row.quoteMint),
    symbol: row.symbol,
    name: row.name,
    uri: row.uri,
    decimals: row.decimals,
    supply_raw: rawOrNull(row.supply),
    curve: pubkeyToBase58(row.curve),
    status: row.status
  }
}
