import { z } from 'zod'
import { choice, integer, list, optional, url, type Settings, type Values } from '../kernel/config/setting.ts'

/** Settings of transactions: how they reach the leaders, and the block engine. */
export const TRANSACTION_SETTINGS = {
  tpu: {
    schema: choice('auto', 'off'),
    fallback: 'auto',
    meaning: 'whether transactions are also sent directly to leaders: `auto`, `off`'
  },
  tpuIdentity: {
    schema: optional(z.string()),
    fallback: '',
    meaning: 'keypair file of a staked validator; leaders prefer its connections'
  },
  blockEngineUrl: {
    schema: list(url('http:', 'https:')),
    fallback: '',
    secret: true,
    meaning:
      "URLs of the block engine's regions, nearest first; empty: that of the localnet, or none for other sources"
  },
  blockEngineAuth: {
    schema: optional(z.string().regex(/^[\x21-\x7e]+$/, 'has characters that no header has')),
    fallback: '',
    secret: true,
    meaning: 'UUID that identifies the operator to the block engine, sent as `x-jito-auth`'
  },
  blockEngineRate: {
    schema: integer(1, 1_000),
    fallback: '1',
    meaning: 'requests per second that a region of the block engine allows'
  },
  tipFloorUrl: {
    schema: optional(url('http:', 'https:')),
    fallback: '',
    meaning: 'URL of the feed of landed tips; empty: that of the localnet, or none for other sources'
  }
} satisfies Settings

declare module '../kernel/config/config.ts' {
  interface Config extends Values<typeof TRANSACTION_SETTINGS> {}
}
