import { integer, type Settings, type Values } from '../kernel/config/setting.ts'

/** Settings of holder lists. */
export const HOLDER_SETTINGS = {
  holderMints: {
    schema: integer(1, 100_000),
    fallback: '1000',
    meaning: 'maximum number of tokens with a holder list; the least recently requested list is evicted'
  },
  holderAccounts: {
    schema: integer(1_000, 1e9),
    fallback: '10000000',
    meaning: 'maximum number of token accounts in all holder lists together, about 500 bytes each on disk'
  }
} satisfies Settings

declare module '../kernel/config/config.ts' {
  interface Config extends Values<typeof HOLDER_SETTINGS> {}
}
