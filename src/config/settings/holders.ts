import { integer, type Setting } from '../setting.ts'

/** Settings of holder lists. */
export const HOLDER_SETTINGS = {
  holderMints: {
    schema: integer(1, 100_000),
    fallback: '1000',
    meaning: 'tokens whose holders are kept; the one that was not asked for longest makes room'
  },
  holderAccounts: {
    schema: integer(1_000, 1e9),
    fallback: '10000000',
    meaning: 'token accounts in all holder lists together, some 500 bytes each on disk'
  }
} satisfies Record<string, Setting>
