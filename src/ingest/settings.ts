import { z } from 'zod'
import { VENUE_IDS } from '../chain/venue-id.ts'
import {
  list,
  integer,
  url,
  optional,
  choice,
  mint,
  factor,
  listOrAll,
  maxOrFactor,
  type Settings,
  type Values
} from '../kernel/config/setting.ts'

/** Settings of the chain: the block source, and the decoder. */
export const INGEST_SETTINGS = {
  source: {
    schema: choice('localnet', 'recorded', 'rpc', 'yellowstone'),
    fallback: 'localnet',
    meaning: 'where blocks come from'
  },
  localnetSlotMs: {
    schema: integer(10, 10_000),
    fallback: '400',
    meaning: 'milliseconds from one slot of the localnet to the next'
  },
  recordedDir: { schema: optional(z.string()), fallback: '', meaning: 'a folder of recorded blocks' },
  recordedSpeed: {
    schema: maxOrFactor,
    fallback: 'max',
    meaning: '`max`, or a multiple of the original pace'
  },
  rpcUrl: {
    schema: list(url('http:', 'https:')),
    fallback: '',
    secret: true,
    meaning: "JSON-RPC URLs of the operator's nodes, preferred first"
  },
  rpcWsUrl: {
    schema: list(url('ws:', 'wss:')),
    fallback: '',
    secret: true,
    meaning: 'their WebSocket (pubsub) URLs'
  },
  archiveRpcUrl: {
    schema: list(url('http:', 'https:')),
    fallback: '',
    secret: true,
    meaning: 'archive nodes, used for blocks that the others no longer have'
  },
  yellowstoneUrl: {
    schema: optional(url('http:', 'https:')),
    fallback: '',
    meaning: 'URL of the Yellowstone gRPC server'
  },
  yellowstoneToken: {
    schema: optional(z.string()),
    fallback: '',
    secret: true,
    meaning: 'its access token'
  },
  venues: { schema: listOrAll(...VENUE_IDS), fallback: 'all', meaning: 'venues to decode' },
  indexCommitment: {
    schema: choice('confirmed', 'processed', 'finalized'),
    fallback: 'confirmed',
    meaning: 'commitment at which a block is indexed'
  },
  usdMints: { schema: list(mint), fallback: '', meaning: 'further mints that count as 1 USD' },
  solUsd: { schema: optional(factor), fallback: '', meaning: 'SOL price in USD until the chain has one' }
} satisfies Settings

declare module '../kernel/config/config.ts' {
  interface Config extends Values<typeof INGEST_SETTINGS> {}
}
