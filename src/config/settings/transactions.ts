import { z } from 'zod'
import { choice, integer, list, optional, url, type Setting } from '../setting.ts'

/** Settings of transactions: how they reach the leaders, and the block engine. */
export const TRANSACTION_SETTINGS = {
  tpu: {
    schema: choice('auto', 'off'),
    fallback: 'auto',
    meaning: 'whether transactions go straight to leaders too: `auto`, `off`'
  },
  tpuIdentity: {
    schema: optional(z.string()),
    fallback: '',
    meaning: 'keypair file of a staked validator, whose connections leaders prefer'
  },
  blockEngineUrl: {
    schema: list(url('http:', 'https:')),
    fallback: '',
    secret: true,
    meaning: "URLs of the block engine's regions, nearest first; empty: that of the localnet, elsewhere none"
  },
  blockEngineAuth: {
    schema: optional(z.string().regex(/^[\x21-\x7e]+$/, 'has characters that no header has')),
    fallback: '',
    secret: true,
    meaning: 'UUID that the block engine knows the operator by, sent as `x-jito-auth`'
  },
  blockEngineRate: {
    schema: integer(1, 1_000),
    fallback: '1',
    meaning: 'requests a second that a region of the block engine allows'
  },
  tipFloorUrl: {
    schema: optional(url('http:', 'https:')),
    fallback: '',
    meaning: 'URL of the feed of landed tips; empty: that of the localnet, elsewhere none'
  }
} satisfies Record<string, Setting>
