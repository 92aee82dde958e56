import { z } from 'zod'
import { VENUE_IDS } from '../../chain/venue-id.ts'
import { list, integer, url, optional, choice, mint, factor, listOrAll, type Setting } from '../setting.ts'

/** Settings of the chain: the block source, and the decoder. */
export const CHAIN_SETTINGS = {
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
    schema: z.union([z.literal('max'), factor]),
    fallback: 'max',
    meaning: '`max`, or a factor of real time'
  },
  rpcUrl: {
    schema: list(url('http:', 'https:')),
    fallback: '',
    secret: true,
    meaning: "the operator's nodes"
  },
  rpcWsUrl: {
    inert: true,
    schema: list(url('ws:', 'wss:')),
    fallback: '',
    secret: true,
    meaning: 'their pubsub'
  },
  archiveRpcUrl: {
    schema: list(url('http:', 'https:')),
    fallback: '',
    secret: true,
    meaning: 'archive nodes'
  },
  yellowstoneUrl: {
    schema: optional(url('http:', 'https:')),
    fallback: '',
    meaning: 'gRPC source'
  },
  yellowstoneToken: {
    schema: optional(z.string()),
    fallback: '',
    secret: true,
    meaning: 'its token'
  },
  venues: { schema: listOrAll(...VENUE_IDS), fallback: 'all', meaning: 'venues that are decoded' },
  indexCommitment: {
    schema: choice('confirmed', 'processed', 'finalized'),
    fallback: 'confirmed',
    meaning: 'how settled a block is before it is indexed'
  },
  usdMints: { schema: list(mint), fallback: '', meaning: 'further mints worth 1 USD each' },
  solUsd: { schema: optional(factor), fallback: '', meaning: 'SOL price used until the chain gives one' }
} satisfies Record<string, Setting>
